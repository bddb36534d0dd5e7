/** dbt reads the bundle and its tests pass on both engines; MetricFlow finds nothing wrong, and its figures are those of the marts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import type { WarehousePlace } from '../../src/semantic/bundle.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { dbtBundle } from '../../src/semantic/dbt.ts'
import { metricflowBundle } from '../../src/semantic/metricflow.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { type BiLogin, biLogin } from './bi-login.ts'
import { placeOfFile, placeOfServer } from './places.ts'
import { dbtPackages, pythonTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const folder = mkdtempSync(join(tmpdir(), 'muster-dbt-'))
const places: WarehousePlace[] = []
/** Of the server: may write the views that MetricFlow reads. */
let owner: Record<string, string> = {}
let env: Record<string, string> = {}
let programs = ''
let login: BiLogin
/** Rows of the marts by their SQL, in the order of the engines of `places`. */
const askers: ((sql: string) => Promise<object[]>)[] = []

beforeAll(async () => {
  programs = await pythonTool('dbt', dbtPackages)
  const file = await filled.duckdb()
  await buildAll(file.engine)
  const held = new Map<string, object[]>()
  for (const { sql } of compared) held.set(sql, await file.engine.rows(sql))
  askers.push(async sql => held.get(sql) ?? [])
  // dbt opens the file itself.
  await file.close()
  const server = await filled.postgres()
  await buildAll(server.engine)
  askers.push(sql => server.engine.rows(sql))
  login = await biLogin(server)
  const place = placeOfServer(server)
  owner = { MUSTER_BI_USER: place.user, MUSTER_BI_PASSWORD: place.password }
  env = {
    DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
    DBT_PROFILES_DIR: '.',
    NO_COLOR: '1',
  }
  places.push(placeOfFile(file), place)
}, 1_800_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await login?.remove()
})

const call = (cwd: string, ...args: string[]) =>
  run(
    join(programs, 'dbt'),
    [...args, '--no-use-colors', '--warn-error-options', '{"error": ["Deprecations"]}'],
    { cwd, env },
  )

/** As the documented login, which reads marts and nothing else. */
const asReader = () => ({ MUSTER_BI_USER: login.place.user, MUSTER_BI_PASSWORD: login.place.password })

test.each([0, 1])('the sources parse, are described, and pass their tests (%i)', async index => {
  const place = places[index] as WarehousePlace
  const cwd = join(folder, `sources-${place.kind}`)
  writeFiles(cwd, dbtBundle({ entities, place, version: '0' }))
  Object.assign(env, asReader())
  const tested = await call(cwd, 'test')
  expect([place.kind, tested.code, tested.output.slice(-1500)]).toEqual([
    place.kind,
    0,
    expect.stringMatching(/PASS=\d{3} WARN=0 ERROR=0/),
  ])
  const manifest = JSON.parse(readFileSync(join(cwd, 'target/manifest.json'), 'utf8'))
  expect(Object.keys(manifest.sources)).toHaveLength(entities.length)
  expect(Object.keys(manifest.exposures)).toHaveLength(entities.filter(({ kind }) => kind === 'fact').length)
  for (const source of Object.values(manifest.sources) as { description: string; columns: object }[]) {
    expect(source.description).not.toBe('')
    for (const column of Object.values(source.columns) as { description: string }[])
      expect(column.description).not.toBe('')
  }
  const fresh = await call(cwd, 'source', 'freshness')
  // The rows of this warehouse were made at a time that is set: whether that is long ago, dbt tells by itself.
  expect(fresh.output).toMatch(/\d+ of \d+ (PASS|WARN|ERROR STALE|ERROR) /)
  expect(fresh.output).not.toMatch(/Runtime Error|Database Error/)
})

const week = 'select max(week_ending_date) from mart.headcount_weekly'
const year = (column: string): string => `cast(date_trunc('year', ${column}) as date)`

/** Rows of the first or last time of each year. */
const ofYear = (mart: string, [end, column]: readonly ['min' | 'max', string]): string =>
  `(select * from (select t.*, ${end}(${column}) over (partition by ${year(column)}) as at_end from mart.${mart} as t) as w where ${column} = at_end)`

/**
 * Queries of MetricFlow beside the SQL of the same figures: with the currency, without it, of the last week, of a ratio; and by
 * year: a sum, a first and a last value, a maximum, a ratio of sums and one whose denominator is an average.
 */
