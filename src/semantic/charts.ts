/** Declares the charts of the dashboards for Superset and Grafana, without how each tool draws them. */
import { type Entity, type EntityMetric, idBeside, splitOf } from './entity.ts'

/** Records of one name are apart: rows are grouped by the id, and the name is shown. */
export interface ChartGroup {
  readonly by: string
  readonly name: string
  readonly title: string
  /** Orders groups that have an order of their own, such as ages; the others are ranked by the first metric. */
  readonly order?: string
}

export interface Chart {
  /** Short, and the same in every version: tools recognize a chart by it. */
  readonly key: string
  readonly title: string
  readonly section: string
  readonly kind: 'line' | 'bar' | 'table' | 'number'
  readonly entity: Entity
  readonly metrics: readonly EntityMetric[]
  readonly group?: ChartGroup
  readonly time?: string
  /** Further columns to group by because a figure must not mix their values: the currency of amounts. */
  readonly split: readonly string[]
  /** Condition on columns of the entity. */
  readonly where?: string
}

interface WantedChart {
  readonly section: string
  readonly title: string
  readonly kind: Chart['kind']
  readonly of: string
  readonly metrics: readonly string[]
  /** A name is grouped by the id beside it. */
  readonly group?: string
  /** Column whose lowest value orders the groups. */
  readonly order?: string
  readonly byTime?: true
  /** A column that must be true. */
  readonly only?: string
}

/** The most common questions, by measures that marts declare; a chart without its mart or measures is left out. */
const wanted: readonly WantedChart[] = [
  {
    section: 'Today',
    title: 'Hours since each resource was read',
    kind: 'table',
    of: 'freshness',
    metrics: ['hours_since_read'],
    group: 'resource',
  },
  {
    section: 'Today',
    title: 'Rows and failed checks by resource',
    kind: 'table',
    of: 'data_health',
    metrics: ['live_rows', 'failed_checks', 'unexplained_figures'],
    group: 'resource',
  },
  {
    section: 'Cost',
    title: 'Labour charge by week',
    kind: 'line',
    of: 'labour_spend_weekly',
    metrics: ['charge_value', 'pay_value'],
    byTime: true,
    only: 'is_settled_week',
  },
  {
    section: 'Cost',
    title: 'Labour charge by agency',
    kind: 'bar',
    of: 'labour_spend_weekly',
    metrics: ['charge_value'],
    group: 'agency_name',
    only: 'is_settled_week',
  },
  {
    section: 'Cost',
    title: 'Hours by project',
    kind: 'bar',
    of: 'labour_spend_weekly',
    metrics: ['net_hours'],
    group: 'project_name',
    only: 'is_settled_week',
  },
  {
    section: 'Cost',
    title: 'Charge by cost code',
    kind: 'bar',
    of: 'cost_code_spend',
    metrics: ['charge_value'],
    group: 'cost_code_name',
    only: 'is_settled_week',
  },
  {
    section: 'Hiring',
    title: 'Days to fill by month',
    kind: 'line',
    of: 'time_to_fill_by_month',
    metrics: ['average_days'],
    byTime: true,
    only: 'is_complete_month',
  },
  {
    section: 'Hiring',
    title: 'Candidates by agency',
    kind: 'table',
    of: 'requisition_funnel',
    metrics: ['submitted', 'interviewed', 'assigned'],
    group: 'agency_name',
  },
  {
    section: 'Hours',
    title: 'Worker weeks over 48 hours by week',
    kind: 'line',
    of: 'worker_week',
    metrics: ['records'],
    byTime: true,
    only: 'is_over_threshold',
  },
  {
    section: 'Hours',
    title: 'Assignments and full-time equivalents by week',
    kind: 'line',
    of: 'headcount_weekly',
    metrics: ['active_end', 'fte'],
    byTime: true,
    only: 'is_settled_week',
  },
  {
    section: 'Money',
    title: 'Open and long overdue by month',
    kind: 'line',
    of: 'payment_ageing',
    metrics: ['open_value', 'pending_value', 'overdue_over_90_value'],
    byTime: true,
    only: 'is_complete_month',
  },
  {
    section: 'Money',
    title: 'Worked and not invoiced by age',
    kind: 'bar',
    of: 'unbilled_accrual',
    metrics: ['accrued_value'],
    group: 'age_band',
    order: 'age_days',
  },
  {
    section: 'Money',
    title: 'Invoiced by agency',
    kind: 'table',
    of: 'invoice_ledger',
    metrics: ['subtotal_value', 'outstanding_value'],
    group: 'agency_name',
  },
  {
    section: 'Suppliers',
    title: 'Supplier scorecard',
    kind: 'table',
    of: 'supplier_scorecard',
    metrics: ['received', 'on_time_ratio', 'net_hours', 'charge_to_card_ratio'],
    group: 'agency_name',
    only: 'is_complete_month',
  },
  {
    section: 'Compliance',
    title: 'Obligations by state',
    kind: 'bar',
    of: 'compliance_register',
    metrics: ['records'],
    group: 'state',
  },
]

