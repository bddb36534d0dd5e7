/** Builds the DuckDB types that records are read as: the declared shape, with text or doubles at its leaves. */

import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import type { ColumnType, FieldPath } from '../../contract/fields/column.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { PageReader } from './pages.ts'

type ReaderKind = PageReader['kind']

/** Doubles take half the time of text. Integers stay text: a double holds only 53 of their 64 bits. */
const decimals: ReadonlySet<ColumnType> = new Set(['number', 'money', 'quantity', 'coordinate'])

/** A struct with a key that no record has: it shows that an object is present without copying it. */
const nothing = 'STRUCT("%" BOOLEAN)'

/** The parent stage carries elements with at most this many leaves. */
const fewLeaves = 8

function leafCount(node: ShapeNode): number {
  if (node.kind === 'leaf') return 1
  if (node.kind === 'list') return leafCount(node.element)
  return [...node.fields.values()].reduce((sum, next) => sum + leafCount(next), 0)
}

/**
 * Lists with few leaves are carried in the parent stage. More leaves would take memory there on each thread, even if
 * all lists are empty; reading the pages again costs less.
 */
export const isShort = (node: ShapeNode): boolean => leafCount(node) <= fewLeaves

/** A list that is not carried is only counted, or kept as JSON if its structure is unknown. */
function listType(node: ShapeNode & { kind: 'list' }, kind: ReaderKind): string {
  if (kind === 'json') return 'JSON'
  if (isShort(node)) return `${structType(node.element, kind)}[]`
  return `${nothing}[]`
}

function leafType(type: ColumnType): string {
  if (type === 'json') return 'JSON'
  return decimals.has(type) ? 'DOUBLE' : 'VARCHAR'
}

export function structType(node: ShapeNode, kind: ReaderKind): string {
  if (node.kind === 'leaf') return leafType(node.type)
  if (node.kind === 'list') return listType(node, kind)
  const fields = [...node.fields].map(([key, next]) => `${quoteName(key)} ${structType(next, kind)}`)
  // DuckDB has no STRUCT without fields: an object without declared fields stays text.
  return fields.length === 0 ? 'VARCHAR' : `STRUCT(${fields.join(', ')})`
}

/** The type with `inner` at this path and nothing else. */
export function typeAt(path: FieldPath, inner: string): string {
  return path.reduceRight((type, key) => `STRUCT(${quoteName(key)} ${type})`, inner)
}
