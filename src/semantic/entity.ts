/**
 * Declares an entry of the catalogue: a mart or a view of one, in the terms that BI tools share. A figure that holds
 * only within one currency, week or threshold names the columns to group by, and its SQL is empty where they mix.
 */
import type { Aggregation, Separation } from '../marts/measures.ts'
import type { MetricUnit } from './wording.ts'

export interface Dimension {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly type: string
  readonly isKey: boolean
  /** An id is for joins and filters; people read the name beside it. */
  readonly role: 'id' | 'name' | 'category' | 'flag' | 'time' | 'number'
}

export interface EntityMetric {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly aggregation: Exclude<Aggregation, 'none'> | 'count'
  /** The column to aggregate; none for a ratio or a count. */
  readonly column?: string
  /** Of an average: the column that weighs a row, or the date that names a period. */
  readonly weight?: string
  readonly period?: string
  /** Formulas over other metrics of the entity; the denominator may be a number. */
  readonly numerator?: string
  readonly denominator?: string
  readonly unit: MetricUnit
  /** As d3 spells it. */
  readonly format: string
  /** The same on both engines; right within one value of each column of `within`. */
  readonly sql: string
  /** Columns to group or filter by: currency of an amount, the week of a stock. */
  readonly within: readonly string[]
}

export interface Join {
  readonly column: string
  readonly entity: string
  readonly target: string
}

export interface TimeColumn {
  readonly column: string
  readonly grain: 'day' | 'week' | 'month'
}

export interface Entity {
  /** Table or view of the schema mart. */
  readonly name: string
  readonly kind: 'fact' | 'dimension' | 'view'
  readonly title: string
  /** First sentence: the grain. */
  readonly description: string
  readonly question: string
  readonly questionSql: string
  readonly keys: readonly string[]
  readonly dimensions: readonly Dimension[]
  readonly metrics: readonly EntityMetric[]
  readonly joins: readonly Join[]
  /** Columns that no figure mixes values of. */
  readonly separations: readonly Separation[]
  /** By which charts over time are drawn. */
  readonly time?: TimeColumn
}

/** The id of the records that a column names, by which they are grouped: several have one name. */
export function idBeside(name: string, dimensions: readonly Dimension[]): string {
  const id = name.replace(/_(name|reference)$/, '_id')
  return dimensions.some(one => one.name === id) ? id : name
}

/** Further columns to group by, so that no figure mixes values that do not add up. */
export const splitOf = (metrics: readonly EntityMetric[], by: readonly (string | undefined)[]): string[] =>
  [...new Set(metrics.flatMap(({ within }) => within))].filter(name => !by.includes(name))

/** A record that names no worker names '-1', which counts as none. */
export const countedSql = (column: string): string => `nullif(${column}, '-1')`

/** SQL for tools in which users choose the groups: empty where it would mix. `of` names a column as the tool does. */
export function guardedSql(
  { sql, within }: Pick<EntityMetric, 'sql' | 'within'>,
  of = (column: string): string => column,
): string {
  const isOne = within.map(name => `min(${of(name)}) = max(${of(name)})`)
  return isOne.length === 0 ? sql : `case when ${isOne.join(' and ')} then ${sql} end`
}

/** Appended to the description that users read. */
export const withinWords = ({ within }: EntityMetric): string =>
  within.length === 0 ? '' : `Empty over more than one ${within.join(' or ')}: group or filter by it.`
