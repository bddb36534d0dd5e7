/** The DuckDB type that a record is cast to: the declared shape with text at every leaf. */
import type { ShapeNode } from '../../resources/json-shape.ts'
import { quoteName } from '../sql-text.ts'

/**
 * Text leaves never round and never turn into NULL by themselves; each is cast and checked afterwards. A list stays
 * JSON until its own stage reads it: in the struct, every leaf below it would be a column of the record's stage, with
 * a segment of memory a thread even where all lists are empty.
 */
export function structType(node: ShapeNode): string {
  if (node.kind === 'leaf') return node.type === 'json' ? 'JSON' : 'VARCHAR'
  if (node.kind === 'list') return 'JSON'
  const fields = [...node.fields].map(([key, next]) => `${quoteName(key)} ${structType(next)}`)
  // A STRUCT without fields does not exist; an object nobody declared parts of stays text.
  return fields.length === 0 ? 'VARCHAR' : `STRUCT(${fields.join(', ')})`
}

/** The type that has JSON at this path and nothing else. */
export function jsonAt(path: readonly string[]): string {
  return path.reduceRight((inner, key) => `STRUCT(${quoteName(key)} ${inner})`, 'JSON')
}
