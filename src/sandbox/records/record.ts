/** A stored record: plain JSON, with fields read by dot path. */

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
