/**
 * Writes import bundles of Superset: the database with a dataset for each mart and its metrics, with or without a
 * dashboard.
 */
import { createHash } from 'node:crypto'
import { zipSync } from 'fflate'
import { type BundleFile, type BundleRequest, marker, yamlText } from './bundle.ts'
import { type Chart, chartsOf, groupsOf, sectionsOf } from './charts.ts'
import { type Entity, type EntityMetric, guardedSql, withinWords } from './entity.ts'

interface LayoutNode {
  readonly id: string
  readonly type: string
  readonly children: string[]
  readonly meta?: object
  readonly parents?: string[]
}

/** A dashboard has twelve columns. */
const chartWidth = 6
const chartHeight = 50

function rowsOf(charts: readonly Chart[]): Chart[][] {
  const rows: Chart[][] = []
  for (let from = 0; from < charts.length; from += 2) rows.push(charts.slice(from, from + 2))
  return rows
}

/** The title of a section, and its charts below in rows of two. */
function sectionNodes(
  section: string,
  charts: readonly Chart[],
  idOf: (chart: Chart) => string,
): LayoutNode[] {
  const header: LayoutNode = {
    id: `HEADER-${section}`,
    type: 'HEADER',
    children: [],
    meta: { text: section, headerSize: 'MEDIUM_HEADER', background: 'BACKGROUND_TRANSPARENT' },
    parents: ['ROOT_ID', 'GRID_ID'],
  }
  const rows = rowsOf(charts).flatMap((row, place): LayoutNode[] => {
    const id = `ROW-${section}-${place}`
    const shown = row.map(
      (chart): LayoutNode => ({
        id: `CHART-${chart.key}`,
        type: 'CHART',
        children: [],
        meta: {
          chartId: 0,
          height: chartHeight,
          width: chartWidth,
          sliceName: chart.title,
          uuid: idOf(chart),
        },
        parents: ['ROOT_ID', 'GRID_ID', id],
      }),
    )
    return [
      {
        id,
        type: 'ROW',
        children: shown.map(one => one.id),
        meta: { background: 'BACKGROUND_TRANSPARENT' },
        parents: ['ROOT_ID', 'GRID_ID'],
      },
      ...shown,
    ]
  })
  return [header, ...rows]
}

function dashboardOf(charts: readonly Chart[], idOf: (chart: Chart) => string): object {
  const nodes = sectionsOf(charts).flatMap(section =>
    sectionNodes(
      section,
      charts.filter(chart => chart.section === section),
      idOf,
    ),
  )
  const grid: LayoutNode = {
    id: 'GRID_ID',
    type: 'GRID',
    children: nodes.filter(({ type }) => type !== 'CHART').map(({ id }) => id),
    parents: ['ROOT_ID'],
  }
  const root: LayoutNode = { id: 'ROOT_ID', type: 'ROOT', children: ['GRID_ID'] }
  return {
    dashboard_title: 'Workforce',
    slug: 'muster-workforce',
    css: '',
    published: true,
    position: {
      DASHBOARD_VERSION_KEY: 'v2',
      ...Object.fromEntries([root, grid, ...nodes].map(node => [node.id, node])),
    },
    metadata: {},
  }
}

const version = '1.0.0'

