/** The DuckDB types that records are read as: the declared shape, with text or doubles at its leaves. */

import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import type { ColumnType, Path } from '../../contract/fields/column.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { Reader } from './pages.ts'

type Typing = Pick<Reader, 'kind' | 'numbers'>

const decimals: ReadonlySet<ColumnType> = new Set(['number', 'money', 'quantity', 'coordinate'])

/** Numbers that the reader gives as `numbers`; whole ones stay text beside doubles, which hold 53 bits of their 64. */
export const isReadAsNumber = (type: ColumnType, { numbers }: Pick<Reader, 'numbers'>): boolean =>
  decimals.has(type) || (type === 'integer' && numbers === 'VARCHAR')

/** A key that no record has: reading such a struct tells that an object is there, and copies nothing of it. */
const nothing = 'STRUCT("%" BOOLEAN)'

/** Leaves of a list's element that are carried in the stage of its parent at most. */
const fewLeaves = 8

function leafCount(node: ShapeNode): number {
  if (node.kind === 'leaf') return 1
  if (node.kind === 'list') return leafCount(node.element)
  return [...node.fields.values()].reduce((sum, next) => sum + leafCount(next), 0)
}

/**
 * Short lists are carried in the stage of their parent. Of others every leaf would be a column there, with a segment
 * of memory a thread even where all lists are empty; reading the pages once more costs less.
 */
export const isShort = (node: ShapeNode): boolean => leafCount(node) <= fewLeaves

/** A list that is not carried is counted only, or kept as JSON where its structure is not proved. */
function listType(node: ShapeNode & { kind: 'list' }, reader: Typing): string {
  if (reader.kind === 'json') return 'JSON'
  if (node.element.kind === 'leaf' || isShort(node)) return `${structType(node.element, reader)}[]`
  return `${nothing}[]`
}

function leafType(type: ColumnType, reader: Typing): string {
  if (type === 'json') return 'JSON'
  return isReadAsNumber(type, reader) ? reader.numbers : 'VARCHAR'
}

/** Text leaves never round and never turn into NULL by themselves; each is cast and checked afterwards. */
export function structType(node: ShapeNode, reader: Typing): string {
  if (node.kind === 'leaf') return leafType(node.type, reader)
  if (node.kind === 'list') return listType(node, reader)
  const fields = [...node.fields].map(([key, next]) => `${quoteName(key)} ${structType(next, reader)}`)
  // A STRUCT without fields does not exist; an object nobody declared parts of stays text.
  return fields.length === 0 ? 'VARCHAR' : `STRUCT(${fields.join(', ')})`
}

/** The type that has `inner` at this path and nothing else. */
export function typeAt(path: Path, inner: string): string {
  return path.reduceRight((type, key) => `STRUCT(${quoteName(key)} ${type})`, inner)
}
