/** Statements about forgotten persons. */

import { Busy } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { lockWithin } from '../../warehouse/postgres/merge-lock.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { ForgottenRow } from './tables.ts'

export interface Forgotten {
  readonly persons: readonly ForgottenRow[]
  /** Hash of a value -> persons that it belonged to. */
  readonly values: ReadonlyMap<string, readonly string[]>
}

export async function readForgotten(engine: Engine): Promise<Forgotten> {
  if (!(await existingTables(engine)).has('forgotten')) return { persons: [], values: new Map() }
  const persons = await ledger(engine).selectFrom('ops.forgotten').selectAll().execute()
  const rows = await ledger(engine).selectFrom('ops.forgotten_value').selectAll().execute()
  const values = new Map<string, string[]>()
  for (const { person, value_hash } of rows)
    values.set(value_hash, [...(values.get(value_hash) ?? []), person])
  return { persons, values }
}

/**
 * First in a transaction that reads personal data and puts it somewhere: until it ends nobody is erased, so that whoever
 * erases afterwards finds what it has put there. A lock takes no snapshot, as a query before it would. A file has its own lock.
 */
export async function holdOffErasing(engine: Engine): Promise<void> {
  if (engine.isShared) await engine.run('lock table ops.forgotten in access share mode')
}

/** In the transaction that erases: waits for those who hold it off. Throws Busy. */
export async function waitToErase(engine: Engine): Promise<void> {
  if (!engine.isShared) return
  try {
    await lockWithin(engine, 30, 'lock table ops.forgotten in access exclusive mode')
  } catch (error) {
    if (!(error instanceof Busy)) throw error
    throw new Busy({
      what: 'somebody is reading personal data, as muster export --include-pii does: nothing was erased in the warehouse yet',
      where: engine.location,
      next: 'run the same command again when that has ended',
      cause: error,
    })
  }
}

/** Replaces what is known of the person; values of an earlier, unfinished attempt are kept. Runs inside a transaction. */
export async function recordForgotten(
  engine: Engine,
  row: ForgottenRow,
  values: readonly string[],
): Promise<void> {
  const sql = ledger(engine)
  await sql.deleteFrom('ops.forgotten').where('person', '=', row.person).execute()
  await sql.insertInto('ops.forgotten').values(row).execute()
  const known = await sql
    .selectFrom('ops.forgotten_value')
    .select('value_hash')
    .where('person', '=', row.person)
    .execute()
  const held = new Set(known.map(({ value_hash }) => value_hash))
  const fresh = values.filter(value => !held.has(value))
  if (fresh.length === 0) return
  await sql
    .insertInto('ops.forgotten_value')
    .values(fresh.map(value_hash => ({ person: row.person, value_hash })))
    .execute()
}
