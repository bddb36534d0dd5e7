/** Schema drift: fields of records that no declaration knows, found by comparing records with the declared shape. */

import type { Table } from '../fields/table.ts'
import { openDocuments, type ShapeNode, shapeOf } from './json-shape.ts'

/** A path with [] for list elements, and the JSON type of its first value. */
export interface Undeclared {
  readonly path: string
  readonly type: string
}

interface Search {
  readonly documents: ReadonlySet<string>
  readonly found: Map<string, string>
}

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`)

interface Visited {
  readonly node: ShapeNode
  readonly at: string
}

/** Stops at an unknown field: fields below it are not reported again. */
function search(value: unknown, place: Visited, into: Search): void {
  const { node, at } = place
  // A document is kept whole, whatever its keys.
  if (into.documents.has(at)) return
  if (Array.isArray(value)) {
    if (node.kind === 'list')
      for (const element of value) search(element, { node: node.element, at: `${at}[]` }, into)
    return
  }
  if (value === null || typeof value !== 'object' || node.kind !== 'object') return
  for (const key of Object.keys(value)) {
    const known = node.fields.get(key)
    if (known?.kind === 'leaf') continue
    const next = (value as Readonly<Record<string, unknown>>)[key]
    const path = below(at, key)
    if (known) search(next, { node: known, at: path }, into)
    else if (!into.documents.has(path) && !into.documents.has(at) && next !== null)
      into.found.set(path, jsonType(next))
  }
}

/** Every undeclared path of these records; what a JSON column keeps whole is declared. */
export function undeclaredPaths(table: Table, records: readonly unknown[]): Undeclared[] {
  const shape = shapeOf(table)
  const documents = new Set(openDocuments(table).map(({ path }) => path))
  const found = new Map<string, string>()
  for (const record of records) search(record, { node: shape, at: '' }, { documents, found })
  return [...found].map(([path, type]) => ({ path, type }))
}
