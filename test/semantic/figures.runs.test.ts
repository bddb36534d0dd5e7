/**
 * Every measure, over everything that it may be cut by: what Superset, Cube, Grafana, MetricFlow and the dashboard compute
 * is the figure that the rows of the mart give, or empty.
 */
import { describe, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { partsOf } from '../../src/marts/measures.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { type Chart, chartsOf, groupsOf } from '../../src/semantic/charts.ts'
import { type Entity, type EntityMetric, splitOf } from '../../src/semantic/entity.ts'
import { grafanaSql } from '../../src/semantic/grafana.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { seedsOf } from '../support/seed-list.ts'
import { figureOf, figureOverTime, type MartRow, type RowGroup } from './figure-reference.ts'
import { truthNames, wrongTruths } from './figure-truths.ts'
import { placeOfFile } from './places.ts'
import {
  type Cut,
  cubeTool,
  cutName,
  groupNames,
  metricflowTool,
  supersetTool,
  type Tool,
} from './tool-queries.ts'

/** A seed takes two minutes: `MUSTER_TEST_SEEDS=7` chooses another one. */
const seeds = seedsOf('1')
const entities = semanticCatalogue(readMarts()).filter(
  ({ kind, name, metrics }) => kind !== 'dimension' && name !== 'freshness' && metrics.length > 0,
)
const request = { entities, place: placeOfFile({ address: 'duckdb:w.duckdb' }), version: '0' }
const filled = seeds.map(seed => useFilled({ seed }))

const numbers = /^(integer|bigint|numeric|double)/

/** Numbers as doubles, days as texts. */
async function readRows(engine: Engine, { name, dimensions }: Entity): Promise<MartRow[]> {
  const columns = dimensions.map(one => {
    if (numbers.test(one.type)) return `cast(${one.name} as double) as "${one.name}"`
    return `cast(${one.name} as varchar) as "${one.name}"`
  })
  return engine.rows(`select ${columns.join(', ')} from mart.${name}`)
}

interface World {
  readonly engine: Engine
  /** Rows of each entity. */
  readonly rows: ReadonlyMap<string, readonly MartRow[]>
}

async function openWorld(index: number): Promise<World> {
  const warehouse = await filled[index]?.duckdb()
  if (warehouse === undefined) throw new Error('no such seed')
  const { engine } = warehouse
  await buildAll(engine)
  const rows = new Map<string, readonly MartRow[]>()
  for (const entity of entities) rows.set(entity.name, await readRows(engine, entity))
  return { engine, rows }
}

const worlds = new Map<number, Promise<World>>()

/** Opened by the first test that needs it. */
function worldOf(index: number): Promise<World> {
  const world = worlds.get(index) ?? openWorld(index)
  worlds.set(index, world)
  return world
}

const stamps: ReadonlySet<string> = new Set(['definition_id', 'metric_definition_id'])

/** More groups than a chart shows prove nothing more. */
const maxGroups = 12

/**
 * Everything, each dimension and the time, each alone and beside the columns that a measure must not mix; and the year,
 * alone and beside the ids. A name has the groups of its id.
 */
function cutsOf({ dimensions, metrics, time }: Entity, rows: readonly MartRow[]): Cut[] {
  const isFew = (name: string): boolean => new Set(rows.map(row => row[name])).size <= maxGroups
  const names = new Set(dimensions.map(({ name }) => name))
  const day = dimensions.find(({ name, type }) => name === time?.column && type === 'date')?.name
  const within = splitOf(metrics, [time?.column])
  const single = dimensions
    .filter(({ role, name }) => role !== 'number' && role !== 'time' && !stamps.has(name))
    .filter(({ role, name }) => role !== 'name' || !names.has(name.replace(/_(name|reference)$/, '_id')))
    .map(({ name }) => name)
    .filter(isFew)
  const cuts = [[], ...single.map(name => [name]), ...(day === undefined ? [] : [[day]])]
  const byYear = cuts.filter(([name]) => day !== undefined && name !== day && (name ?? '_id').endsWith('_id'))
  const made = [
    ...cuts.map(columns => ({ columns, isByYear: false })),
    ...byYear.map(columns => ({ columns, isByYear: true })),
  ]
  const beside = made.map(({ columns, isByYear }) => ({
    columns: [...columns, ...within.filter(name => !columns.includes(name))],
    isByYear,
  }))
  const alone = made.filter(
    ({ columns: [name] }) => name === undefined || name === day || name.endsWith('_id'),
  )
  return [...new Map([...alone, ...beside].map(cut => [cutName(cut), cut])).values()]
}

/** Days without a time, numbers without zeros at their end. */
const textOf = (value: unknown): string => {
  if (value instanceof Date) return value.toISOString().slice(0, 10)
  const text = String(value ?? null)
  if (/^\d+(\.\d+)?$/.test(text)) return String(Number(text))
  return text.replace(/T?[ ]?00:00:00(\.0+)?(Z|\+00)?$/, '')
}

const numberOf = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value)