/** The same thing has the same id in every bundle: an import replaces what an earlier one made. */
function stableId(name: string): string {
  const hex = createHash('sha256').update(`muster ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const databaseId = stableId('database')
const datasetId = ({ name }: Entity): string => stableId(`dataset ${name}`)
/** An import of a dashboard keeps existing charts, so a changed chart needs another id. */
const chartId = (chart: Chart): string =>
  stableId(
    `chart ${chart.key} ${JSON.stringify([paramsOf(chart), queryContext(chart), datasetId(chart.entity)])}`,
  )

const sqlTypes: Readonly<Record<string, string>> = {
  text: 'TEXT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
}

const metricOf = (metric: EntityMetric): object => ({
  metric_name: metric.name,
  verbose_name: metric.title,
  metric_type: metric.aggregation,
  expression: guardedSql(metric),
  description: metric.description,
  d3format: metric.format,
  ...(metric.within.length > 0 && { warning_text: withinWords(metric) }),
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

/** A bar has one label, so records of one name would be one bar: they are rows of a table that draws bars. */
function vizTypeOf({ kind, group }: Chart): string {
  if (kind === 'line') return 'echarts_timeseries_line'
  if (kind === 'number') return 'big_number_total'
  return kind === 'table' || group?.by !== group?.name || group?.order !== undefined
    ? 'table'
    : 'echarts_timeseries_bar'
}

/** Max rows of a chart. */
const maxRows = 1000

/** The name beside the id by which rows are grouped. */
const columnsOf = (chart: Chart): string[] => {
  const { time, group, split } = chart
  if (group === undefined || group.by === group.name) return groupsOf(chart)
  return [time, group.name, ...split, group.by].filter(name => name !== undefined)
}

const metricSql = (sqlExpression: string, label: string): object => ({
  expressionType: 'SQL',
  sqlExpression,
  label,
  hasCustomLabel: true,
  optionName: `metric_${label.toLowerCase().replaceAll(/\W+/g, '_')}`,
})

/** Under their titles, as a legend shows the name of a metric. */
const metricsOf = ({ metrics }: Chart): object[] =>
  metrics.map(metric => metricSql(guardedSql(metric), metric.title))

/** What ranks the rows: the first metric from the highest on, or the order of the groups. */
function rankedBy(chart: Chart): { metric: object; isAscending: boolean } | undefined {
  const [first] = metricsOf(chart)
  if (chart.time !== undefined || first === undefined) return undefined
  const { order, title } = chart.group ?? {}
  return order === undefined
    ? { metric: first, isAscending: false }
    : { metric: metricSql(order, `Order of ${title}`), isAscending: true }
}

function paramsOf(chart: Chart): object {
  const metrics = metricsOf(chart)
  const rank = rankedBy(chart)
  const filters = chart.where === undefined ? [] : [sqlFilter(chart.where)]
  const type = vizTypeOf(chart)
  const shared = { viz_type: type, adhoc_filters: filters, row_limit: maxRows }
  if (type === 'table')
    return {
      ...shared,
      query_mode: 'aggregate',
      groupby: columnsOf(chart),
      metrics,
      ...(rank && { timeseries_limit_metric: rank.metric, order_desc: !rank.isAscending }),
      show_cell_bars: true,
    }
  const x = chart.time ?? chart.group?.by
  return {
    ...shared,
    x_axis: x,
    ...(chart.time && { granularity_sqla: chart.time, time_grain_sqla: null }),
    groupby: chart.split,
    metrics,
    ...(rank && { x_axis_sort: chart.metrics[0]?.title }),
    x_axis_sort_asc: rank === undefined,
    y_axis_format: chart.metrics[0]?.format,
    show_legend: metrics.length > 1 || chart.split.length > 0,
  }
}

const sqlFilter = (sql: string): object => ({ expressionType: 'SQL', clause: 'WHERE', sqlExpression: sql })

/** The query of the chart, so that clients get its numbers without a browser. */
function queryContext(chart: Chart): string {
  const rank = rankedBy(chart)
  return JSON.stringify({
    datasource: { id: 0, type: 'table' },
    force: false,
    queries: [
      {
        columns: columnsOf(chart),
        metrics: metricsOf(chart),
        extras: { where: chart.where ?? '', having: '' },
        filters: [],
        orderby: rank === undefined ? [] : [[rank.metric, rank.isAscending]],
        row_limit: maxRows,
      },
    ],
    result_format: 'json',
    result_type: 'full',
  })
}

const chartFile = (chart: Chart): object => ({
  slice_name: chart.title,
  description: `${chart.entity.question} ${chart.entity.description}`,
  viz_type: vizTypeOf(chart),
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
  extra: {},
  uuid: databaseId,
  version,
})

type Trees = Readonly<Record<string, object>>

const metadata = (type: string): Trees => ({
  'metadata.yaml': { version, type, timestamp: '2026-01-01T00:00:00+00:00' },
})

const datasets = ({ entities, place }: BundleRequest): Trees => ({
  'databases/Muster.yaml': database(place.uri),
  ...Object.fromEntries(
    entities.map(entity => [`datasets/Muster/${entity.name}.yaml`, datasetOf(entity, place.schema)]),
  ),
})

function dashboard({ entities, version: program }: BundleRequest): Trees {
  const charts = chartsOf(entities)
  return {
    ...Object.fromEntries(charts.map(chart => [`charts/${chart.key}.yaml`, chartFile(chart)])),
    'dashboards/workforce.yaml': {
      ...dashboardOf(charts, chart => chartId(chart)),
      uuid: stableId('dashboard'),
      version,
      description: `Made from the marts by muster ${program}.`,
    },
  }
}

/**
 * A zip with one top folder that names its writer, as Superset expects. Without times, so that equal marts give equal
 * bytes.
 */
function zip(path: string, trees: Trees): BundleFile {
  const files = Object.entries(trees).map(
    ([name, tree]) => [`${marker}/${name}`, new TextEncoder().encode(yamlText(tree))] as const,
  )
  return { path, content: zipSync(Object.fromEntries(files), { mtime: new Date(1980, 0, 1) }) }
}

/** Two bundles: an import of datasets replaces earlier ones; an import of a dashboard keeps them. */
export const supersetBundle = (request: BundleRequest): BundleFile[] => [
  zip('muster-datasets.zip', { ...metadata('SqlaTable'), ...datasets(request) }),
  zip('muster-superset.zip', { ...metadata('Dashboard'), ...datasets(request), ...dashboard(request) }),
]
