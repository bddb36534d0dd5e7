/** Computes the metrics from the warehouse: one SQL text for both engines, filled with definitions, groupings and a range. */
import { minuteMs } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { fillEngineTokens, plainSql } from '../../warehouse/engine-tokens.ts'
import { type SqlFile, sqlFiles } from '../../warehouse/sql-files.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { MetricDefinition } from './definition.ts'
import {
  defaultThreshold,
  type figureNames,
  type Grouping,
  type GroupKey,
  groupingName,
  groupKeys,
  type MetricFigures,
  type MetricName,
  type MetricQuery,
  type MetricRange,
} from './metric-query.ts'
import { limitsOf } from './periods.ts'

const files: Readonly<Record<MetricName, string>> = {
  timeToFill: 'metric/time_to_fill.sql',
  workersOverHours: 'metric/workers_over_hours.sql',
}

/** The file without its comments, which name the tokens too. */
function metricText(metric: MetricName): string {
  const file = sqlFiles('metric').find(({ name }) => name === files[metric]) as SqlFile
  return fillEngineTokens(file.text.replace(/^\s*--.*\n/gm, ''), plainSql)
}

/** Puts a comma on either side, so that SQL can search for a whole word. */
export const wordList = (words: readonly string[]): string =>
  words.length === 0 ? '' : `,${words.join(',')},`

const integerSql = (value: number | null): string =>
  value === null ? 'cast(null as integer)' : String(Math.trunc(value))

/** An offset is UTC with minutes added, as engines disagree on the sign of an offset. */
function zoneColumns(zone: string): Record<'zone' | 'zone_minutes', string> {
  const minutes = /^[+-]/.test(zone) ? shiftOf(zone)(0) / minuteMs : undefined
  return { zone: quoteText(minutes === undefined ? zone : 'UTC'), zone_minutes: String(minutes ?? 0) }
}

/** Columns of the view of the definition with their values in SQL, as far as the metric reads them. */
export function definitionColumns(definition: MetricDefinition, metric: MetricName): Record<string, string> {
  const both = {
    company_ids: quoteText(wordList(definition.companies ?? [])),
    ...zoneColumns(definition.zone),
    week_start: quoteText(definition.weekStart),
  }
  if (metric === 'workersOverHours') {
    return {
      ...both,
      timesheet_statuses: quoteText(wordList(definition.timesheetStatuses)),
      hours_field: quoteText(definition.hoursField),
      threshold: quoteText(definition.threshold),
      worker_week: quoteText(definition.workerWeek),
      hours_decimals: integerSql(definition.hoursDecimals),
    }
  }
  return {
    ...both,
    quantiles: quoteText(definition.quantiles),
    value_quantiles: quoteText(definition.valueQuantiles),
    days: quoteText(definition.days),
    negative_days: quoteText(definition.negativeDays),
    acceptance: quoteText(definition.acceptance),
    bounds: quoteText(definition.bounds),
    min_for_rule: integerSql(definition.minForRule),
    requisition_statuses: quoteText(wordList(definition.requisitionStatuses)),
    days_decimals: integerSql(definition.daysDecimals),
  }
}

/** The definitions, numbered from 0; the number and a colon precede `group_by` in the result. */
function definitionRows(definitions: readonly MetricDefinition[], metric: MetricName): string {
  const rows = definitions.map((definition, index) => {
    const columns = { choice: `'${index}:'`, ...definitionColumns(definition, metric) }
    return `select ${Object.entries(columns)
      .map(([name, value]) => `${value} as ${name}`)
      .join(', ')}`
  })
  return rows.join(' union all ')
}

/** One row a grouping. */
function askedRows(groupings: readonly Grouping[]): string {
  const rows = groupings.map(grouping => {
    const flags = groupKeys.map(key => `${grouping.includes(key)} as by_${key}`)
    return `select ${quoteText(groupingName(grouping))} as group_by, ${flags.join(', ')}`
  })
  return rows.join(' union all ')
}

const timestampSql = (timeMs: number): string =>
  `cast(${quoteText(new Date(timeMs).toISOString().slice(0, 23).replace('T', ' '))} as timestamp)`

function rangeCondition(query: MetricRange, definition: MetricDefinition): string {
  const conditions = (['company', 'project', 'agency'] as const).flatMap(key => {
    const id = query[key]
    return id === undefined ? [] : [`${key}_id = ${quoteText(id)}`]
  })
  const { first, beyond } = limitsOf(query, definition)
  if (first !== undefined) conditions.push(`local_at >= ${timestampSql(first)}`)
  if (beyond !== undefined) conditions.push(`local_at < ${timestampSql(beyond)}`)
  return conditions.join(' and ')
}

