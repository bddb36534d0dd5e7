/** Figures that hold within one currency, one week or one threshold only: what to group by, and SQL that refuses to mix. */
import type { Metric } from './entity.ts'

/** Columns to group by besides these, so that no figure covers several of what does not add up. */
export const splitOf = (metrics: readonly Metric[], by: readonly (string | undefined)[]): string[] =>
  [...new Set(metrics.flatMap(({ within }) => within))].filter(name => !by.includes(name))

/** For a tool in which people choose the groups: empty where it would mix. `of` names a column as the tool does. */
export function guardedSql(
  { sql, within }: Pick<Metric, 'sql' | 'within'>,
  of = (column: string): string => column,
): string {
  const isOne = within.map(name => `min(${of(name)}) = max(${of(name)})`)
  return isOne.length === 0 ? sql : `case when ${isOne.join(' and ')} then ${sql} end`
}

/** For people, behind the description. */
export const withinWords = ({ within }: Metric): string =>
  within.length === 0 ? '' : `Empty over more than one ${within.join(' or ')}: group or filter by it.`
