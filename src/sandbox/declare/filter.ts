/** Filters of lists, declared by the field they compare: each carries its parameter kind and its test. */
import type { z } from 'zod'
import { pathReader, type StoredRecord, valuesAt } from '../records/record.ts'
import { idParameter, idsParameter, oneOfParameter } from './parameters.ts'

export interface Filter {
  readonly parameter: z.ZodType
  readonly test: (value: unknown) => (record: StoredRecord) => boolean
}

export function byId(path: string): Filter {
  const read = pathReader(path)
  return {
    parameter: idParameter,
    test: id => record => valuesAt(record, read).includes(id),
  }
}

/** One id or several, comma-separated: a match on any. */
export function byIds(path: string): Filter {
  const read = pathReader(path)
  return {
    parameter: idsParameter,
    test: value => {
      const ids = new Set(value as readonly string[])
      return record => valuesAt(record, read).some(id => ids.has(id as string))
    },
  }
}

export function byValue(path: string, values: readonly [string, ...string[]]): Filter {
  const read = pathReader(path)
  return { parameter: oneOfParameter(values), test: value => record => read(record) === value }
}

/** `status=active|inactive` over a boolean field; a record counts as active unless explicitly inactive. */
export function byActive(): Filter {
  return {
    parameter: oneOfParameter(['active', 'inactive']),
    test: value => record => (record.active !== false) === (value === 'active'),
  }
}

/** Case-insensitive "contains" over several fields. */
export function matchesText(paths: readonly string[], text: string): (record: StoredRecord) => boolean {
  const wanted = text.toLowerCase()
  const readers = paths.map(pathReader)
  return record =>
    readers.some(read =>
      valuesAt(record, read).some(value => typeof value === 'string' && value.toLowerCase().includes(wanted)),
    )
}
