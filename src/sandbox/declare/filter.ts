/** Filters of lists, declared by the field they compare: each carries its parameter kind and its test. */
import * as z from 'zod'
import { pathReader, type StoredRecord, valuesAt } from '../records/record.ts'
import { idParameter, idsParameter } from './parameters.ts'

export interface Filter {
  readonly parameter: z.ZodType
  /** The description of the parameter, given its name. */
  readonly meaning: (name: string) => string
  readonly test: (value: unknown) => (record: StoredRecord) => boolean
}

export function byId(path: string): Filter {
  const read = pathReader(path)
  return {
    parameter: idParameter,
    meaning: name => `Id of the ${name}.`,
    test: id => record => valuesAt(record, read).includes(id),
  }
}

/** One id or several, comma-separated: a match on any. */
export function byIds(path: string): Filter {
  const read = pathReader(path)
  return {
    parameter: idsParameter,
    meaning: name => `Id of the ${name}, or several, comma-separated.`,
    test: value => {
      const ids = new Set(value as readonly string[])
      return record => valuesAt(record, read).some(id => ids.has(id as string))
    },
  }
}

export function byValue(path: string, values: readonly [string, ...string[]], meaning?: string): Filter {
  const read = pathReader(path)
  return {
    parameter: z.enum(values),
    meaning: name => meaning ?? `Only records with this ${name}.`,
    test: value => record => read(record) === value,
  }
}

export const activeParameter = z.enum(['active', 'inactive'])

/** `status=active|inactive` over a boolean field; a record counts as active unless explicitly inactive. */
export function byActive(): Filter {
  return {
    parameter: activeParameter,
    meaning: () => 'Only active records, or only inactive ones.',
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