/** The range under each definition; the same for all when no days are given. */
function rangeOf(query: MetricRange, definitions: readonly MetricDefinition[]): string {
  const conditions = definitions.map(definition => rangeCondition(query, definition))
  if (new Set(conditions).size === 1) return conditions[0] || 'true'
  return `case choice ${conditions.map((condition, index) => `when '${index}:' then ${condition}`).join(' ')} end`
}

/**
 * One query without parameters for all definitions: planning costs more than computing a few thousand rows. Every value in
 * it is quoted, or a number.
 */
function metricSql(query: MetricQuery, definitions: readonly MetricDefinition[]): string {
  const tokens: Readonly<Record<string, string>> = {
    ':definition': definitionRows(definitions, query.metric),
    ':asked': askedRows(query.groupings),
    ':thresholds': `select cast(${Number(query.threshold ?? defaultThreshold)} as numeric(12, 4)) as threshold_hours`,
    ':range': rangeOf(query, definitions),
  }
  return metricText(query.metric).replace(
    /:(definition|asked|thresholds|range)\b/g,
    token => tokens[token] as string,
  )
}

export interface OurGroup {
  readonly groupBy: string
  /** Values of the keys with bars between: ids, the month as YYYY-MM, the first day of the week. */
  readonly groupKey: string
  readonly keys: Readonly<Partial<Record<GroupKey, string>>>
  readonly figures: MetricFigures
}

/** Columns of the SQL by the service's names of figures. */
const figureColumns: {
  readonly [Name in MetricName]: Readonly<Record<(typeof figureNames)[Name][number], string>>
} = {
  timeToFill: {
    rawCount: 'raw_count',
    excludedOutliers: 'excluded_outliers',
    lower: 'lower_bound',
    upper: 'upper_bound',
    count: 'within_bounds_count',
    averageDays: 'average_days',
    medianDays: 'median_days',
    minDays: 'min_days',
    maxDays: 'max_days',
    p25Days: 'p25_days',
    p75Days: 'p75_days',
  },
  workersOverHours: {
    thresholdHours: 'threshold_hours',
    workerWeeks: 'worker_weeks',
    workersOverThreshold: 'workers_over_threshold',
    distinctWorkersOverThreshold: 'distinct_workers_over_threshold',
    totalHours: 'total_hours',
    averageWeeklyHours: 'average_weekly_hours',
    maxWeeklyHours: 'max_weekly_hours',
  },
}

const keyColumns: Readonly<Record<GroupKey, string>> = {
  company: 'company_id',
  project: 'project_id',
  agency: 'agency_id',
  month: 'month_key',
  week: 'week_key',
}

type MetricRow = Readonly<Record<string, unknown>>

function groupOf(row: MetricRow, groupBy: string, metric: MetricName): OurGroup {
  const keys = groupKeys.flatMap(key => {
    const value = row[keyColumns[key]]
    return value === null ? [] : [[key, String(value)]]
  })
  const figures = Object.entries(figureColumns[metric]).map(([name, column]) => {
    const value = row[column]
    return [name, value === null ? null : Number(value)]
  })
  return {
    ...{ groupBy, groupKey: String(row.group_key) },
    keys: Object.fromEntries(keys),
    figures: Object.fromEntries(figures),
  }
}

/** The part of an engine that metrics need. */
export type MetricReader = Pick<Engine, 'rows' | 'rowsByFullScan'>

/** The groups under each definition, unordered; groups without values are left out. */
export type GroupMeasure = (
  query: MetricQuery,
  definitions: readonly MetricDefinition[],
) => Promise<OurGroup[][]>

export const ourMetrics = (
  engine: MetricReader,
  query: MetricQuery,
  definition: MetricDefinition,
): Promise<OurGroup[]> => measureOne(measuring(engine), query, definition)

export async function measureOne(
  measure: GroupMeasure,
  query: MetricQuery,
  definition: MetricDefinition,
): Promise<OurGroup[]> {
  return (await measure(query, [definition]))[0] as OurGroup[]
}

/** Measures all definitions in one statement. */
export const measuring =
  (engine: MetricReader): GroupMeasure =>
  async (query, definitions) => {
    const rows = await engine.rowsByFullScan<MetricRow>(metricSql(query, definitions))
    const under = definitions.map((): OurGroup[] => [])
    for (const row of rows) {
      const [choice, groupBy] = String(row.group_by).split(':') as [string, string]
      under[Number(choice)]?.push(groupOf(row, groupBy, query.metric))
    }
    return under
  }