function groupOf({ dimensions }: Entity, { group: name, order }: WantedChart): ChartGroup | undefined {
  const found = dimensions.find(one => one.name === name)
  if (!found) return undefined
  return {
    by: idBeside(found.name, dimensions),
    name: found.name,
    title: found.title,
    ...(order !== undefined && { order: `min(${order})` }),
  }
}

function chartOf(entities: ReadonlyMap<string, Entity>, one: WantedChart): Chart[] {
  const entity = entities.get(one.of)
  const metrics = one.metrics.flatMap(name => entity?.metrics.find(metric => metric.name === name) ?? [])
  const has = (column: string | undefined): boolean =>
    column === undefined || entity?.dimensions.some(({ name }) => name === column) === true
  if (!entity || metrics.length === 0 || !has(one.group) || !has(one.only)) return []
  const group = groupOf(entity, one)
  const time = one.byTime && entity.time?.column
  const shown = entity.separations.map(({ column, shown: value }) => `${column} = '${value}'`)
  const where = [one.only, ...shown].filter(part => part !== undefined).join(' and ')
  return [
    {
      key: one.title.toLowerCase().replaceAll(/\W+/g, '-'),
      title: [one.title, ...entity.separations.map(({ shown: value }) => `${value}'s view`)].join(', '),
      section: one.section,
      kind: one.kind,
      entity,
      metrics,
      ...(group !== undefined && { group }),
      ...(time !== undefined && { time }),
      split: splitOf(metrics, [group?.by, time]),
      ...(where !== '' && { where }),
    },
  ]
}

export function chartsOf(entities: readonly Entity[]): Chart[] {
  const byName = new Map(entities.map(entity => [entity.name, entity]))
  return wanted.flatMap(one => chartOf(byName, one))
}

export const sectionsOf = (charts: readonly Chart[]): string[] => [
  ...new Set(charts.map(({ section }) => section)),
]

/** Columns that a chart groups by, in order. */
export const groupsOf = ({ time, group, split }: Chart): string[] =>
  [time, group?.by, ...split].filter(name => name !== undefined)

/** The order of the groups: over time, by rank, or that of their own. */
export const rankOf = ({ time, group, metrics }: Chart): string =>
  time === undefined ? `${group?.order ?? `${metrics[0]?.sql} desc`} nulls last` : time

/** The columns that a reader sees, with their titles; a legend has no `charge_value`. */
export function chartColumns({
  time,
  group,
  split,
  entity,
  metrics,
}: Chart): { sql: string; title: string }[] {
  const titles = new Map(entity.dimensions.map(({ name, title }) => [name, title]))
  const titled = (name: string) => ({ sql: name, title: titles.get(name) ?? name })
  return [
    ...(time === undefined ? [] : [titled(time)]),
    ...(group === undefined
      ? []
      : [{ sql: group.by === group.name ? group.name : `max(${group.name})`, title: group.title }]),
    ...split.map(titled),
    ...metrics.map(({ sql, title }) => ({ sql, title })),
  ]
}

/** Selects the rows of a chart; a tool that builds its own query must get the same rows. */
export function chartSql(chart: Chart, schema: string): string {
  const by = groupsOf(chart)
  const figures = chart.metrics.map(({ name, sql }) => `${sql} as ${name}`)
  const { group } = chart
  const name = group && group.by !== group.name ? [`max(${group.name}) as ${group.name}`] : []
  const where = chart.where === undefined ? '' : `\nwhere ${chart.where}`
  const grouped =
    by.length === 0 ? '' : `\ngroup by ${by.join(', ')}\norder by ${[rankOf(chart), ...by].join(', ')}`
  return `select ${[...by, ...name, ...figures].join(', ')}\nfrom ${schema}.${chart.entity.name}${where}${grouped}`
}
