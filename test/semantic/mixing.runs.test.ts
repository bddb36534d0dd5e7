/** No figure of any export adds up over currencies, over days of a stock, or over levels of a key: derived from the declarations. */
import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { isAmount } from '../../src/marts/columns.ts'
import { readMart, readMarts } from '../../src/marts/mart.ts'
import { partsOf } from '../../src/marts/measures.ts'
import type { BundleFile, WarehousePlace } from '../../src/semantic/bundle.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { chartSql, chartsOf } from '../../src/semantic/charts.ts'
import { cubeBundle } from '../../src/semantic/cube.ts'
import type { Entity, EntityMetric } from '../../src/semantic/entity.ts'
import { grafanaBundle } from '../../src/semantic/grafana.ts'
import { metricflowBundle } from '../../src/semantic/metricflow.ts'
import { odcsBundle } from '../../src/semantic/odcs.ts'
import { supersetBundle } from '../../src/semantic/superset.ts'

const entities = semanticCatalogue(readMarts())
const place: WarehousePlace = {
  kind: 'server',
  uri: 'postgresql+psycopg2://muster_bi@db/muster',
  host: 'db',
  port: 5432,
  database: 'muster',
  schema: 'mart',
}
const request = { entities, place, version: '1.2.3' }

interface Named {
  readonly name: string
  readonly expr?: string
}

interface Held {
  readonly entity: Entity
  readonly metric: EntityMetric
}

/** Every figure that is wrong over several values of some column. */
const held: readonly Held[] = entities.flatMap(entity =>
  entity.metrics.filter(({ within }) => within.length > 0).map(metric => ({ entity, metric })),
)

const textOf = (files: readonly BundleFile[], path: string): string =>
  String(files.find(file => file.path === path)?.content)

test('amounts hold within one currency, stocks within one day, and levels apart, also in ratios', () => {
  for (const { name, metrics, dimensions, time } of entities)
    for (const metric of metrics) {
      const parts = [metric.column, ...partsOf(metric)].flatMap(
        part => dimensions.find(one => one.name === part) ?? [],
      )
      const hasAmount = parts.some(part => !/^(integer|bigint)/.test(part.type) && isAmount(part.name))
      expect([name, metric.name, metric.within.includes('currency')]).toEqual([name, metric.name, hasAmount])
      if (metric.unit === 'currency')
        expect([name, metric.name, metric.within]).toEqual([
          name,
          metric.name,
          expect.arrayContaining(['currency']),
        ])
      if (metric.aggregation === 'last') expect(metric.within.length).toBeGreaterThan(0)
      if (metric.aggregation === 'last' && time?.grain !== undefined)
        expect([name, metric.name, metric.within.includes(time.column)]).toEqual([name, metric.name, true])
      for (const column of metric.within) expect(dimensions.map(one => one.name)).toContain(column)
    }
  expect(held.length).toBeGreaterThan(100)
})

test('what parties see of one document holds within one perspective, even a count of rows', () => {
  const seen = entities.filter(({ dimensions }) => dimensions.some(({ name }) => name === 'perspective'))
  expect(seen.map(({ name }) => name)).toEqual(['invoice_ledger', 'invoice_match', 'payment_ageing'])
  const adding = seen.flatMap(({ name, metrics }) =>
    metrics.filter(({ within }) => !within.includes('perspective')).map(metric => `${name}.${metric.name}`),
  )
  expect(adding).toEqual([])
  for (const chart of chartsOf(entities).filter(one => seen.includes(one.entity)))
    expect([chart.title, chart.where]).toEqual([
      expect.stringContaining("client's view"),
      expect.stringContaining("perspective = 'client'"),
    ])
})

test('a mart added later is separated in the same way', () => {
  const mart = readMart({
    name: 'mart/a.sql',
    text: `-- What.\n-- Grain: one row per company.\n-- Question: Which?\n-- Sources: star.dim_company\n-- Measures: last stock_value; sum pieces; ratio c = stock_value / pieces\n-- Columns:\n--   company_id text key: The company.\n--   seen_date date key: The day.\n--   step integer key: The level.\n--   stock_value numeric(18,4): In stock.\n--   pieces bigint: In pieces.\n--   c double precision: By piece.\nselect 1;\n`,
  })
  const [entity] = semanticCatalogue([mart])
  const within = Object.fromEntries(entity?.metrics.map(one => [one.name, [...one.within].sort()]) ?? [])
  expect(within).toEqual({
    records: [],
    stock_value: ['currency', 'seen_date', 'step'],
    pieces: ['step'],
    c: ['currency', 'seen_date', 'step'],
  })
})