/** Sums of doubles differ in their last digits with the order of rows. */
const isSame = (one: number | null, other: number | null): boolean =>
  one === null || other === null
    ? one === other
    : Math.abs(one - other) <= 1e-8 * Math.max(1, Math.abs(one), Math.abs(other))

const yearOf = (row: MartRow, time: string): string => {
  const text = row[time]
  return typeof text === 'string' ? `${text.slice(0, 4)}-01-01` : 'null'
}

/** Rows of the first and last time, of all that the cut does not part by time. */
function rowGroups(rows: readonly MartRow[], entity: Entity, cut: Cut): Map<string, RowGroup> {
  const time = entity.time?.column ?? ''
  const spanOf = (row: MartRow): string =>
    cut.columns.includes(time) ? String(row[time]) : cut.isByYear ? yearOf(row, time) : ''
  const ends = new Map<string, [string, string]>()
  for (const row of rows) {
    const at = row[time]
    if (typeof at !== 'string') continue
    const [first, last] = ends.get(spanOf(row)) ?? [at, at]
    ends.set(spanOf(row), [first.localeCompare(at) > 0 ? at : first, last.localeCompare(at) < 0 ? at : last])
  }
  const groups = new Map<string, { rows: MartRow[]; first: MartRow[]; last: MartRow[] }>()
  if (cut.columns.length === 0 && !cut.isByYear) groups.set('[]', { rows: [], first: [], last: [] })
  for (const row of rows) {
    const key = JSON.stringify([
      ...cut.columns.map(name => textOf(row[name])),
      ...(cut.isByYear ? [yearOf(row, time)] : []),
    ])
    const group = groups.get(key) ?? { rows: [], first: [], last: [] }
    groups.set(key, group)
    const [first, last] = ends.get(spanOf(row)) ?? []
    group.rows.push(row)
    if (row[time] === first) group.first.push(row)
    if (row[time] === last) group.last.push(row)
  }
  return groups
}

type FigureOf = (entity: Entity, metric: EntityMetric, group: RowGroup) => number | null

interface Compared {
  readonly figures: number
  readonly known: number
  readonly wrong: readonly string[]
}

type Answers = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** The rows of each cut, by their groups; empty for an entity that the tool leaves out. */
async function answersOf(world: World, statements: readonly string[], cuts: readonly Cut[]) {
  const rows: Record<string, unknown>[] = []
  for (const sql of statements) rows.push(...(await world.engine.rows<Record<string, unknown>>(sql)))
  return cuts.map((cut): readonly [Cut, Answers] => {
    const names = groupNames(cut)
    const own = rows.filter(row => row.cut === cutName(cut))
    return [cut, new Map(own.map(row => [JSON.stringify(names.map(name => textOf(row[name]))), row]))]
  })
}

/** Figures of a tool beside those of the rows. */
async function compare(
  world: World,
  asked: readonly Entity[],
  [tool, figure]: [Tool, FigureOf],
): Promise<Compared> {
  const wrong: string[] = []
  let [figures, known] = [0, 0]
  for (const entity of asked) {
    const rows = world.rows.get(entity.name) ?? []
    const cuts = cutsOf(entity, rows)
    const statements = tool(entity, cuts)
    if (statements.length === 0) continue
    for (const [cut, answers] of await answersOf(world, statements, cuts)) {
      const groups = rowGroups(rows, entity, cut)
      if (answers.size !== groups.size) wrong.push(`${entity.name} by ${JSON.stringify(cut)}: other groups`)
      for (const [key, group] of [...groups].filter(([, one]) => one.rows.length > 0))
        for (const metric of entity.metrics) {
          const wanted = figure(entity, metric, group)
          const found = numberOf(answers.get(key)?.[metric.name])
          figures += 1
          if (wanted !== null) known += 1
          if (!isSame(wanted, found))
            wrong.push(
              `${entity.name}.${metric.name} by ${cut.columns}${cut.isByYear ? ' and year' : ''} ${key}: ${found}, not ${wanted}`,
            )
        }
    }
  }
  return { figures, known, wrong: wrong.slice(0, 20) }
}

const tools: readonly (readonly [string, [Tool, FigureOf]])[] = [
  ['Superset', [supersetTool(request), figureOf]],
  ['Cube', [cubeTool(request), figureOf]],
  ['MetricFlow', [metricflowTool(request), figureOverTime]],
]

/** `is_settled_week and perspective = 'client'`. */
const chosenBy =
  (where: string | undefined) =>
  (row: MartRow): boolean =>
    (where?.split(' and ') ?? []).every(part => {
      const [column = '', value] = part.split(' = ')
      return value === undefined ? row[column] === 'true' : row[column] === value.slice(1, -1)
    })

