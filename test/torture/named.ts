/** Who and what commands name: taken from the rows that a warehouse has. */
import type { World } from '../../src/sandbox/world.ts'
import type { Dump } from '../support/warehouse-dump.ts'

const collections = [
  'timesheets',
  'expenses',
  'assignments',
  'requisitions',
  'invoices',
  'creditNotes',
] as const

/** All that may tell of a worker. */
export const recordsOf = (world: World): string[] =>
  collections.flatMap(name => world.all(name).map(record => JSON.stringify(record)))

export const ids = (rows: readonly string[], column: string): string[] =>
  rows.map(row => String((JSON.parse(row) as Record<string, unknown>)[column]))

/** The records that are another afterwards, as one text. */
export function changedOf(before: readonly string[], after: readonly string[]): string {
  const known = new Set(before)
  return after.filter(record => !known.has(record)).join('\n')
}

/** Whom no changed record names: what a sync reads of the person makes no difference then. */
export function unchangedWorker(dump: Dump, changed: string): string {
  const found = ids(dump['pii.worker'] ?? [], 'worker_id').find(id => !changed.includes(id))
  if (found === undefined) throw new Error('every worker has changed')
  return found
}
