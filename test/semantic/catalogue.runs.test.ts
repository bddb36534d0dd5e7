/** The catalogue as each format writes it, as far as it can be told without the tool: a schema, names, ids, one ZIP. */
import { readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import ajvFormats from 'ajv-formats'
import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readMarts } from '../../src/marts/mart.ts'
import { partsOf } from '../../src/marts/measures.ts'
import { marker, type WarehousePlace } from '../../src/semantic/bundle.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { chartSql, chartsOf } from '../../src/semantic/charts.ts'
import { dbtBundle } from '../../src/semantic/dbt.ts'
import { formats } from '../../src/semantic/formats.ts'
import { supersetBundle } from '../../src/semantic/superset.ts'

const entities = semanticCatalogue(readMarts())
const byName = new Map(entities.map(entity => [entity.name, entity]))
const server: WarehousePlace = {
  kind: 'server',
  uri: 'postgresql+psycopg2://muster_bi@db/muster',
  host: 'db',
  port: 5432,
  database: 'muster',
  schema: 'acme_mart',
}
const file: WarehousePlace = { ...server, kind: 'file', uri: 'duckdb:////tmp/a.duckdb', schema: 'mart' }

test('the data contract keeps the schema of its standard, for both engines', () => {
  const schema = JSON.parse(readFileSync(new URL('odcs-v3.1.0.schema.json', import.meta.url), 'utf8'))
  const ajv = new Ajv2019({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  const validate = ajv.compile(schema)
  const odcs = formats.find(({ name }) => name === 'odcs')
  for (const place of [server, file]) {
    const [contract] = odcs?.files({ entities, place, version: '1.2.3' }) ?? []
    const tree = parse(String(contract?.content))
    validate(tree)
    expect(validate.errors ?? []).toEqual([])
    expect(tree.schema).toHaveLength(entities.length)
    expect(validate({ ...tree, status: undefined, kind: 'Nothing' })).toBe(false)
  }
})

test('every measure is one that may be added up, averaged or divided; none is of a table that mixes groupings', () => {
  expect(byName.get('time_to_fill')?.metrics.map(({ name }) => name)).toEqual(['records'])
  const days = byName.get('time_to_fill_by_agency')?.metrics.find(({ name }) => name === 'average_days')
  expect(days).toMatchObject({
    aggregation: 'ratio',
    numerator: 'within_bounds_days',
    denominator: 'within_bounds_count',
    unit: 'days',
  })
  expect(byName.get('headcount_weekly')?.metrics.find(({ name }) => name === 'active_end')?.aggregation).toBe(
    'last',
  )
  const names = byName.get('cost_code_spend')?.metrics.map(({ name }) => name) ?? []
  // The hours of the whole week and project stand in every row of it.
  expect(names).not.toContain('project_hours')
  expect(names).not.toContain('hours_share')
  for (const { metrics, dimensions } of entities)
    for (const metric of metrics)
      for (const part of [metric.column, metric.weight, metric.period, ...partsOf(metric)])
        if (part !== undefined) expect(dimensions.map(({ name }) => name)).toContain(part)
})

test('every entity is described, has a question with its SQL, and joins what there is', () => {
  for (const { name, description, question, questionSql, joins, dimensions } of entities) {
    expect([name, description]).toEqual([name, expect.stringMatching(/^One row.*\.$/s)])
    expect([name, question]).toEqual([name, expect.stringMatching(/\?$/)])
    expect(questionSql).toContain(`mart.${name}`)
    for (const one of dimensions)
      expect([name, one.name, one.description]).toEqual([name, one.name, expect.stringMatching(/\.$/)])
    for (const { entity, target } of joins)
      expect(byName.get(entity)?.dimensions.map(one => one.name)).toContain(target)
  }
})

test.each(formats.map(format => [format.name, format] as const))(
  '%s: files of their own names, marked as ours, the same each time',
  (_, format) => {
    for (const place of [server, file]) {
      const made = format.files({ entities, place, version: '1.2.3' })
      expect(new Set(made.map(({ path }) => path)).size).toBe(made.length)
      for (const { path, content } of made) {
        expect(Buffer.from(content).subarray(0, 4096).includes(marker)).toBe(true)
        const texts = path.endsWith('.zip')
          ? Object.values(unzipSync(content as Uint8Array)).map(bytes => Buffer.from(bytes).toString())
          : /\.ya?ml$/.test(path)
            ? [String(content)]
            : []
        // Tools in Python read YAML 1.1, in which a bare time, yes or 1_000 is no text.
        for (const text of texts) expect(parse(text, { version: '1.1' })).toEqual(parse(text))
      }
      expect(format.files({ entities, place, version: '1.2.3' })).toEqual(made)
    }
  },
)

test('the bundle of Superset has a dataset for each entity, and charts that name what there is', () => {
  const zip = supersetBundle({ entities, place: server, version: '1.2.3' }).at(-1)
  const files = unzipSync(zip?.content as Uint8Array)
  const trees = new Map(
    Object.entries(files).map(([path, bytes]) => [
      path.slice(marker.length + 1),
      parse(Buffer.from(bytes).toString()),
    ]),
  )
  const datasets = [...trees].filter(([path]) => path.startsWith('datasets/'))
  expect(datasets).toHaveLength(entities.length)
  const charts = [...trees].filter(([path]) => path.startsWith('charts/'))
  expect(charts).toHaveLength(chartsOf(entities).length)
  expect(charts.length).toBeGreaterThanOrEqual(12)
  for (const [, chart] of charts) {
    const dataset = datasets.find(([, one]) => one.uuid === chart.dataset_uuid)?.[1]
    const expressions = dataset.metrics.map((one: { expression: string }) => one.expression)
    const drawn = chart.params.metrics.map((one: { sqlExpression: string }) => one.sqlExpression)
    expect(expressions).toEqual(expect.arrayContaining(drawn))
    // A legend shows words, and bars are ranked.
    for (const { label } of chart.params.metrics) expect(label).toMatch(/^[A-Z][^_]*$/)
    const { x_axis_sort: rank, timeseries_limit_metric: limit, granularity_sqla: time } = chart.params
    expect([chart.slice_name, rank ?? limit ?? time]).toEqual([chart.slice_name, expect.anything()])
    expect(dataset.schema).toBe('acme_mart')
  }
  const shown = JSON.stringify(trees.get('dashboards/workforce.yaml'))
  for (const [, chart] of charts) expect(shown).toContain(chart.uuid)
})

test('records of one name are apart: charts and questions group by the id and show the name', () => {
  const named = chartsOf(entities).filter(({ group }) => group?.name.endsWith('_name'))
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter(({ group }) => group?.by !== group?.name.replace(/_name$/, '_id'))).toEqual([])
  for (const chart of named) expect(chartSql(chart, 'mart')).toMatch(/max\(\w+_name\) as \w+_name/)
  const asked = entities.filter(({ questionSql }) => /group by/.test(questionSql))
  const merged = asked.filter(({ questionSql }) => /group by [^\n]*(?<!table)_name\b/.test(questionSql))
  expect(merged.map(({ name }) => name)).toEqual([])
})

test('only the mart that always has rows is tested for freshness, and dbt writes no file of ours', () => {
  const made = dbtBundle({ entities, place: file, version: '0' })
  const treeOf = (path: string) => parse(String(made.find(one => one.path === path)?.content))
  const [source] = treeOf('models/muster/sources.yml').sources
  const timed = source.tables.filter((one: { freshness?: object }) => one.freshness !== undefined)
  expect(timed.map(({ name, loaded_at_field: at }: Record<string, string>) => [name, at])).toEqual([
    ['data_health', 'last_read_at'],
  ])
  const { warehouse } = treeOf('profiles.yml').muster.outputs
  expect(warehouse.path).not.toBe(file.database)
  expect(warehouse.attach).toEqual([{ path: file.database, alias: source.database, read_only: true }])
})
