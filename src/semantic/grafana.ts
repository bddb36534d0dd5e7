/** Writes the provisioning of Grafana: the data source, and a dashboard with a row for each section. */
import { type BundleFile, type BundleRequest, marker, yamlFile } from './bundle.ts'
import { type Chart, chartSql, chartsOf, sectionsOf } from './charts.ts'
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

/** Joins the name and its currency, as a bar has one label. */
function labelled(chart: Chart, sql: string): string {
  const { group, split, kind } = chart
  if (kind !== 'bar' || group === undefined || split.length === 0) return sql
  const names = [group, ...split].join(', ')
  return sql.replace(`select ${names},`, () => `select concat_ws(', ', ${names}) as ${group},`)
}

/** Grafana uses the column called time for the axis, and replaces its macro by the chosen range. */
export function grafanaSql(chart: Chart, schema: string): string {
  const sql = labelled(chart, chartSql(chart, schema))
  if (chart.time === undefined) return sql
  const { time } = chart
  const filter = `$__timeFilter(${time})`
  const where = chart.where === undefined ? `\nwhere ${filter}` : `\nwhere ${chart.where} and ${filter}`
  return sql
    .replace(`select ${time}`, () => `select cast(${time} as timestamp) as "time"`)
    .replace(/(\nwhere [^\n]*)?\ngroup by/, () => `${where}\ngroup by`)
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
