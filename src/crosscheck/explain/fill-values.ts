/** What the figures of a group of acceptances show about its values. */
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Figures } from '../metrics/metric-query.ts'

/** More values than minimum, median and maximum show one by one. */
const mostShown = 3

/** The values in order; undefined where the figures do not show each of them. */
export function shownValues(theirs: Figures | undefined): readonly number[] | undefined {
  const { rawCount = 0, excludedOutliers = 0, minDays, medianDays, maxDays } = theirs ?? {}
  const count = rawCount ?? 0
  if (count === 0) return []
  if ((excludedOutliers ?? 0) > 0 || count > mostShown) return undefined
  const all = [minDays, ...(count === 3 ? [medianDays] : []), ...(count > 1 ? [maxDays] : [])]
  return all.flatMap(value => (value === null || value === undefined ? [] : [value]))
}

/** How far a shown figure may be from what was computed. */
export const roundedBy = ({ daysDecimals }: MetricDefinition): number =>
  1e-6 + (daysDecimals === null ? 0 : 0.5 * 10 ** -daysDecimals)

/** The values of `from` without those of `list`; undefined when `list` has one that `from` lacks. */
export function without(
  from: readonly number[],
  list: readonly number[],
  tolerance: number,
): readonly number[] | undefined {
  const rest = [...from]
  for (const value of list) {
    const index = rest.findIndex(other => Math.abs(other - value) <= tolerance)
    if (index < 0) return undefined
    rest.splice(index, 1)
  }
  return rest
}

/** Whether these values give the figures, as far as they show. Outliers that were left out show nothing. */
export function agree(values: readonly number[], theirs: Figures, tolerance: number): boolean | undefined {
  if (values.length !== (theirs.rawCount ?? 0)) return false
  const shown = shownValues(theirs)
  if (shown) return without(shown, values, tolerance) !== undefined
  if ((theirs.excludedOutliers ?? 0) > 0) return undefined
  const sum = values.reduce((total, value) => total + value, 0)
  const pairs = [
    [Math.min(...values), theirs.minDays],
    [Math.max(...values), theirs.maxDays],
    [sum / values.length, theirs.averageDays],
  ] as const
  return pairs.every(([mine, other]) => typeof other === 'number' && Math.abs(mine - other) <= tolerance)
}

/** The values that only the service has, where its figures show them. */
export function missingValues(
  values: readonly number[],
  theirs: Figures | undefined,
  tolerance: number,
): readonly number[] | undefined {
  const shown = shownValues(theirs)
  if (shown) return without(shown, values, tolerance)
  const { rawCount, excludedOutliers, averageDays } = theirs ?? {}
  if (rawCount !== values.length + 1 || excludedOutliers !== 0 || typeof averageDays !== 'number')
    return undefined
  return [averageDays * rawCount - values.reduce((total, value) => total + value, 0)]
}
