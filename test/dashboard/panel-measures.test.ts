/** Every panel aggregates the columns of marts as their headers declare: DuckDB's parser reads its statement. */
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { pages } from '../../src/dashboard/pages/pages.ts'
import type { Panel } from '../../src/dashboard/panel.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import type { Entity, EntityMetric } from '../../src/semantic/entity.ts'

const entities = new Map(semanticCatalogue(readMarts()).map(entity => [entity.name, entity]))

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree
type Tree = any

const parser = DuckDBInstance.create(':memory:').then(instance => instance.connect())

async function parsed(sql: string): Promise<Tree> {
  const text = sql.replaceAll('{where}', 'true')
  const reader = await (await parser).runAndReadAll('select json_serialize_sql($1::varchar)', [text])
  const tree = JSON.parse(String(reader.getRows()[0]?.[0]))
  if (tree.error) throw new Error(`${tree.error_message}: ${sql}`)
  return tree.statements
}

/** Nodes below one, conditions and filters of aggregates left out, as they choose rows and add up nothing. */
function nodesIn(tree: Tree, skipped: readonly string[] = []): Tree[] {
  if (typeof tree !== 'object' || tree === null) return []
  const below = Object.entries(tree).flatMap(([name, one]) =>
    skipped.includes(name) ? [] : nodesIn(one, skipped),
  )
  return Array.isArray(tree) ? below : [tree, ...below]
}

const columnsIn = (tree: Tree, skipped: readonly string[] = []): string[] =>
  nodesIn(tree, skipped).flatMap(({ class: kind, column_names: names }) =>
    kind === 'COLUMN_REF' ? [names.at(-1)] : [],
  )

interface Aggregate {
  readonly name: string
  /** Columns that the aggregate reads, by their names in the mart. */
  readonly columns: readonly string[]
  /** Columns that are one value in each group: grouped by or compared with one value. */
  readonly fixed: readonly string[]
}

const aggregates = new Set(['sum', 'avg', 'max', 'min'])
const conditions = ['when_expr', 'filter']

/** The columns behind each alias. */
const aliasesIn = (selects: readonly Tree[]): Map<string, string[]> =>
  new Map(
    selects
      .flatMap(({ select_list: list }) => list)
      .filter(({ alias }) => alias !== '')
      .map(one => [one.alias, columnsIn(one, conditions)]),
  )

function aggregatesIn(statements: Tree): Aggregate[] {
  const selects = nodesIn(statements).filter(({ type }) => type === 'SELECT_NODE')
  const aliases = aliasesIn(selects)
  const origin = (name: string, seen: readonly string[] = []): string[] => {
    const behind = seen.includes(name) ? undefined : aliases.get(name)
    return behind === undefined ? [name] : [name, ...behind.flatMap(one => origin(one, [...seen, name]))]
  }
  return selects.flatMap(({ select_list: list, group_expressions: groups, where_clause: where }) => {
    const equal = nodesIn(where).filter(({ type }) => type === 'COMPARE_EQUAL')
    const fixed = [...columnsIn(groups), ...columnsIn(equal)]
    return nodesIn(list)
      .filter(({ function_name: name }) => aggregates.has(name))
      .map(one => ({
        name: one.function_name,
        columns: columnsIn(one.children, conditions).flatMap(column => origin(column)),
        fixed,
      }))
  })
}

/** Filters apply these to every panel of a mart that has them. */
const filtered = (entity: Entity): string[] => ['currency', ...entity.separations.map(({ column }) => column)]

/** A mart of what is open on the day of the build has one day. */
const isOfOneDay = ({ time }: Entity): boolean => time?.column === 'snapshot_date'

function isRight({ name, fixed }: Aggregate, metric: EntityMetric, entity: Entity): boolean {
  const { aggregation, weight, period, within } = metric
  const missing = within
    .filter(column => !filtered(entity).includes(column) && !fixed.includes(column))
    .filter(column => column !== entity.time?.column || !isOfOneDay(entity))
  if (name === 'sum') return ['sum', 'first', 'last'].includes(aggregation) && missing.length === 0
  if (name === 'avg') return aggregation === 'average' && weight === undefined && period === undefined
  return !['max', 'min'].includes(aggregation) || aggregation === name
}

/** One sentence for each column that the statement aggregates otherwise than its mart declares. */
async function wrongIn({ id, sql }: Pick<Panel, 'id' | 'sql'>): Promise<string[]> {
  const statements = await parsed(sql)
  const marts = nodesIn(statements).flatMap(
    ({ table_name: table, schema_name: schema }) => (schema === 'mart' && entities.get(table)) || [],
  )
  return aggregatesIn(statements).flatMap(one =>
    one.columns.flatMap(column =>
      marts
        .filter(({ dimensions }) => dimensions.some(({ name, role }) => name === column && role === 'number'))
        .filter(entity => {
          const metric = entity.metrics.find(({ name }) => name === column)
          return metric === undefined ? ['sum', 'avg'].includes(one.name) : !isRight(one, metric, entity)
        })
        .map(entity => `${id}: ${one.name}(${column}) of mart.${entity.name}`),
    ),
  )
}

test('every panel aggregates each column as its mart declares', async () => {
  const wrong: string[] = []
  for (const panel of pages.flatMap(page => page.panels)) wrong.push(...(await wrongIn(panel)))
  expect([...new Set(wrong)]).toEqual([])
})

test.each([
  ['the sum of a stock over weeks', 'select sum(fte) as f from mart.headcount_weekly where {where}'],
  ['the average of a ratio', 'select avg(cost_per_hour) as c from mart.labour_spend_weekly'],
  ['the sum of different workers', 'select sum(workers) as w from mart.labour_spend_weekly'],
  [
    'what another name hides',
    'with a as (select cast(fte as double precision) as b from mart.headcount_weekly) select sum(b) as c from a',
  ],
  ['the sum of a maximum', 'select sum(longest_week_hours) as l from mart.working_time_weekly'],
])('%s is found', async (_, sql) => {
  expect(await wrongIn({ id: 'p', sql })).toHaveLength(1)
})

test.each([
  ['a sum', 'select project_id, sum(net_hours) as h from mart.labour_spend_weekly group by project_id'],
  [
    'a ratio of sums',
    'select sum(cost_value) / nullif(sum(net_hours), 0) as c from mart.labour_spend_weekly where {where}',
  ],
  [
    'a stock by week',
    'select week_ending_date, sum(fte) as f from mart.headcount_weekly group by week_ending_date',
  ],
  [
    'a stock of one week',
    'select sum(fte) as f from mart.headcount_weekly where week_ending_date = (select max(week_ending_date) from mart.headcount_weekly)',
  ],
  ['a longest wait', 'select max(days_open) as d from mart.open_demand'],
])('%s is right', async (_, sql) => {
  expect(await wrongIn({ id: 'p', sql })).toEqual([])
})
