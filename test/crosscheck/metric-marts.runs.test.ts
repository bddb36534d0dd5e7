/** The marts of the metrics: the same figures as the metrics themselves, sums that agree, and what the service answered beside. */
import { beforeAll, expect, test } from 'vitest'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { groupingOf } from '../../src/crosscheck/metrics/metric-query.ts'
import { ourMetrics } from '../../src/crosscheck/metrics/our-metrics.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { checking } from './checked.ts'

const marts = readMarts()
const names = ['time_to_fill', 'time_to_fill_detail', 'workers_over_hours', 'crosscheck']
const sixKeys = ['all', 'company', 'project', 'agency', 'month', 'week']
const nineKeys = [...sixKeys, 'company,month', 'project,month', 'agency,month']
const filled = useFilled()
let engine: Engine

beforeAll(async () => {
  const sandbox = await openSandbox({ scale: 0.2 })
  engine = (await filled.duckdb()).engine
  await checking(sandbox, engine).checked({ definition: definitionDefaults, id: 'default' }, sixKeys)
  const outcome = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts, names, all: false },
  )
  expect(outcome.marts.map(({ name, state }) => [name, state])).toEqual(
    expect.arrayContaining(names.map(name => [name, 'built'])),
  )
}, 60_000)

/** As the marts keep them: four decimals. */
const rounded = (value: unknown): number | null =>
  value === null ? null : Math.round(Number(value) * 1e4) / 1e4

const daysOf =
  'lower_bound, upper_bound, within_bounds_count, average_days, median_days, min_days, max_days, p25_days, p75_days'
const hoursOf =
  'threshold_hours, worker_weeks, workers_over_threshold, distinct_workers_over_threshold, total_hours, average_weekly_hours, max_weekly_hours'

test.each([
  {
    mart: 'time_to_fill',
    metric: 'timeToFill',
    keys: nineKeys,
    figures: `raw_count, excluded_outliers, ${daysOf}`,
  },
  ...[40, 48, 60].map(threshold => ({
    ...{
      mart: `workers_over_hours where threshold_hours = ${threshold}`,
      metric: 'workersOverHours' as const,
      threshold,
    },
    ...{ keys: [...sixKeys, 'company,month'], figures: hoursOf },
  })),
] as const)(
  'mart.$mart has the figures of the metric, group by group',
  async ({ mart, figures, keys, ...query }) => {
    const groupings = keys.map(text => groupingOf(text) ?? [])
    const groups = await ourMetrics(engine, { ...query, groupings }, definitionDefaults)
    const rows = await engine.rows<Record<string, unknown>>(
      `select group_by, group_key, ${figures} from mart.${mart}`,
    )
    const line = (by: unknown, key: unknown, values: readonly unknown[]) =>
      `${by} ${key}: ${values.map(rounded).join(' ')}`
    const own = rows.map(({ group_by: by, group_key: key, ...values }) =>
      line(by, key, Object.values(values)),
    )
    expect(new Set(rows.map(row => row.group_by))).toEqual(new Set(keys))
    expect(own.sort()).toEqual(
      groups.map(group => line(group.groupBy, group.groupKey, Object.values(group.figures))).sort(),
    )
  },
)

test('groups add up to the total, and averages follow from their parts', async () => {
  const sums = await engine.rows<Record<string, string | number>>(
    `select group_by, sum(raw_count) as total from mart.time_to_fill group by group_by`,
  )
  expect(sums).toHaveLength(nineKeys.length)
  expect(new Set(sums.map(({ total }) => Number(total))).size).toBe(1)
  const broken = await engine.rows(
    `select group_key from mart.time_to_fill where raw_count <> within_bounds_count + excluded_outliers
       or abs(average_days - within_bounds_days / nullif(within_bounds_count, 0)) > 0.001
     union all select group_key from mart.workers_over_hours
       where abs(average_weekly_hours - total_hours / nullif(worker_weeks, 0)) > 0.001
       or distinct_workers_over_threshold > workers_over_threshold or workers_over_threshold > worker_weeks`,
  )
  expect(broken).toEqual([])
  const hours = await engine.rows<{ total: string }>(
    `select distinct cast(sum(total_hours) as numeric(18, 2)) as total from mart.workers_over_hours
     where group_by in ('all', 'week', 'month') group by group_by, threshold_hours`,
  )
  expect(hours).toHaveLength(1)
})

test('the detail has every acceptance, and as many outliers as the groups', async () => {
  const [counts] = await engine.rows<Record<string, number>>(
    `select count(*) as acceptances, ${sixKeys.map(key => `sum(case when is_outlier_${key} then 1 else 0 end) as "${key}"`).join(', ')}
     from mart.time_to_fill_detail`,
  )
  const groups = await engine.rows<{ group_by: string; raw: number; outliers: number }>(
    `select group_by, sum(raw_count) as raw, sum(excluded_outliers) as outliers from mart.time_to_fill
     where group_by in (${sixKeys.map(key => `'${key}'`).join(', ')}) group by group_by`,
  )
  for (const { group_by: key, raw, outliers } of groups)
    expect([key, Number(raw), Number(outliers)]).toEqual([
      key,
      Number(counts?.acceptances),
      Number(counts?.[key]),
    ])
})

test('the service’s own figures stand beside ours, and those that were not asked for are said to be so', async () => {
  const statuses = await engine.rows<{ group_by: string; match_status: string }>(
    `select distinct group_by, match_status from mart.time_to_fill
     union select distinct group_by, match_status from mart.workers_over_hours where threshold_hours = 48`,
  )
  for (const { group_by: key, match_status: status } of statuses)
    expect([key, status]).toEqual([key, sixKeys.includes(key) ? 'equal' : 'not checked'])
  const [all] = await engine.rows<Record<string, string>>(
    `select raw_count, api_raw_count, average_days, api_average_days, average_days_difference from mart.time_to_fill where group_by = 'all'`,
  )
  expect(all?.api_raw_count).toEqual(all?.raw_count)
  expect(all?.api_average_days).toBe(all?.average_days)
  expect(Number(all?.average_days_difference)).toBe(0)
  const [own] = await ourMetrics(engine, { metric: 'timeToFill', groupings: [[]] }, definitionDefaults)
  expect(Number(all?.average_days)).toBeCloseTo(own?.figures.averageDays ?? 0, 3)
  expect(await engine.rows(`select distinct verdict from mart.crosscheck`)).toEqual([{ verdict: 'equal' }])
})
