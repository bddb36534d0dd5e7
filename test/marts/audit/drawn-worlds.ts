/** Worlds of drawn stars, in which the metrics are defined and the fiscal year begins in other ways. */
import { fillTokens, readReportingTime } from '../../../src/marts/inputs.ts'
import { inOrder, martsRead, readMarts } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { quoteName, quoteNames, quoteText } from '../../../src/warehouse/sql-text.ts'
import { filledAt } from '../../support/filled-warehouse.ts'
import { type DrawnStar, drawStar } from './drawn-star.ts'
import { soughtWords } from './sought-words.ts'
import type { Worn } from './worn.ts'
import { emptyLedger, wearLedger } from './worn-ledger.ts'
import { drawn, oneOf } from './worn-star.ts'

interface DrawnWorld extends DrawnStar {
  /** What calibration has found, by rule. */
  readonly chosen: Readonly<Record<string, string>>
  readonly fiscalMonth: number
}

export const drawnWorlds: readonly DrawnWorld[] = [
  {
    seed: 1,
    newest: '2026-11-01',
    unknown: [],
    numbers: [0, 0, 1, 1, 2, 3, 4, 5, 7.5, 8, 10, 12.5, 20, 40, 44, 48, 60, 0.01, 100, -1, -8],
    chosen: {
      companies: ',company_id 1,company_id 2,',
      bounds: 'exclusive',
      days: 'calendarZone',
      negativeDays: 'zero',
      zone: '+05:30',
      daysDecimals: '1',
      hoursDecimals: '1',
      threshold: 'at',
      minForRule: '3',
      weekStart: 'saturday',
    },
    fiscalMonth: 1,
  },
  {
    seed: 2,
    newest: '2026-11-01',
    // Nothing tells of a payment.
    unknown: ['payment_json', 'payment_date', 'payment_reference'],
    numbers: [0, 1, 1, 2],
    chosen: {},
    fiscalMonth: 10,
  },
  {
    seed: 3,
    newest: '2026-08-30',
    unknown: [],
    numbers: [0, 4, 8, 10, 12, 13, 40, 48, 50.01, 50.02, 50.03, 100],
    chosen: {
      companies: ',company_id 3,',
      hoursField: 'timelogHours',
      workerWeek: 'calendarWeek',
      acceptance: 'latest',
      negativeDays: 'dropped',
      quantiles: 'type6',
      valueQuantiles: 'nearestRank',
    },
    fiscalMonth: 4,
  },
]

const furtherRows = { alert: 30, schema_drift: 30, accepted_drift: 12 }
const furtherWords = {
  subject: ['fact_timesheet', 'fact_expense', 'fact_invoice', 'dim_trade', 'fact_assignment'],
}

const groups = (kind: string, ids: number): string[] =>
  Array.from({ length: ids }, (_, place) => `${kind} ${place + 1}`)

/** The Mondays and the months that most moments of a drawn star are in. */
const weeks = Array.from({ length: 10 }, (_, place) =>
  new Date(Date.UTC(2026, 9, 26 - 7 * place)).toISOString().slice(0, 10),
)
const months = ['2026-11', '2026-10', '2026-09', '2026-08']
const companies = groups('company_id', 3)
const groupKeys: Readonly<Record<string, readonly string[]>> = {
  all: [''],
  company: companies,
  // One of them is that of a company.
  project: [...groups('project_id', 4), 'company_id 2'],
  agency: groups('agency_id', 4),
  month: months,
  week: weeks,
  'company,month': companies.flatMap(company => months.map(month => `${company}|${month}`)),
}

/** Answers of the service for groups that there are, some of them given twice. */
async function answerMetrics(engine: Engine, { seed }: DrawnWorld): Promise<void> {
  const keys = Object.entries(groupKeys).flatMap(([by, all]) =>
    all.map(key => `(${quoteText(by)}, ${quoteText(key)})`),
  )
  const list = (values: readonly string[] = []): string =>
    values.map(value => `(${quoteText(value)})`).join(', ')
  const draw = (purpose: string) =>
    drawn(`'${seed} ${purpose}'`, 'metric', 'group_by', 'group_key', 'figure', 'cast(n as text)')
  await engine.run('delete from ops.crosscheck')
  await engine.run(
    `insert into ops.crosscheck (run_id, metric, group_by, group_key, group_label, figure, ours, theirs, difference, verdict,
       reason, records, definition_id, checked_at)
     select 'run', metric, group_by, group_key, group_key, figure, ${draw('ours')} % 7,
       case when figure = 'thresholdHours' then ${oneOf([40, 48, 60], draw('theirs'))} else ${draw('theirs')} % 90 end,
       case when ${draw('difference')} >= 200 then ${draw('difference')} % 5 - 2 end,
       case when ${drawn('group_key', `'${seed} equal'`)} < 300 then 'equal' else ${oneOf(soughtWords.verdict ?? [], draw('verdict'))} end, case when ${draw('reason')} < 500 then 'a reason' end,
       case when ${draw('records')} < 500 then 'records' end, 'definition', timestamptz '2026-11-02 01:00:00+00'
     from (values ${list(soughtWords.metric)}) as m(metric), (values ${keys.join(', ')}) as g(group_by, group_key),
       (values ${list(soughtWords.figure)}) as f(figure), (values (1), (2)) as s(n)
     where ${draw('there')} < case n when 1 then 600 else 100 end`,
  )
}

