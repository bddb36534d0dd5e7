/** The tables that the demo ends with. */
import type { RunOutcome } from '../sync/run.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { Cell, Column } from './output.ts'

type Printable = [readonly Column[], readonly (readonly Cell[])[]]

const titled = (...titles: string[]): Column[] => titles.map(title => ({ title }))

/** Amounts come as exact decimals in text; a table for people shows them rounded. */
const rounded = (amount: string): number => Math.round(Number(amount))

export function changesTable({ resources }: RunOutcome): Printable {
  const moved = resources.filter(
    ({ rows_inserted, rows_changed, rows_removed }) => rows_inserted + rows_changed + rows_removed > 0,
  )
  return [
    titled('resource', 'requests', 'checked', 'added', 'changed', 'removed'),
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

/** Backfill windows per resource: pages walked, ids seen, and the total the service claimed. */
export async function proofTable(engine: Engine): Promise<Printable> {
  const rows = await engine.rows<{
    resource: string
    windows: number
    pages: number
    ids: number
    total: number
  }>(
    `select resource, count(*) as windows, cast(sum(pages) as bigint) as pages, cast(sum(distinct_ids) as bigint) as ids,
       cast(sum(greatest_total) as bigint) as total
     from ops.window where kind = 'backfill' and state = 'accepted' group by resource order by 5 desc`,
  )
  return [
    titled('resource', 'windows', 'pages', 'ids seen', 'service counted'),
    rows.map(({ resource, windows, pages, ids, total }) => [resource, windows, pages, ids, total]),
  ]
}

export async function labourTable(engine: Engine): Promise<Printable> {
  const rows = await engine.rows<{
    agency: string
    workers: number
    sheets: number
    hours: string
    charge: string
    margin: string
  }>(
    `select a.name as agency, count(distinct t.worker_id) as workers, count(*) as sheets,
       cast(sum(t.net_hours) as text) as hours, cast(sum(t.charge_total) as text) as charge, cast(sum(t.margin) as text) as margin
     from star.fact_timesheet t join star.dim_agency a using (agency_id)
     where t.status = 'approved'
       and t.week_ending_date > (select max(week_ending_date) from star.fact_timesheet where status = 'approved') - 56
     group by a.name order by sum(t.charge_total) desc limit 8`,
  )
  return [
    titled('agency', 'workers', 'timesheets', 'hours', 'charge', 'margin'),
    rows.map(row => [
      row.agency,
      row.workers,
      row.sheets,
      rounded(row.hours),
      rounded(row.charge),
      rounded(row.margin),
    ]),
  ]
}
