/** The DuckDB types that records are read as: the declared shape, with text or doubles at its leaves. */

import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import type { ColumnType, Path } from '../../contract/fields/column.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { Reader } from './pages.ts'

type Typing = Pick<Reader, 'kind' | 'numbers'>

const decimals: ReadonlySet<ColumnType> = new Set(['number', 'money', 'quantity', 'coordinate'])

/** Whether the reader gives the type as a number. Integers stay text where numbers are doubles, which hold 53 of their 64 bits. */
export const isReadAsNumber = (type: ColumnType, { numbers }: Pick<Reader, 'numbers'>): boolean =>
  decimals.has(type) || (type === 'integer' && numbers === 'VARCHAR')

/** A struct with a key that no record has: it shows that an object is present without copying it. */
const nothing = 'STRUCT("%" BOOLEAN)'

/** The most leaves that an element may have to be carried in the stage of its parent. */
const fewLeaves = 8

function leafCount(node: ShapeNode): number {
  if (node.kind === 'leaf') return 1
  if (node.kind === 'list') return leafCount(node.element)
  return [...node.fields.values()].reduce((sum, next) => sum + leafCount(next), 0)
}

/**
 * Lists with few leaves are carried in the stage of their parent. The leaves of others would take memory there on each
 * thread, even where all lists are empty; to read the pages once more costs less.
 */
export const isShort = (node: ShapeNode): boolean => leafCount(node) <= fewLeaves

/** A list that is not carried is only counted, or kept as JSON where its structure is unknown. */
function listType(node: ShapeNode & { kind: 'list' }, reader: Typing): string {
  if (reader.kind === 'json') return 'JSON'
  if (node.element.kind === 'leaf' || isShort(node)) return `${structType(node.element, reader)}[]`
  return `${nothing}[]`
}

function leafType(type: ColumnType, reader: Typing): string {
  if (type === 'json') return 'JSON'
  return isReadAsNumber(type, reader) ? reader.numbers : 'VARCHAR'
}

/** Text leaves neither round nor become NULL; each is cast and checked afterwards. */
export function structType(node: ShapeNode, reader: Typing): string {
  if (node.kind === 'leaf') return leafType(node.type, reader)
  if (node.kind === 'list') return listType(node, reader)
  const fields = [...node.fields].map(([key, next]) => `${quoteName(key)} ${structType(next, reader)}`)
  // There is no STRUCT without fields: an object without declared fields stays text.
  return fields.length === 0 ? 'VARCHAR' : `STRUCT(${fields.join(', ')})`
}

/** The type that has `inner` at this path and nothing else. */
export function typeAt(path: Path, inner: string): string {
  return path.reduceRight((type, key) => `STRUCT(${quoteName(key)} ${type})`, inner)
}