test('every chart, in each tool, and every question groups by it', () => {
  const charts = chartsOf(entities)
  const dashboard = JSON.parse(textOf(grafanaBundle(request), 'dashboards/muster-workforce.json'))
  const zip = supersetBundle(request).find(({ path }) => path === 'muster-superset.zip')
  const files = Object.entries(unzipSync(zip?.content as Uint8Array))
  for (const chart of charts) {
    const within = new Set(chart.metrics.flatMap(metric => metric.within))
    const inGrafana = dashboard.panels.find(({ title }: { title: string }) => title === chart.title)
    const bytes = files.find(([path]) => path.endsWith(`/${chart.key}.yaml`))?.[1] ?? new Uint8Array()
    const inSuperset = parse(Buffer.from(bytes).toString())
    const columns = JSON.parse(inSuperset.query_context).queries[0].columns
    const drawn = [inSuperset.params.x_axis, ...inSuperset.params.groupby].filter(name => name !== undefined)
    for (const column of within) {
      for (const sql of [chartSql(chart, 'mart'), inGrafana.targets[0].rawSql])
        expect([chart.title, sql]).toEqual([
          chart.title,
          expect.stringMatching(new RegExp(`group by .*\\b${column}\\b`)),
        ])
      expect([chart.title, columns]).toEqual([chart.title, expect.arrayContaining([column])])
      expect([chart.title, drawn]).toEqual([chart.title, expect.arrayContaining([column])])
    }
  }
  expect(
    charts.flatMap(({ metrics }) => metrics).filter(({ within }) => within.length > 0).length,
  ).toBeGreaterThan(5)
  for (const { entity, metric } of held)
    if (entity.questionSql.includes(`${metric.sql} as ${metric.name}`))
      for (const column of metric.within)
        expect([entity.name, entity.questionSql]).toEqual([
          entity.name,
          expect.stringMatching(new RegExp(`group by .*\\b${column}\\b`)),
        ])
})

const guard = (columns: readonly string[], of = (name: string) => name): string =>
  `case when ${columns.map(name => `min(${of(name)}) = max(${of(name)})`).join(' and ')} then `

test('Superset: each such metric is empty over several', () => {
  const zip = supersetBundle(request).find(({ path }) => path === 'muster-datasets.zip')
  const files = Object.entries(unzipSync(zip?.content as Uint8Array))
  for (const { entity, metric } of held) {
    const bytes = files.find(([path]) => path.endsWith(`datasets/Muster/${entity.name}.yaml`))?.[1]
    const { metrics } = parse(Buffer.from(bytes ?? []).toString())
    const found = metrics.find((one: { metric_name: string }) => one.metric_name === metric.name)
    expect(found.expression).toBe(`${guard(metric.within)}${metric.sql} end`)
    expect(found.warning_text).toContain(metric.within[0])
  }
})

test('Cube: each such measure is an expression that is empty over several, and no sum', () => {
  const files = cubeBundle(request)
  const own = (name: string) => `{CUBE}.${name}`
  for (const { entity, metric } of held) {
    const [cube] = parse(textOf(files, `model/cubes/${entity.name}.yml`)).cubes
    const found = cube.measures.find((one: { name: string }) => one.name === metric.name)
    expect([entity.name, found.type]).toEqual([entity.name, 'number'])
    expect(found.sql.startsWith(guard(metric.within, own))).toBe(true)
    expect(found.meta.within).toEqual(metric.within)
  }
})

test('MetricFlow: every column that a metric must not mix can be grouped by', () => {
  const files = metricflowBundle(request)
  const models = parse(textOf(files, 'models/muster/semantic_models.yml')).semantic_models
  const missing = held.flatMap(({ entity, metric }) => {
    const { dimensions, entities } = models.find((one: Named) => one.name === `muster_${entity.name}`)
    const names = [...dimensions, ...entities].map(({ name, expr }: Named) => expr ?? name)
    return metric.within.filter(name => !names.includes(name)).map(name => `${entity.name}.${name}`)
  })
  expect([...new Set(missing)]).toEqual([])
})

test('MetricFlow: each such metric is guarded, and of a day it takes the last', () => {
  const files = metricflowBundle(request)
  const models = parse(textOf(files, 'models/muster/semantic_models.yml')).semantic_models
  const { metrics } = parse(textOf(files, 'models/muster/metrics.yml'))
  for (const { entity, metric } of held) {
    const model = models.find((one: { name: string }) => one.name === `muster_${entity.name}`)
    const time = model.defaults.agg_time_dimension
    const found = metrics.find((one: { name: string }) => one.name === `${entity.name}_${metric.name}`)
    const isStock = ({ aggregation }: EntityMetric): boolean =>
      aggregation === 'first' || aggregation === 'last'
    const parts = entity.metrics.filter(({ name }) => partsOf(metric).includes(name))
    const isOfStocks = parts.length > 0 ? parts.every(isStock) : isStock(metric)
    const guarded = metric.within.filter(name => name !== time || !isOfStocks)
    const expr = `case when ${guarded.map(name => `min_${name} = max_${name}`).join(' and ')} then figure end`
    if (guarded.length > 0) expect([metric.name, found.type_params.expr]).toEqual([metric.name, expr])
    const measure = model.measures.find(
      (one: { name: string }) => one.name === `${entity.name}_${metric.name}`,
    )
    if (isStock(metric))
      expect(measure.non_additive_dimension).toEqual({
        name: time,
        window_choice: metric.aggregation === 'first' ? 'min' : 'max',
      })
  }
})

test('the data contract says it of each', () => {
  const contract = parse(textOf(odcsBundle(request), 'muster.odcs.yaml'))
  // A count is no column.
  for (const { entity, metric } of held.filter(
    one => !['count', 'distinct'].includes(one.metric.aggregation),
  )) {
    const object = contract.schema.find((one: { name: string }) => one.name === entity.name)
    const property = object.properties.find((one: { name: string }) => one.name === metric.name)
    expect(property.customProperties).toContainEqual({ property: 'within', value: metric.within })
  }
})
