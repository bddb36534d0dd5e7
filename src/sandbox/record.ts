/** Reads and selects the fields of stored records (plain JSON) by dot path, and derives their short ids. */
import { createHash } from 'node:crypto'

export type StoredRecord = { [field: string]: unknown }

/** Reads one path; an array on the way is read element by element, so `projects.id` gives a list. */
export type PathReader = (record: unknown) => unknown

export function pathReader(path: string): PathReader {
  const steps = path.split('.')
  return record => readFrom(record, steps, 0)
}

function readFrom(value: unknown, steps: readonly string[], depth: number): unknown {
  if (depth === steps.length) return value
  if (Array.isArray(value)) return value.flatMap(item => [readFrom(item, steps, depth)].flat())
  if (typeof value !== 'object' || value === null) return undefined
  return readFrom((value as StoredRecord)[steps[depth] as string], steps, depth + 1)
}

/** A path's values as a list: none, one, or those of an array. */
export function valuesAt(record: unknown, read: PathReader): readonly unknown[] {
  const value = read(record)
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

/**
 * Field selection: `id,worker.name,projects.id` keeps those paths and nothing else. Names a record does not have select
 * nothing: the contract names no error for them.
 */
export function selectFields(record: StoredRecord, paths: readonly string[]): StoredRecord {
  const steps = paths.map(path => path.split('.'))
  return pick(record, steps) as StoredRecord
}

/** A path that ends here selects the complete value. */
function pick(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value)) return value.map(item => pick(item, paths))
  if (typeof value !== 'object' || value === null || paths.some(path => path.length === 0)) return value
  const picked: StoredRecord = {}
  for (const name of Object.keys(value)) {
    const below = paths.filter(path => path[0] === name).map(path => path.slice(1))
    if (below.length > 0) picked[name] = pick((value as StoredRecord)[name], below)
  }
  return picked
}

/** A copy without some fields, which it does not read: a timesheet builds its timelogs only when they are read. */
export function withoutFields(record: StoredRecord, names: readonly string[]): StoredRecord {
  if (names.length === 0) return record
  const copy: StoredRecord = {}
  for (const name of Object.keys(record)) if (!names.includes(name)) copy[name] = record[name]
  return copy
}

export const shortIdForm = /^[A-Za-z0-9_-]{10}$/

/**
 * The short internal id (nanoid): never shown by the lists, accepted by single-record reads. Derived from the id, so
 * that it needs no storage and is the same in every run.
 */
export function shortId(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 10)
}
