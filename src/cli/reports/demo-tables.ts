/** The tables at the end of the demo. */
import { collections } from '../../contract/catalogue.ts'
import { scansOf } from '../../state/scans/proof.ts'
import type { RunOutcome } from '../../sync/run/run.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Cell, Column } from '../terminal/output.ts'

type Printable = [readonly Column[], readonly (readonly Cell[])[]]

/** Amounts are exact decimals in text; a table for people shows them rounded. */
const rounded = (amount: string): number => Math.round(Number(amount))

export function changesTable({ resources }: RunOutcome): Printable {
  const moved = resources.filter(
    ({ rows_inserted, rows_changed, rows_removed }) => rows_inserted + rows_changed + rows_removed > 0,
  )
  return [
    ['resource', 'requests', 'checked', 'added', 'changed', 'removed'],
    moved.map(one => [
      one.resource,
      one.requests,
      one.records_read,
      one.rows_inserted,
      one.rows_changed,
      one.rows_removed,
    ]),
  ]
}

/** Backfill windows of each list: pages read, ids seen, and the total that the service counted. */
export async function proofTable(engine: Engine): Promise<Printable> {
  const rows: [string, number, number, number, number][] = []
  for (const { name } of collections) {
    const windows = (await scansOf(engine, name)).filter(
      ({ kind, state }) => kind === 'backfill' && state === 'accepted',
    )
    if (windows.length === 0) continue
    const sum = (column: 'pages' | 'distinct_ids' | 'expected_ids'): number =>
      windows.reduce((total, window) => total + Number(window[column]), 0)
    rows.push([name, windows.length, sum('pages'), sum('distinct_ids'), sum('expected_ids')])
  }
  rows.sort((one, other) => other[4] - one[4])
  return [['resource', 'windows', 'pages', 'ids seen', 'service counted'], rows]
}

/** Over the last eight weeks with approved timesheets. */
export async function labourTable(engine: Engine): Promise<Printable> {
  const rows = await engine.rows<{
    agency: string
    sheets: number
    hours: string
    cost: string
    per_hour: number
    margin: string
  }>(
    `select a.name as agency, cast(sum(l.timesheets) as bigint) as sheets, cast(sum(l.net_hours) as text) as hours,
       cast(sum(l.cost_value) as text) as cost, cast(sum(l.cost_value) as double) / nullif(cast(sum(l.net_hours) as double), 0) as per_hour,
       cast(sum(l.margin_value) as text) as margin
     from mart.labour_spend_weekly l join star.dim_agency a using (agency_id)
     where l.week_ending_date > (select max(week_ending_date) from mart.labour_spend_weekly) - 56
     group by a.name order by sum(l.cost_value) desc limit 8`,
  )
  return [
    ['agency', 'timesheets', 'hours', 'cost', 'an hour', 'margin'],
    rows.map(({ agency, sheets, hours, cost, per_hour, margin }) => [
      agency,
      sheets,
      rounded(hours),
      rounded(cost),
      Math.round(per_hour * 100) / 100,
      rounded(margin),
    ]),
  ]
}

/** The average hours of each worker in the worker's last week, for those who worked in the last four weeks. */
export async function workingTimeTable(engine: Engine): Promise<Printable> {
  const rows = await engine.rows<{ risk: string; workers: number; most: number; over: number }>(
    `select wtr_risk as risk, count(*) as workers, max(avg_17_week_hours) as most, count(*) filter (where is_over_threshold) as over
     from (
       select *, row_number() over (partition by worker_id order by week_ending_date desc) as from_last
       from mart.worker_week where week_ending_date > (select max(week_ending_date) from mart.worker_week) - 28
     ) as week
     where from_last = 1 group by wtr_risk order by max(avg_17_week_hours)`,
  )
  return [
    ['average over 17 weeks', 'workers', 'highest average', 'over 48 h last week'],
    rows.map(({ risk, workers, most, over }) => [risk, workers, Math.round(most * 10) / 10, over]),
  ]
}

export async function accrualTable(engine: Engine): Promise<Printable> {
  const rows = await engine.rows<{ state: string; records: number; oldest: number; accrued: string }>(
    `select accrual_state as state, count(*) as records, max(age_days) as oldest, cast(sum(accrued_value) as text) as accrued
     from mart.unbilled_accrual group by accrual_state order by accrual_state`,
  )
  return [
    ['state', 'records', 'oldest, days', 'to be invoiced'],
    rows.map(({ state, records, oldest, accrued }) => [state, records, oldest, rounded(accrued)]),
  ]
}
