/** Keeps the states of alerts: the current one of each, and when it fired before. */
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { AlertRow } from './tables.ts'

/** What an evaluation found about an alert, and about one group of its rows. */
export type AlertFinding = Omit<AlertRow, 'began_at' | 'ended_at' | 'checked_at'>

/** An alert that fires for a new period fires again. */
const isSame = (row: AlertRow, found: AlertFinding): boolean =>
  row.state === found.state && (found.state !== 'fires' || row.period === found.period)

const isOf = (row: AlertRow, { alert, group_key }: AlertFinding): boolean =>
  row.alert === alert && row.group_key === group_key

/** Ends the states that no finding continues. `at` is ISO 8601. */
export async function recordAlerts(
  engine: Engine,
  findings: readonly AlertFinding[],
  at: string,
): Promise<void> {
  await engine.transaction(async engine => {
    const open = await openAlerts(engine)
    for (const row of open) {
      const found = findings.find(one => isOf(row, one))
      const change = found && isSame(row, found) ? { ...found, checked_at: at } : { ended_at: at }
      await ledger(engine)
        .updateTable('ops.alert')
        .set(change)
        .where('alert', '=', row.alert)
        .where('group_key', '=', row.group_key)
        .where('ended_at', 'is', null)
        .execute()
    }
    for (const found of findings) {
      if (open.some(row => isOf(row, found) && isSame(row, found))) continue
      const times = { began_at: at, ended_at: null, checked_at: at }
      await ledger(engine)
        .insertInto('ops.alert')
        .values({ ...found, ...times })
        .execute()
    }
  })
}

/** The current state of each alert and group. */
export async function openAlerts(engine: Engine): Promise<AlertRow[]> {
  if (!(await existingTables(engine)).has('alert')) return []
  return ledger(engine)
    .selectFrom('ops.alert')
    .selectAll()
    .where('ended_at', 'is', null)
    .orderBy('alert')
    .orderBy('group_key')
    .execute()
}

/** When alerts fired, the latest first. */
export async function firedAlerts(engine: Engine, limit: number): Promise<AlertRow[]> {
  if (!(await existingTables(engine)).has('alert')) return []
  return ledger(engine)
    .selectFrom('ops.alert')
    .selectAll()
    .where('state', '=', 'fires')
    .orderBy('began_at', 'desc')
    .orderBy('alert')
    .orderBy('group_key')
    .limit(limit)
    .execute()
}

const rounded = (value: number): string =>
  new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 }).format(value)

/** `14 > 10 in the period to 2026-11-15`, in words. */
export function alertText({
  alert,
  group_key,
  measure,
  condition,
  period,
  value,
  low,
  high,
}: AlertFinding): string {
  const range = low === null || high === null ? '' : `, ${rounded(low)} to ${rounded(high)}`
  const group = group_key === '' ? '' : ` ${group_key}`
  const at = period === null ? '' : ` at ${period}`
  return `${alert}: ${measure} is ${value === null ? 'empty' : rounded(value)}${group}${at} (${condition}${range})`
}

export async function firingAlerts(engine: Engine) {
  const open = await openAlerts(engine)
  return open
    .filter(({ state }) => state === 'fires')
    .map(row => ({
      subject: row.group_key === '' ? row.alert : `${row.alert} ${row.group_key}`,
      state: row.began_at,
      message: `alert ${alertText(row)}`,
      query: row.query,
    }))
}