type Figures = readonly (number | null)[]

/** In an order of their own: a label joins the name and the currency. */
const sorted = (rows: readonly Figures[]): Figures[] =>
  rows.toSorted((one, other) => {
    const place = one.findIndex((value, at) => !isSame(value, other[at] ?? null))
    return place < 0 ? 0 : (one[place] ?? -Infinity) - (other[place] ?? -Infinity)
  })

function areSame(one: readonly Figures[], other: readonly Figures[]): boolean {
  const others = sorted(other)
  return (
    one.length === other.length &&
    sorted(one).every((row, at) => row.every((value, place) => isSame(value, others[at]?.[place] ?? null)))
  )
}

async function chartDifference(world: World, chart: Chart): Promise<string[]> {
  const { entity, metrics, where } = chart
  const rows = (world.rows.get(entity.name) ?? []).filter(chosenBy(where))
  const sql = grafanaSql(chart, 'mart').replace(/\$__timeFilter\((\w+)\)/, '$1 is not null')
  const answer = await world.engine.rows<Record<string, unknown>>(sql)
  const found = answer.map(row => metrics.map(({ title }) => numberOf(row[title])))
  const groups = rowGroups(rows, entity, { columns: groupsOf(chart), isByYear: false })
  const wanted = [...groups.values()].map(group => metrics.map(metric => figureOf(entity, metric, group)))
  expect(wanted.length).toBeGreaterThan(0)
  return areSame(found, wanted) ? [] : [chart.title]
}

describe.each(seeds.map((seed, index) => [seed, index] as const))(
  'in the world of seed %i',
  {
    timeout: 600_000,
  },
  (_, index) => {
    test.each(tools)('%s answers what the rows say, or nothing', async (_name, tool) => {
      const { known, wrong } = await compare(await worldOf(index), entities, tool)
      expect(wrong).toEqual([])
      expect(known).toBeGreaterThan(10_000)
    })

    test('the charts of Grafana show what the rows say', async () => {
      const wrong: string[] = []
      const charts = chartsOf(entities)
      expect(charts.length).toBeGreaterThan(10)
      const world = await worldOf(index)
      for (const chart of charts) wrong.push(...(await chartDifference(world, chart)))
      expect(wrong).toEqual([])
    })

    test('a ratio knows both of its parts in a row, or neither, where it adds them up', async () => {
      const { rows } = await worldOf(index)
      const wrong = entities.flatMap(entity =>
        entity.metrics
          .filter(({ aggregation, denominator }) => aggregation === 'ratio' && !(Number(denominator) > 0))
          .filter(({ within }) => entity.keys.some(key => !within.includes(key)))
          .filter(metric => {
            const columns = partsOf(metric).filter(part =>
              entity.dimensions.some(({ name }) => name === part),
            )
            const isUnknown = (row: MartRow): boolean => columns.some(column => row[column] === null)
            const hasOther = (row: MartRow): boolean => columns.some(column => Number(row[column] ?? 0) !== 0)
            return (rows.get(entity.name) ?? []).some(row => isUnknown(row) && hasOther(row))
          })
          .map(({ name }) => `${entity.name}.${name}`),
      )
      expect(wrong).toEqual([])
    })

    test('figures of a longer time or of all groups are those of finer rows', async () => {
      expect(truthNames.filter(name => !entities.some(entity => entity.name === name))).toEqual([])
      expect(await wrongTruths((await worldOf(index)).engine, entities)).toEqual([])
    })
  },
)

test.each([
  ['working_time_weekly', 'max longest_week_hours', 'sum longest_week_hours'],
  ['payment_ageing', 'average avg_days_to_pay by paid_invoices', 'average avg_days_to_pay'],
  ['payment_ageing', 'ratio dso_days = 90 * open_value / issued_90_days_value', 'average dso_days'],
  ['purchase_order_burn', 'max company_assignments_known', 'sum company_assignments_known'],
  ['open_demand', 'max company_requisitions_stored, company', 'sum company_requisitions_stored, company'],
  ['workforce_flow', 'average average_workers over month_start_date', 'last average_workers'],
  ['workforce_flow', 'first opening_workers', 'last opening_workers'],
  ['time_to_fill', 'all_companies_days within group_key', 'all_companies_days'],
  ['worker_week', 'last hours_17_weeks', 'sum hours_17_weeks'],
])('mart.%s with "%s" declared as "%s" is found', async (name, right, wrong) => {
  const marts = readMarts().map(mart => {
    const measures = mart.fields.get('Measures') ?? ''
    if (mart.name !== name) return mart
    expect(measures).toContain(right)
    return { ...mart, fields: new Map([...mart.fields, ['Measures', measures.replace(right, wrong)]]) }
  })
  const own = semanticCatalogue(marts.filter(one => one.name === name))
  expect(await wrongTruths((await worldOf(0)).engine, own)).not.toEqual([])
})
