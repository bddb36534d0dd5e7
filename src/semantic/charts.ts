/** The charts of the dashboards for Superset and Grafana: what is shown, apart from how each tool draws it. */
import type { Entity, Metric } from './entity.ts'
import { splitOf } from './within.ts'

export interface Chart {
  /** Short, and the same in every version: tools know a chart again by it. */
  readonly key: string
  readonly title: string
  readonly section: string
  readonly kind: 'line' | 'bar' | 'table' | 'number'
  readonly entity: Entity
  readonly metrics: readonly Metric[]
  readonly group?: string
  readonly time?: string
  /** Further columns to group by, of which a figure covers one value: the currency of amounts. */
  readonly split: readonly string[]
  /** Condition on columns of the entity. */
  readonly where?: string
}

interface Wanted {
  readonly section: string
  readonly title: string
  readonly kind: Chart['kind']
  readonly of: string
  readonly metrics: readonly string[]
  readonly group?: string
  readonly byTime?: true
  /** A column that must be true. */
  readonly only?: string
}

/** What people ask first, by the measures that marts declare; a chart whose mart or measures are not there is left out. */
const wanted: readonly Wanted[] = [
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
    only: 'is_complete_week',
  },
  {
    section: 'Cost',
    title: 'Labour charge by agency',
    kind: 'bar',
    of: 'labour_spend_weekly',
    metrics: ['charge_value'],
    group: 'agency_name',
    only: 'is_complete_week',
  },
  {
    section: 'Cost',
    title: 'Hours by project',
    kind: 'bar',
    of: 'labour_spend_weekly',
    metrics: ['net_hours'],
    group: 'project_name',
    only: 'is_complete_week',
  },
  {
    section: 'Cost',
    title: 'Charge by cost code',
    kind: 'bar',
    of: 'cost_code_spend',
    metrics: ['charge_value'],
    group: 'cost_code_name',
    only: 'is_complete_week',
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
    only: 'is_complete_week',
  },
  {
    section: 'Money',
    title: 'Open and long overdue by month',
    kind: 'line',
    of: 'payment_ageing',
    metrics: ['open_value', 'overdue_over_90_value'],
    byTime: true,
    only: 'is_complete_month',
  },
  {
    section: 'Money',
    title: 'Worked and not invoiced by age',
    kind: 'bar',
    of: 'unbilled_accrual',
    metrics: ['accrued_value'],
    group: 'accrual_state',
  },
  {
    section: 'Money',
    title: 'Invoiced by agency',
    kind: 'table',
    of: 'invoice_ledger',
    metrics: ['records'],
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

function chartOf(entities: ReadonlyMap<string, Entity>, one: Wanted): Chart[] {
  const entity = entities.get(one.of)
  const metrics = one.metrics.flatMap(name => entity?.metrics.find(metric => metric.name === name) ?? [])
  const has = (column: string | undefined): boolean =>
    column === undefined || entity?.dimensions.some(({ name }) => name === column) === true
  if (!entity || metrics.length === 0 || !has(one.group) || !has(one.only)) return []
  const time = one.byTime && entity.time?.column
  return [
    {
      key: one.title.toLowerCase().replaceAll(/\W+/g, '-'),
      title: one.title,
      section: one.section,
      kind: one.kind,
      entity,
      metrics,
      ...(one.group !== undefined && { group: one.group }),
      ...(time !== undefined && { time }),
      split: splitOf(metrics, [one.group, time]),
      ...(one.only !== undefined && { where: one.only }),
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

/** What its rows are grouped by, in order. */
export const groupsOf = ({ time, group, split }: Chart): string[] =>
  [time, group, ...split].filter(name => name !== undefined)

/** The rows of a chart; a tool that asks by itself must get the same. */
export function chartSql(chart: Chart, schema: string): string {
  const by = groupsOf(chart)
  const figures = chart.metrics.map(({ name, sql }) => `${sql} as ${name}`)
  const where = chart.where === undefined ? '' : `\nwhere ${chart.where}`
  const grouped = by.length === 0 ? '' : `\ngroup by ${by.join(', ')}\norder by ${by.join(', ')}`
  return `select ${[...by, ...figures].join(', ')}\nfrom ${schema}.${chart.entity.name}${where}${grouped}`
}
