/** What a scan reads off the records of a page: how many there are, their times, and how many are known. */
import type { Answer, Known } from './pass-state.ts'
import { spanOf } from './times.ts'

export interface Reading {
  /** Name of the field with the change time; undefined where records have none. */
  readonly updatedAt: string | undefined
  readonly known: Known | undefined
  /** By our clock, milliseconds since the epoch. */
  readonly now: number
}

type Facts = Pick<Answer, 'rows' | 'oldest' | 'newest' | 'inOrder' | 'old' | 'first'>

const isOlder = (record: unknown, field: string, before: number): boolean =>
  Date.parse(String((record as Record<string, unknown> | null)?.[field])) < before

function firstId(records: readonly unknown[]): string | undefined {
  const { id } = (records[0] ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' ? id : undefined
}

export function factsOf(records: readonly unknown[], { updatedAt, known, now }: Reading): Facts {
  const first = firstId(records)
  return {
    rows: records.length,
    ...(first !== undefined && { first }),
    ...(updatedAt !== undefined && spanOf(records, updatedAt, now)),
    ...(updatedAt !== undefined &&
      known !== undefined && { old: records.filter(one => isOlder(one, updatedAt, known.before)).length }),
  }
}
