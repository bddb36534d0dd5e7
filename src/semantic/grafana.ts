/** Writes the provisioning of Grafana: the data source, and a dashboard with a row for each section. */
import { type BundleFile, type BundleRequest, marker, yamlFile } from './bundle.ts'
import { type Chart, chartColumns, chartsOf, groupsOf, rankOf, sectionsOf } from './charts.ts'
import type { EntityMetric } from './entity.ts'

const sourceId = 'muster'
const source = { type: 'grafana-postgresql-datasource', uid: sourceId } as const

/** The password comes from the environment of Grafana. */
const dataSources = ({ place }: BundleRequest): BundleFile =>
  yamlFile('datasources/muster.yaml', {
    apiVersion: 1,
    datasources: [
      {
        name: 'Muster',
        uid: sourceId,
        type: source.type,
        access: 'proxy',
        url: `${place.host}:${place.port}`,
        user: '$MUSTER_BI_USER',
        secureJsonData: { password: '$MUSTER_BI_PASSWORD' },
        jsonData: { database: place.database, sslmode: '$MUSTER_BI_SSLMODE', postgresVersion: 1500 },
        editable: false,
      },
    ],
  })

const provider = (): BundleFile =>
  yamlFile('dashboards/muster.yaml', {
    apiVersion: 1,
    providers: [
      {
        name: 'Muster',
        folder: 'Workforce',
        type: 'file',
        allowUiUpdates: false,
        options: { path: '/etc/grafana/provisioning/dashboards', foldersFromFilesStructure: false },
      },
    ],
  })

const units: Readonly<Record<EntityMetric['unit'], string>> = {
  currency: 'locale',
  hours: 'h',
  days: 'd',
  weeks: 'short',
  share: 'percentunit',
  count: 'short',
  number: 'short',
}

const kinds: Readonly<Record<Chart['kind'], string>> = {
  line: 'timeseries',
  bar: 'barchart',
  table: 'table',
  number: 'stat',
}

const quoted = (title: string): string => `"${title}"`

/** The label of a bar joins the name and its currency. */
function shownColumns(chart: Chart): string[] {
  const { group, split, kind } = chart
  const columns = chartColumns(chart)
  if (kind !== 'bar' || group === undefined || split.length === 0)
    return columns.map(({ sql, title }, place) =>
      place === 0 && chart.time !== undefined
        ? `cast(${sql} as timestamp) as "time"`
        : `${sql} as ${quoted(title)}`,
    )
  const [label, ...others] = columns
  const figures = others.slice(split.length)
  return [
    `concat_ws(', ', ${[label?.sql, ...split].join(', ')}) as ${quoted(group.title)}`,
    ...figures.map(({ sql, title }) => `${sql} as ${quoted(title)}`),
  ]
}

/** Grafana uses the column called time for the axis, and replaces its macro by the chosen range. */
export function grafanaSql(chart: Chart, schema: string): string {
  const by = groupsOf(chart)
  const filter = chart.time === undefined ? [] : [`$__timeFilter(${chart.time})`]
  const where = [chart.where, ...filter].filter(part => part !== undefined).join(' and ')
  return [
    `select ${shownColumns(chart).join(', ')}`,
    `from ${schema}.${chart.entity.name}`,
    ...(where === '' ? [] : [`where ${where}`]),
    ...(by.length === 0
      ? []
      : [`group by ${by.join(', ')}`, `order by ${[rankOf(chart), ...by].join(', ')}`]),
  ].join('\n')
}

interface PanelBox {
  readonly id: number
  readonly x: number
  readonly y: number
}

/** Grafana's grid has 24 columns. */
const width = 12
const height = 9

const panel = (chart: Chart, { id, x, y }: PanelBox, schema: string): object => ({
  id,
  title: chart.title,
  description: `${chart.entity.question} ${chart.entity.description}`,
  type: kinds[chart.kind],
  datasource: source,
  gridPos: { x, y, w: width, h: height },
  fieldConfig: { defaults: { unit: units[chart.metrics[0]?.unit ?? 'number'] }, overrides: [] },
  targets: [
    {
      refId: 'A',
      datasource: source,
      format: chart.time === undefined ? 'table' : 'time_series',
      rawQuery: true,
      rawSql: grafanaSql(chart, schema),
    },
  ],
})

function panels(charts: readonly Chart[], schema: string): object[] {
  let y = 0
  let id = 0
  return sectionsOf(charts).flatMap(section => {
    id += 1
    const row = {
      id,
      title: section,
      type: 'row',
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    }
    y += 1
    const own = charts.filter(chart => chart.section === section)
    const shown = own.map((chart, place) => {
      id += 1
      return panel(chart, { id, x: (place % 2) * width, y: y + Math.floor(place / 2) * height }, schema)
    })
    y += Math.ceil(own.length / 2) * height
    return [row, ...shown]
  })
}

/** PostgreSQL only: Grafana brings no data source for DuckDB. */
export const grafanaBundle = (request: BundleRequest): BundleFile[] => [
  dataSources(request),
  provider(),
  {
    path: 'dashboards/muster-workforce.json',
    content: `${JSON.stringify(
      {
        description: `${marker}: changes by hand are lost`,
        uid: 'muster-workforce',
        title: 'Workforce',
        tags: ['muster'],
        timezone: 'utc',
        schemaVersion: 39,
        editable: false,
        time: { from: 'now-1y', to: 'now' },
        refresh: '',
        panels: panels(chartsOf(request.entities), request.place.schema),
      },
      undefined,
      2,
    )}\n`,
  },
]
