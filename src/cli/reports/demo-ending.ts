/** Prints the end of the demo: changes that the second sync found, the proof, figures of the marts, and next steps. */

import { join } from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { collections } from '../../contract/catalogue.ts'
import type { BuildResult } from '../../marts/build.ts'
import { scansOf } from '../../state/scans/proof.ts'
import type { RunResult } from '../../sync/run/run.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { CommandContext } from '../context.ts'
import { formatSeconds, printLine, printTable, type ShownCell, type ShownColumn } from '../terminal/output.ts'

const packageName = '@muster-data/cli'

/** How the program was started, for lines to copy: `muster`, through npx, or from its source folder. */
function invocation(env: Environment): string {
  if (env.npm_command === 'exec') return `npx ${packageName}`
  return env.npm_package_name === packageName ? 'npm run -s muster --' : 'muster'
}

type PrintableTable = [readonly ShownColumn[], readonly (readonly ShownCell[])[]]

/** Amounts are exact decimals in text; tables show them rounded. */
const rounded = (amount: string): number => Math.round(Number(amount))

function changesTable({ resources }: RunResult): PrintableTable {
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
async function proofTable(engine: Engine): Promise<PrintableTable> {
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
async function labourTable(engine: Engine): Promise<PrintableTable> {
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
     where l.is_settled_week
       and l.week_ending_date > (select max(week_ending_date) from mart.labour_spend_weekly where is_settled_week) - 56
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

/** The average hours of each worker, and the hours of the last settled week, which is the same for all. */
async function workingTimeTable(engine: Engine): Promise<PrintableTable> {
  const rows = await engine.rows<{ risk: string; workers: number; most: number; over: number }>(
    `select wtr_risk as risk, count(*) as workers, max(avg_17_week_hours) as most, count(*) filter (where is_over_threshold) as over
     from mart.worker_week
     where week_ending_date = (select max(week_ending_date) from mart.worker_week where is_settled_week)
     group by wtr_risk order by max(avg_17_week_hours)`,
  )
  return [
    ['average over 17 weeks', 'workers', 'highest average', 'over 48 h in the week'],
    rows.map(({ risk, workers, most, over }) => [risk, workers, Math.round(most * 10) / 10, over]),
  ]
}

async function accrualTable(engine: Engine): Promise<PrintableTable> {
  const rows = await engine.rows<{ state: string; records: number; oldest: number; accrued: string }>(
    `select accrual_state as state, count(*) as records, max(age_days) as oldest, cast(sum(accrued_value) as text) as accrued
     from mart.unbilled_accrual group by accrual_state order by accrual_state`,
  )
  return [
    ['state', 'records', 'oldest, days', 'to be invoiced'],
    rows.map(({ state, records, oldest, accrued }) => [state, records, oldest, rounded(accrued)]),
  ]
}

function builtLine({ marts, milliseconds }: BuildResult): string {
  const built = marts.filter(({ state }) => state === 'built').length
  const others = marts
    .filter(({ state }) => state !== 'built')
    .map(({ name, message }) => `${name} (${message})`)
  const not = others.length > 0 ? `, not built: ${others.join(', ')}` : ''
  return `${built} marts built and checked in ${formatSeconds(milliseconds)}${not}`
}

interface DemoResult {
  /** Where the demo keeps its files, relative to the user's working folder. */
  readonly folder: string
  readonly first: RunResult
  readonly second: RunResult
  readonly built: BuildResult
  /** The file of the report, relative to the user's working folder. */
  readonly report: string
  /** The default address of `muster dashboard`. */
  readonly dashboard: string
}

async function printDemoMarts(context: CommandContext, engine: Engine): Promise<void> {
  const say = (text: string): void => printLine(context, text)
  say('\nCost of the approved labour of the last eight settled weeks, by agency (mart.labour_spend_weekly):')
  printTable(context, ...(await labourTable(engine)))
  say(
    '\nWorkers near the 48 hours of the Working Time Regulations, in the last settled week (mart.worker_week):',
  )
  printTable(context, ...(await workingTimeTable(engine)))
  say('\nWork that is not invoiced yet (mart.unbilled_accrual):')
  printTable(context, ...(await accrualTable(engine)))
}

export async function printDemoEnding(
  context: CommandContext,
  engine: Engine,
  { folder, first, second, built, report, dashboard }: DemoResult,
): Promise<void> {
  const say = (text: string): void => printLine(context, text)
  say(`\nChanges that the second sync found, with ${second.requests} requests instead of ${first.requests}:`)
  printTable(context, ...changesTable(second))
  say('\nProof that it is complete: every window saw at least as many ids as the service counted.')
  printTable(context, ...(await proofTable(engine)))
  say(`\n${builtLine(built)}`)
  await printDemoMarts(context, engine)
  const program = invocation(context.env)
  const muster = `${program} --config ${join(folder, 'muster.yaml')}`
  say(`\nThe warehouse is ${join(folder, 'demo.duckdb')}. Next:`)
  say(`  ${muster} status`)
  say(`  ${muster} sql "from mart.headcount_weekly limit 9"`)
  say(`  ${muster} docs       # every table and column`)
  say(`  ${muster} publish    # a copy without names`)
  say(`  ${muster} dashboard  # figures as pages`)
  say(`  ${program} sandbox  # a sandbox of your own to try things out`)
  say(`\nThe report: ${report}`)
  say(`The dashboard, once it runs: ${dashboard}`)
}