async function calibrate(engine: Engine, { chosen }: DrawnWorld): Promise<void> {
  await engine.run('delete from ops.metric_calibration')
  for (const [rule, value] of Object.entries(chosen))
    await engine.run(
      `insert into ops.metric_calibration (rule, rule_no, metric, state, chosen, candidates_alive, evidence, calls_used,
         definition_id, calibrated_at, run_id, contract_version)
       values (${quoteText(rule)}, 1, 'both', 'settled', ${quoteText(value)}, '', '', 0, 'calibrated',
         timestamptz '2026-11-01 00:00:00+00', 'run', '1')`,
    )
}

/** Events name the same record several times. */
async function receiveEvents(engine: Engine, { seed, unknown }: DrawnWorld): Promise<void> {
  const draw = (purpose: string) => drawn(`'${seed} event ${purpose}'`, 'cast(n as text)')
  await engine.run('delete from star.fact_webhook_event')
  const types = unknown.includes('payment_json')
    ? ['timesheet_approval_requested', 'invoice_raised']
    : soughtWords.type
  await engine.run(
    `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count,
       signature_ok, state, loaded_at)
     select 'event ' || n, ${oneOf(types ?? [], draw('type'))}, 'record',
       case when ${draw('none')} >= 100 then ${oneOf(['invoice_id', 'timesheet_id'], draw('kind'))} || ' ' || (${draw('id')} % 60 + 1) end,
       timestamptz '2026-11-02 00:00:00+00' - to_hours(${draw('at')} % 80 * 12), timestamptz '2026-11-02 00:00:00+00', 1, true,
       'done', timestamptz '2026-11-02 00:00:00+00'
     from generate_series(1, 200) as s(n)`,
  )
}

/** Marts that other marts read, made of the drawn star. */
async function makeMartsRead({ engine, moment }: Worn): Promise<void> {
  const marts = inOrder(readMarts())
  const read = new Set(marts.flatMap(martsRead))
  for (const { name, columns, select } of marts.filter(mart => read.has(mart.name))) {
    const table = `mart.${quoteName(name)}`
    await engine.run(`delete from ${table}`)
    await engine.run(
      `insert into ${table} (${quoteNames(columns.map(column => column.name))}) ${fillTokens(select, moment)}`,
    )
  }
}

/** Month ends that were recorded, some of them in two runs. */
async function recordMonthEnds(engine: Engine, { seed }: DrawnWorld): Promise<void> {
  const draw = (purpose: string) => drawn(`'${seed} month end ${purpose}'`, 'cast(n as text)')
  await engine.run('delete from ops.accrual_month_end')
  await engine.run(
    `insert into ops.accrual_month_end (month_end_date, company_id, project_id, agency_id, accrual_state, records, net_hours,
       accrued_value, recorded_at)
     select ${oneOf(['2026-10-31', '2026-09-30', '2026-08-31', '2024-01-31', '2024-10-31'], draw('month'))}::date,
       'company_id ' || (${draw('company')} % 3 + 1), 'project_id ' || (${draw('project')} % 3 + 1),
       'agency_id ' || (${draw('agency')} % 3 + 1), ${oneOf(['approved', 'unapproved', 'claims'], draw('state'))}, ${draw('records')} % 4,
       ${draw('hours')} % 50, ${draw('value')} % 30, timestamptz '2026-11-02 00:00:00+00' - to_hours(${draw('at')} % 3)
     from generate_series(1, 150) as s(n)
     on conflict do nothing`,
  )
}

export async function drawnOf(engine: Engine, world: DrawnWorld): Promise<Worn> {
  const time = await readReportingTime(engine, Date.parse(filledAt))
  const worn = { engine, moment: { ...time, now: filledAt, fiscalMonth: world.fiscalMonth } }
  await drawStar(engine, world)
  await drawLedger(engine, world)
  await makeMartsRead(worn)
  return worn
}

async function drawLedger(engine: Engine, world: DrawnWorld): Promise<void> {
  await emptyLedger(engine)
  for (const table of Object.keys(furtherRows)) await engine.run(`delete from ops.${table}`)
  await wearLedger(engine, { seed: world.seed, rows: furtherRows, words: furtherWords })
  await answerMetrics(engine, world)
  await calibrate(engine, world)
  await receiveEvents(engine, world)
  await recordMonthEnds(engine, world)
  // From a Monday on.
  await engine.run(`delete from star.dim_minimum_wage where valid_from = date '2026-09-14'`)
  await engine.run(
    `insert into star.dim_minimum_wage (valid_from, age_band, hourly_rate) values (date '2026-09-14', '21 and over', 13)`,
  )
  await engine.run('delete from ops.company_currency')
  await engine.run(
    `insert into ops.company_currency (company_id, currency, basis, settled_at)
     values ('company_id 1', 'GBP', 'told', timestamptz '2026-11-01 00:00:00+00'),
       ('company_id 2', 'EUR', 'told', timestamptz '2026-11-01 00:00:00+00')`,
  )
}
