/** Stores which persons were forgotten, finds ledger texts that hold complete records, and deletes expired rows. */

import { Busy } from '../lib/errors.ts'
import type { Engine } from '../warehouse/engine.ts'
import { lockWithin } from '../warehouse/postgres/merge-lock.ts'
import { existingTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'
import type { ForgottenRow } from './privacy-tables.ts'

export interface ForgottenValues {
  readonly persons: readonly ForgottenRow[]
  /** Hash of a value -> persons who had the value. */
  readonly values: ReadonlyMap<string, readonly string[]>
}

export async function readForgotten(engine: Engine): Promise<ForgottenValues> {
  if (!(await existingTables(engine)).has('forgotten')) return { persons: [], values: new Map() }
  const persons = await ledger(engine).selectFrom('ops.forgotten').selectAll().execute()
  const rows = await ledger(engine).selectFrom('ops.forgotten_value').selectAll().execute()
  const values = new Map<string, string[]>()
  for (const { person, value_hash } of rows)
    values.set(value_hash, [...(values.get(value_hash) ?? []), person])
  return { persons, values }
}

/**
 * Must run first in a transaction that copies personal data elsewhere. No person is erased until the transaction ends, so a
 * later erasure finds the copy. A lock takes no snapshot, whereas a query before it would. A DuckDB file has its own lock.
 */
export async function blockErasures(engine: Engine): Promise<void> {
  if (engine.isShared) await engine.run('lock table ops.forgotten in access share mode')
}

/** Runs in the transaction that erases; waits for transactions that block erasures. Throws Busy. */
export async function waitToErase(engine: Engine): Promise<void> {
  if (!engine.isShared) return
  try {
    await lockWithin(engine, 30, 'lock table ops.forgotten in access exclusive mode')
  } catch (error) {
    if (!(error instanceof Busy)) throw error
    throw new Busy({
      what: 'another process is reading personal data, as muster export --include-pii does: nothing was erased from the warehouse yet',
      where: engine.location,
      next: 'run the same command again when that process has ended',
      cause: error,
    })
  }
}

/** Replaces the row of the person; keeps values from an earlier, unfinished attempt. Runs inside a transaction. */
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
  const knownHashes = new Set(known.map(({ value_hash }) => value_hash))
  const fresh = values.filter(value => !knownHashes.has(value))
  if (fresh.length === 0) return
  await sql
    .insertInto('ops.forgotten_value')
    .values(fresh.map(value_hash => ({ person: row.person, value_hash })))
    .execute()
}

interface QuarantinedText {
  readonly quarantine_id: string
  readonly resource: string
  /** Path in the record; empty for the record itself. */
  readonly path: string
  readonly text: string | null
  readonly payload: string
}

/** Their payload is a complete record. */
export const quarantinedTexts = (engine: Engine): Promise<QuarantinedText[]> =>
  ledger(engine)
    .selectFrom('ops.quarantine')
    .select(['quarantine_id', 'resource', 'path', 'text', 'payload'])
    .orderBy('quarantine_id')
    .execute()

/** Deletes quarantine rows resolved before this time. Runs inside a transaction. */
export async function removeResolvedQuarantine(engine: Engine, before: string): Promise<number> {
  const old = ledger(engine).selectFrom('ops.quarantine').where('resolved_at', '<', before)
  const count = (await old.select('quarantine_id').execute()).length
  if (count > 0) await ledger(engine).deleteFrom('ops.quarantine').where('resolved_at', '<', before).execute()
  return count
}
