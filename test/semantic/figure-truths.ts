/** Figures that are known from finer rows than those of their mart, each by a query of its own: no declaration is asked. */
import type { Entity } from '../../src/semantic/entity.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { placeOfFile } from './places.ts'
import { type Cut, groupNames, metricflowTool, supersetTool } from './tool-queries.ts'

interface Truth {
  readonly entity: string
  readonly metric: string
  readonly by: readonly string[]
  readonly isByYear?: true
  /** Selects the groups in the order of `by`, then the year, then the figure. */
  readonly sql: string
  /** Of a stock: the first or last value, which only MetricFlow takes by itself. */
  readonly isOverTime?: true
  /** Over these groups the figure does not add up, so it is empty or that of the query. */
  readonly maybeEmpty?: true
}

const year = (column: string): string => `date_trunc('year', cast(${column} as timestamp))`

const truths: readonly Truth[] = [
  {
    ...{ entity: 'working_time_weekly', metric: 'longest_week_hours', by: [], isByYear: true },
    sql: `select ${year('week_ending_date')}, max(net_hours) from mart.worker_week group by 1`,
  },
  {
    ...{ entity: 'working_time_weekly', metric: 'net_hours', by: [], isByYear: true },
    sql: `select ${year('week_ending_date')}, sum(net_hours) from mart.worker_week group by 1`,
  },
  {
    ...{ entity: 'worker_week', metric: 'hours_17_weeks', by: [], isByYear: true, maybeEmpty: true },
    sql: `select ${year('week_ending_date')}, sum(net_hours) from mart.worker_week group by 1`,
  },
  {
    ...{ entity: 'worker_week', metric: 'workers', by: [], isByYear: true },
    sql: `select ${year('week_ending_date')}, count(distinct worker_id) from mart.worker_week group by 1`,
  },
  {
    ...{ entity: 'payment_ageing', metric: 'avg_days_to_pay', by: ['perspective'], isByYear: true },
    sql: `select perspective, ${year('month_start_date')}, sum(avg_days_to_pay * paid_invoices) / nullif(sum(paid_invoices), 0)
      from mart.payment_ageing group by 1, 2`,
  },
  {
    ...{ entity: 'payment_ageing', metric: 'dso_days', by: ['perspective', 'currency', 'month_start_date'] },
    sql: `select perspective, currency, month_start_date,
        cast(90 * sum(open_value) as double) / nullif(cast(sum(issued_90_days_value) as double), 0)
      from mart.payment_ageing group by 1, 2, 3`,
  },
  {
    ...{ entity: 'purchase_order_burn', metric: 'company_assignments_known', by: ['company_id'] },
    sql: `select o.company_id, count(distinct t.assignment_id) from (select distinct company_id from mart.purchase_order_burn) as o
      left join star.fact_timesheet as t on t.company_id = o.company_id and t.status = 'approved' and t.assignment_id <> '-1'
      group by 1`,
  },
  {
    ...{ entity: 'open_demand', metric: 'company_requisitions_counted', by: ['company_id'] },
    sql: 'select distinct company_id, company_requisitions_counted from mart.open_demand',
  },
  {
    ...{ entity: 'workforce_flow', metric: 'attrition_ratio', by: [], isByYear: true },
    sql: `select ${year('month_start_date')}, sum(leavers) / avg(workers) from (
        select month_start_date, cast(sum(leavers) as double) as leavers, sum(average_workers) as workers
        from mart.workforce_flow group by 1
      ) as month group by 1`,
  },
  {
    ...{ entity: 'workforce_flow', metric: 'opening_workers', by: [], isByYear: true, isOverTime: true },
    sql: `select ${year('month_start_date')}, sum(opening_workers) from mart.workforce_flow
      where month_start_date in (select min(month_start_date) from mart.workforce_flow group by ${year('month_start_date')})
      group by 1`,
  },
  {
    ...{ entity: 'workforce_flow', metric: 'closing_workers', by: [], isOverTime: true },
    sql: `select sum(closing_workers) from mart.workforce_flow
      where month_start_date = (select max(month_start_date) from mart.workforce_flow)`,
  },
  {
    ...{
      entity: 'workers_over_hours_by_project',
      metric: 'worker_weeks',
      by: ['threshold_hours'],
      maybeEmpty: true,
    },
    sql: 'select threshold_hours, worker_weeks from mart.workers_over_hours_overall',
  },
  {
    ...{
      entity: 'workers_over_hours_by_company',
      metric: 'worker_weeks',
      by: ['threshold_hours'],
      maybeEmpty: true,
    },
    sql: 'select threshold_hours, worker_weeks from mart.workers_over_hours_overall',
  },
  {
    ...{ entity: 'time_to_fill_by_agency', metric: 'average_days', by: [], maybeEmpty: true },
    sql: 'select average_days from mart.time_to_fill_overall',
  },
  {
    ...{ entity: 'time_to_fill_by_agency', metric: 'raw_count', by: [] },
    sql: 'select raw_count from mart.time_to_fill_overall',
  },
  {
    ...{
      entity: 'headcount_total_by_project',
      metric: 'workers',
      by: ['week_ending_date'],
      maybeEmpty: true,
    },
    sql: 'select week_ending_date, workers from mart.headcount_total_overall',
  },
  {
    ...{ entity: 'headcount_total_by_project', metric: 'net_hours', by: ['week_ending_date'] },
    sql: 'select week_ending_date, net_hours from mart.headcount_total_overall',
  },
  {
    ...{ entity: 'accrual_month_end', metric: 'records', by: ['month_end_date'] },
    sql: 'select month_end_date, sum(records) from mart.accrual_month_end group by 1',
  },
  {
    ...{ entity: 'labour_spend_weekly', metric: 'timesheets', by: ['agency_id'] },
    sql: `select agency_id, count(*) from star.fact_timesheet where status = 'approved' and week_ending_date is not null
      and not is_deleted group by 1`,
  },
]