const compared = [
  {
    metrics: 'labour_spend_weekly_charge_value,labour_spend_weekly_cost_per_hour',
    groupBy: 'labour_spend_weekly_row__currency',
    sql: 'select currency, sum(charge_value) as a, cast(sum(cost_value) as double precision) / cast(sum(net_hours) as double precision) as b from mart.labour_spend_weekly group by currency order by 1',
  },
  {
    metrics: 'labour_spend_weekly_charge_value,labour_spend_weekly_net_hours',
    sql: 'select case when min(currency) = max(currency) then sum(charge_value) end as a, sum(net_hours) as b from mart.labour_spend_weekly',
  },
  {
    metrics: 'headcount_weekly_assignments,headcount_weekly_fte',
    sql: `select sum(assignments) as a, sum(fte) as b from mart.headcount_weekly where week_ending_date = (${week})`,
  },
  {
    metrics: 'time_to_fill_by_agency_average_days',
    groupBy: 'time_to_fill_by_agency_row__agency_name',
    sql: 'select agency_name, cast(sum(within_bounds_days) as double precision) / nullif(sum(within_bounds_count), 0) as a from mart.time_to_fill_by_agency group by agency_name order by 1',
  },
  {
    metrics: 'labour_spend_weekly_charge_value,labour_spend_weekly_cost_per_hour',
    groupBy: 'metric_time__year,labour_spend_weekly_row__currency',
    sql: `select ${year('week_ending_date')} as y, currency, sum(charge_value) as a,
      cast(sum(cost_value) as double precision) / nullif(sum(net_hours), 0) as b from mart.labour_spend_weekly group by 1, 2`,
  },
  {
    metrics: 'headcount_weekly_assignments',
    groupBy: 'metric_time__year',
    sql: `select ${year('week_ending_date')} as y, sum(assignments) as a from ${ofYear('headcount_weekly', ['max', 'week_ending_date'])} as t group by 1`,
  },
  {
    metrics: 'workforce_flow_opening_workers',
    groupBy: 'metric_time__year',
    sql: `select ${year('month_start_date')} as y, sum(opening_workers) as a from ${ofYear('workforce_flow', ['min', 'month_start_date'])} as t group by 1`,
  },
  {
    metrics: 'workforce_flow_attrition_ratio',
    groupBy: 'metric_time__year',
    sql: `select ${year('month_start_date')} as y, cast(sum(leavers) as double precision)
      / nullif(cast(sum(average_workers) as double precision) / count(distinct month_start_date), 0) as a from mart.workforce_flow group by 1`,
  },
  {
    metrics: 'working_time_weekly_longest_week_hours',
    groupBy: 'metric_time__year',
    sql: `select ${year('week_ending_date')} as y, max(longest_week_hours) as a from mart.working_time_weekly group by 1`,
  },
  {
    metrics: 'payment_ageing_dso_days',
    groupBy: 'metric_time__year,payment_ageing_row__perspective,payment_ageing_row__currency',
    sql: `select ${year('month_start_date')} as y, perspective, currency, cast(sum(open_value) as double precision) * 90
      / nullif(cast(sum(issued_90_days_value) as double precision), 0) as a from ${ofYear('payment_ageing', ['max', 'month_start_date'])} as t group by 1, 2, 3`,
  },
] as const

/** Numbers to nine digits, days without a time. */
const rounded = (value: unknown): string =>
  value === null || value === undefined || value === ''
    ? ''
    : value instanceof Date
      ? value.toISOString().slice(0, 10)
      : /^\d{4}-\d\d-\d\d/.test(String(value))
        ? String(value).slice(0, 10)
        : Number.isFinite(Number(value))
          ? String(Number(Number(value).toPrecision(9)))
          : String(value)

test.each([0, 1])(
  'the semantic models are valid in the warehouse, and figures are those of the marts (%i)',
  async index => {
    const place = places[index] as WarehousePlace
    const cwd = join(folder, `metrics-${place.kind}`)
    Object.assign(env, owner)
    writeFiles(cwd, metricflowBundle({ entities, place, version: '0' }))
    const ran = await call(cwd, 'run')
    expect([place.kind, ran.code, ran.output.slice(-1500)]).toEqual([
      place.kind,
      0,
      expect.stringMatching(/PASS=\d+ WARN=0 ERROR=0/),
    ])
    const checked = await run(join(programs, 'mf'), ['validate-configs'], { cwd, env })
    const found = checked.output.match(
      /Successfully validated .*?\(ERRORS: \d+, FUTURE_ERRORS: \d+, WARNINGS: \d+\)/g,
    )
    expect([place.kind, checked.code, checked.output.slice(-1500)]).toEqual([
      place.kind,
      0,
      expect.anything(),
    ])
    expect(found?.length).toBeGreaterThanOrEqual(5)
    for (const line of found ?? []) expect(line).toContain('ERRORS: 0, FUTURE_ERRORS: 0')
    for (const query of compared) {
      const groupBy = 'groupBy' in query ? ['--group-by', query.groupBy, '--order', query.groupBy] : []
      const asked = await run(
        join(programs, 'mf'),
        ['query', '--metrics', query.metrics, ...groupBy, '--csv', 'answer.csv'],
        { cwd, env },
      )
      expect([query.metrics, asked.code, asked.output.slice(-1500)]).toEqual([
        query.metrics,
        0,
        expect.anything(),
      ])
      const [, ...lines] = readFileSync(join(cwd, 'answer.csv'), 'utf8').trim().split(/\r?\n/)
      const ours = (await askers[index]?.(query.sql)) ?? []
      expect(ours.length).toBeGreaterThan(0)
      expect([query.metrics, lines.map(line => line.split(',').map(rounded)).sort()]).toEqual([
        query.metrics,
        ours.map(row => Object.values(row).map(rounded)).sort(),
      ])
    }
  },
)

test('a duplicate key and a dangling reference fail the tests of dbt', async () => {
  const place = places[1] as WarehousePlace
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: place.uri.replace('+psycopg2', ''),
  })
  await client.connect()
  await client.query("update mart.labour_spend_weekly set agency_id = 'nobody' where agency_id <> '-1'")
  await client.end()
  const cwd = join(folder, `sources-${place.kind}`)
  const tested = await call(cwd, 'test', '--select', 'source:muster.labour_spend_weekly')
  expect(tested.code).toBe(1)
  expect(tested.output).toMatch(/relationships_muster_labour_spend_weekly_agency_id/)
})
