/** The metrics as we compute them from the warehouse. */
import type { Engine } from '../warehouse/engine.ts'
import type { MetricDefinition } from './definition.ts'
import {
  type Figures,
  figureNames,
  type GroupKey,
  groupKeys,
  type Metric,
  type MetricQuery,
} from './metric-query.ts'
import { metricSql } from './metric-sql.ts'

export interface OurGroup {
  readonly groupBy: string
  /** Values of the keys with bars between: ids, the month as YYYY-MM, the first day of the week. */
  readonly groupKey: string
  readonly keys: Readonly<Partial<Record<GroupKey, string>>>
  readonly figures: Figures
}

/** Columns of the SQL, in the order of the service's figures. */
const figureColumns: Readonly<Record<Metric, readonly string[]>> = {
  timeToFill: [
    'raw_count',
    'excluded_outliers',
    'lower_bound',
    'upper_bound',
    'kept_count',
    'average_days',
    'median_days',
    'min_days',
    'max_days',
    'p25_days',
    'p75_days',
  ],
  workersOverHours: [
    'threshold_hours',
    'worker_weeks',
    'workers_over_threshold',
    'distinct_workers_over_threshold',
    'total_hours',
    'average_weekly_hours',
    'max_weekly_hours',
  ],
}

const keyColumns: Readonly<Record<GroupKey, string>> = {
  company: 'company_id',
  project: 'project_id',
  agency: 'agency_id',
  month: 'month_key',
  week: 'week_key',
}

type Row = Readonly<Record<string, unknown>>

function groupOf(row: Row, metric: Metric): OurGroup {
  const keys = groupKeys.flatMap(key => {
    const value = row[keyColumns[key]]
    return value === null || value === undefined ? [] : [[key, String(value)]]
  })
  const figures = figureNames[metric].map((name, index) => {
    const value = row[figureColumns[metric][index] ?? '']
    return [name, value === null || value === undefined ? null : Number(value)]
  })
  return {
    groupBy: String(row.group_by).replace(/^\d+:/, ''),
    groupKey: String(row.group_key),
    keys: Object.fromEntries(keys),
    figures: Object.fromEntries(figures),
  }
}

/** What metrics need of a warehouse. */
export type MetricReader = Pick<Engine, 'rows' | 'rowsOfWholeTables'>

/** Groups without values are no rows. In no order. */
export async function ourMetrics(
  engine: MetricReader,
  query: MetricQuery,
  definition: MetricDefinition,
): Promise<OurGroup[]> {
  const [groups = []] = await ourMetricsUnder(engine, query, [definition])
  return groups
}

/** The groups under each definition, in one statement. */
export async function ourMetricsUnder(
  engine: MetricReader,
  query: MetricQuery,
  definitions: readonly MetricDefinition[],
): Promise<OurGroup[][]> {
  const rows = await engine.rowsOfWholeTables<Row>(metricSql(query, definitions))
  const under = definitions.map((): OurGroup[] => [])
  for (const row of rows) under[Number.parseInt(String(row.group_by), 10)]?.push(groupOf(row, query.metric))
  return under
}