const rounded = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(Number(value).toPrecision(8))

const groupText = (values: readonly unknown[]): string =>
  values.map(value => (value instanceof Date ? value.toISOString() : String(value))).join(' ')

/** Entities of which a figure is known from finer rows. */
export const truthNames: readonly string[] = [...new Set(truths.map(({ entity }) => entity))]

/** Of some entities: one sentence for each figure that differs, and for each that no group has. */
export async function wrongTruths(engine: Engine, all: readonly Entity[]): Promise<string[]> {
  const entities = all.filter(({ name }) => truthNames.includes(name))
  const request = { entities, place: placeOfFile({ address: 'duckdb:w.duckdb' }), version: '0' }
  const [superset, metricflow] = [supersetTool(request), metricflowTool(request)]
  const wrong: string[] = []
  for (const truth of truths) {
    const entity = entities.find(({ name }) => name === truth.entity)
    if (entity === undefined) continue
    const named = `${truth.entity}.${truth.metric}`
    const cut: Cut = { columns: truth.by, isByYear: truth.isByYear === true }
    const [sql] = (truth.isOverTime ? metricflow : superset)(entity, [cut])
    if (sql === undefined) return [`${named} is not in the catalogue`]
    const names = groupNames(cut)
    const answer = await engine.rows<Record<string, unknown>>(sql)
    const figures = new Map(
      answer.map(row => [groupText(names.map(name => row[name])), rounded(row[truth.metric])]),
    )
    let known = 0
    for (const row of await engine.rows<Record<string, unknown>>(truth.sql)) {
      const values = Object.values(row)
      const [group, wanted] = [groupText(values.slice(0, -1)), rounded(values.at(-1))]
      const found = figures.get(group) ?? null
      if (wanted !== null) known += 1
      if (found !== wanted && !(truth.maybeEmpty && found === null))
        wrong.push(`${named} of ${group}: ${found}, not ${wanted}`)
    }
    if (known === 0) wrong.push(`${named}: nothing to compare with`)
  }
  return wrong
}
