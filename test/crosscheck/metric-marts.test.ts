/** The marts of the metrics: the same text as the metrics themselves, sums that agree, and what the service answered beside. */
import { beforeAll, expect, test } from 'vitest'
import { definitionDefaults } from '../../src/crosscheck/definition.ts'
import { groupingOf } from '../../src/crosscheck/metric-query.ts'
import { askedRows, metricText } from '../../src/crosscheck/metric-sql.ts'
import { ourMetrics } from '../../src/crosscheck/our-metrics.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { openGate } from '../../src/marts/gate.ts'
import { readMarts } from '../../src/marts/mart.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt, useFilled } from '../marts/filled-warehouse.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { checking } from './checked.ts'

const marts = readMarts()
const names = ['time_to_fill', 'time_to_fill_detail', 'workers_over_hours', 'crosscheck']
const sixKeys = ['all', 'company', 'project', 'agency', 'month', 'week']
const nineKeys = [...sixKeys, 'company,month', 'project,month', 'agency,month']
const filled = useFilled()
let engine: Engine

const plain = (text: string): string => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim()
const selectOf = (name: string): string => plain(marts.find(mart => mart.name === name)?.select ?? '')

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

/** Boolean words as they are written, one union below the other. */
const groupings = (keys: readonly string[]): string =>
  askedRows(keys.map(text => groupingOf(text) ?? []))
    .replaceAll(/ as (?:group_by|by_\w+)/g, '')
    .replaceAll(' union all ', '\n')

test.each([
  { name: 'time_to_fill', metric: 'timeToFill', keys: nineKeys, end: 'select * from shown' },
  { name: 'time_to_fill_detail', metric: 'timeToFill', keys: sixKeys, end: 'kept as (' },
  {
    name: 'workers_over_hours',
    metric: 'workersOverHours',
    keys: [...sixKeys, 'company,month'],
    end: 'select * from shown',
  },
] as const)('mart.$name has the text of $metric', ({ name, metric, keys, end }) => {
  const text = selectOf(name)
  const [asked = ''] = /asked as \( (.*?) \),/.exec(text)?.slice(1) ?? []
  const bare = asked.replaceAll(/ as (?:group_by|by_\w+)/g, '').replaceAll(' union all ', '\n')
  expect(bare).toBe(groupings(keys))
  const [thresholds = ''] = /threshold as \( (.*?) \),/.exec(text)?.slice(1) ?? []
  const own = plain(metricText(metric))
    .replace(':definition', 'select * from ops.metric_definition')
    .replace(':asked', asked)
    .replace(':thresholds', thresholds)
    .replace('where :range', 'where true')
  const shared = own.slice(0, own.indexOf(end)).trim().replace(/,$/, '')
  expect(shared.length).toBeGreaterThan(1000)
  expect(text.startsWith(`${shared},`)).toBe(true)
})

test('groups add up to the whole, and averages are what their parts say', async () => {
  const sums = await engine.rows<Record<string, string | number>>(
    `select group_by, sum(raw_count) as total from mart.time_to_fill group by group_by`,
  )
  expect(sums).toHaveLength(nineKeys.length)
  expect(new Set(sums.map(({ total }) => Number(total))).size).toBe(1)
  const broken = await engine.rows(
    `select group_key from mart.time_to_fill where raw_count <> kept_count + excluded_outliers
       or abs(average_days - kept_days / nullif(kept_count, 0)) > 0.001
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
