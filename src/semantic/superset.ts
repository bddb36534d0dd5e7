/** An import bundle of Superset: the database, a dataset for each mart with its metrics, and a dashboard. */
import { createHash } from 'node:crypto'
import { zipSync } from 'fflate'
import { type BundleFile, type BundleRequest, marker, yamlText } from './bundle.ts'
import { type Chart, chartsOf } from './charts.ts'
import type { Entity, Metric } from './entity.ts'
import { dashboardOf } from './superset-layout.ts'

const version = '1.0.0'

/** The same thing has the same id in every bundle: an import replaces what an earlier one made. */
function stableId(name: string): string {
  const hex = createHash('sha256').update(`muster ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const databaseId = stableId('database')
const datasetId = ({ name }: Entity): string => stableId(`dataset ${name}`)
const chartId = ({ key }: Chart): string => stableId(`chart ${key}`)

const sqlTypes: Readonly<Record<string, string>> = {
  text: 'TEXT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
}

const warnings: Partial<Record<Metric['aggregation'], string>> = {
  last: 'Adds up over groups, not over time: show it by week.',
}

const metricOf = ({ name, title, description, sql, format, aggregation }: Metric): object => ({
  metric_name: name,
  verbose_name: title,
  metric_type: aggregation,
  expression: sql.toUpperCase() === 'COUNT(*)' ? 'COUNT(*)' : sql,
  description,
  d3format: format,
  ...(warnings[aggregation] !== undefined && { warning_text: warnings[aggregation] }),
})

const datasetOf = (entity: Entity, schema: string): object => ({
  table_name: entity.name,
  main_dttm_col: entity.time?.column ?? null,
  description: `${entity.description} ${entity.question}`,
  schema,
  filter_select_enabled: true,
  uuid: datasetId(entity),
  columns: entity.dimensions.map(({ name, title, description, type, role }) => ({
    column_name: name,
    verbose_name: title,
    description,
    type: sqlTypes[type] ?? type.toUpperCase(),
    is_dttm: role === 'time',
    is_active: true,
    groupby: true,
    filterable: true,
  })),
  metrics: entity.metrics.map(metricOf),
  version,
  database_uuid: databaseId,
})

const kinds: Readonly<Record<Chart['kind'], string>> = {
  line: 'echarts_timeseries_line',
  bar: 'echarts_timeseries_bar',
  table: 'table',
  number: 'big_number_total',
}

/** Most rows of a chart: a bar for each of them can be read. */
const mostRows = 1000

function paramsOf(chart: Chart): object {
  const metrics = chart.metrics.map(({ name }) => name)
  const filters = chart.where === undefined ? [] : [sqlFilter(chart.where)]
  const shared = { viz_type: kinds[chart.kind], adhoc_filters: filters, row_limit: mostRows }
  if (chart.kind === 'table')
    return { ...shared, query_mode: 'aggregate', groupby: chart.group ? [chart.group] : [], metrics }
  const x = chart.time ?? chart.group
  return {
    ...shared,
    x_axis: x,
    ...(chart.time && { granularity_sqla: chart.time, time_grain_sqla: null }),
    groupby: [],
    metrics,
    x_axis_sort_asc: chart.time !== undefined,
    y_axis_format: chart.metrics[0]?.format,
    show_legend: metrics.length > 1,
  }
}

const sqlFilter = (sql: string): object => ({ expressionType: 'SQL', clause: 'WHERE', sqlExpression: sql })

/** What the chart asks, so that its numbers can be had without a browser. */
function queryContext(chart: Chart): string {
  const columns = [chart.time, chart.group].filter(name => name !== undefined)
  return JSON.stringify({
    datasource: { id: 0, type: 'table' },
    force: false,
    queries: [
      {
        columns,
        metrics: chart.metrics.map(({ name }) => name),
        extras: { where: chart.where ?? '', having: '' },
        filters: [],
        orderby: [],
        row_limit: mostRows,
      },
    ],
    result_format: 'json',
    result_type: 'full',
  })
}

const chartFile = (chart: Chart): object => ({
  slice_name: chart.title,
  description: `${chart.entity.question} ${chart.entity.description}`,
  viz_type: kinds[chart.kind],
  params: paramsOf(chart),
  query_context: queryContext(chart),
  uuid: chartId(chart),
  version,
  dataset_uuid: datasetId(chart.entity),
})

const database = (uri: string): object => ({
  database_name: 'Muster',
  sqlalchemy_uri: uri,
  expose_in_sqllab: true,
  allow_run_async: false,
  allow_ctas: false,
  allow_cvas: false,
  allow_dml: false,
  uuid: databaseId,
  version,
})

/** Entries by path; the folder at the top tells who wrote them. */
function entries({ entities, place, version: program }: BundleRequest): Record<string, object> {
  const charts = chartsOf(entities)
  return {
    'metadata.yaml': { version, type: 'Dashboard', timestamp: '2026-01-01T00:00:00+00:00' },
    'databases/Muster.yaml': database(place.uri),
    ...Object.fromEntries(
      entities.map(entity => [`datasets/Muster/${entity.name}.yaml`, datasetOf(entity, place.schema)]),
    ),
    ...Object.fromEntries(charts.map(chart => [`charts/${chart.key}.yaml`, chartFile(chart)])),
    'dashboards/workforce.yaml': {
      ...dashboardOf(charts, chart => chartId(chart)),
      uuid: stableId('dashboard'),
      version,
      description: `Made from the marts by muster ${program}.`,
    },
  }
}

/** One ZIP, as Superset takes it; without times, so that the same marts give the same bytes. */
export function supersetBundle(request: BundleRequest): BundleFile[] {
  const files = Object.entries(entries(request)).map(
    ([path, tree]) => [`${marker}/${path}`, new TextEncoder().encode(yamlText(tree))] as const,
  )
  return [
    {
      path: 'muster-superset.zip',
      content: zipSync(Object.fromEntries(files), { mtime: new Date(1980, 0, 1) }),
    },
  ]
}
