/** Fills the metrics' SQL, which is one text for both engines, with a definition, groupings and a range. */
import { dayMs } from '../lib/dates.ts'
import { sqlFiles } from '../warehouse/sql-files.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import type { MetricDefinition } from './definition.ts'
import {
  type Grouping,
  groupingName,
  groupKeys,
  type Metric,
  type MetricQuery,
  type MetricRange,
  usualThreshold,
} from './metric-query.ts'

const files: Readonly<Record<Metric, string>> = {
  timeToFill: 'metric/time_to_fill.sql',
  workersOverHours: 'metric/workers_over_hours.sql',
}

const texts = new Map<Metric, string>()

/** The file without its comments, which name the tokens too. */
function metricText(metric: Metric): string {
  const known = texts.get(metric)
  if (known !== undefined) return known
  const file = sqlFiles('metric').find(({ name }) => name === files[metric])
  const text = (file?.text ?? '').replace(/^\s*--.*\n/gm, '')
  texts.set(metric, text)
  return text
}

/** With a comma on either side, so that a text can be looked for whole. */
export const wordList = (words: readonly string[]): string =>
  words.length === 0 ? '' : `,${words.join(',')},`

const whole = (value: number | null): string =>
  value === null ? 'cast(null as integer)' : String(Math.trunc(value))

/** Columns of `ops.metric_definition` with their values in SQL, as far as the metric reads them. */
export function definitionColumns(definition: MetricDefinition, metric: Metric): Record<string, string> {
  const both = {
    company_ids: quoteText(wordList(definition.companies ?? [])),
    zone: quoteText(definition.zone),
    week_start: quoteText(definition.weekStart),
  }
  if (metric === 'workersOverHours') {
    return {
      ...both,
      timesheet_statuses: quoteText(wordList(definition.timesheetStatuses)),
      hours_field: quoteText(definition.hoursField),
      threshold: quoteText(definition.threshold),
      worker_week: quoteText(definition.workerWeek),
      hours_decimals: whole(definition.hoursDecimals),
    }
  }
  return {
    ...both,
    quantiles: quoteText(definition.quantiles),
    value_quantiles: quoteText(definition.valueQuantiles),
    days: quoteText(definition.days),
    acceptance: quoteText(definition.acceptance),
    bounds: quoteText(definition.bounds),
    least_for_rule: whole(definition.leastForRule),
    requisition_statuses: quoteText(wordList(definition.requisitionStatuses)),
    days_decimals: whole(definition.daysDecimals),
  }
}

/** The choices numbered from 0, with a colon behind, as they stand before `group_by` again. */
function definitionRows(definitions: readonly MetricDefinition[], metric: Metric): string {
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

const moment = (timeMs: number): string =>
  `cast(${quoteText(new Date(timeMs).toISOString().slice(0, 23).replace('T', ' '))} as timestamp)`

function rangeCondition(query: MetricRange, { from, to }: MetricDefinition): string {
  const conditions = (['company', 'project', 'agency'] as const).flatMap(key => {
    const id = query[key]
    return id === undefined ? [] : [`${key}_id = ${quoteText(id)}`]
  })
  if (query.from !== undefined) {
    const first = Date.parse(query.from) + (from === 'inclusive' ? 0 : dayMs)
    conditions.push(`local_at >= ${moment(first)}`)
  }
  if (query.to !== undefined) {
    const beyond = { inclusive: dayMs, midnight: 1, exclusive: 0 }[to]
    conditions.push(`local_at < ${moment(Date.parse(query.to) + beyond)}`)
  }
  return conditions.join(' and ')
}

/** What a range means to each choice; the same for all where no days are given. */
function rangeOf(query: MetricRange, definitions: readonly MetricDefinition[]): string {
  const conditions = definitions.map(definition => rangeCondition(query, definition))
  if (new Set(conditions).size === 1) return conditions[0] || 'true'
  return `case choice ${conditions.map((condition, index) => `when '${index}:' then ${condition}`).join(' ')} end`
}

/**
 * A query without parameters, for all definitions at once: planning it costs more than computing a few thousand rows.
 * Whatever stands in it is quoted, or a number.
 */
export function metricSql(query: MetricQuery, definitions: readonly MetricDefinition[]): string {
  const tokens: Readonly<Record<string, string>> = {
    ':definition': definitionRows(definitions, query.metric),
    ':asked': askedRows(query.groupings),
    ':thresholds': `select cast(${Number(query.threshold ?? usualThreshold)} as numeric(12, 4)) as threshold_hours`,
    ':range': rangeOf(query, definitions),
  }
  return metricText(query.metric).replace(
    /:(definition|asked|thresholds|range)\b/g,
    token => tokens[token] ?? token,
  )
}
