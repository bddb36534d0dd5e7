/** An entry of the catalogue: a mart or a view of one, in the words that BI tools share. */
import type { Aggregation } from '../marts/additivity.ts'
import type { Unit } from './wording.ts'

export interface Dimension {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly type: string
  readonly isKey: boolean
  /** An id is for joins and filters; people read the name beside it. */
  readonly role: 'id' | 'name' | 'category' | 'flag' | 'time' | 'number'
}

export interface Metric {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly aggregation: Exclude<Aggregation, 'none'> | 'count'
  /** The column that is added up or averaged; none of a ratio or a count. */
  readonly column?: string
  readonly numerator?: string
  /** A column, or a number. */
  readonly denominator?: string
  readonly unit: Unit
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
  readonly metrics: readonly Metric[]
  readonly joins: readonly Join[]
  /** By which charts over time are drawn. */
  readonly time?: TimeColumn
}
