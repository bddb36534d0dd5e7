/** The range in which a figure usually moves, from its earlier values. */

/** Periods before the last one that make a usual range. */
export const usualPeriods = 13

export interface UsualRange {
  readonly low: number
  readonly high: number
}

/** NaN without values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const half = Math.floor(sorted.length / 2)
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? Number.NaN)) / 2
}

/** Makes the median absolute deviation comparable with a standard deviation. */
const deviationScale = 1.4826

/**
 * Median ± 3 median absolute deviations, scaled; at least ± 10% of the median, or a measure that hardly moves would be
 * unusual at every change.
 */
export function usualRangeOf(values: readonly number[]): UsualRange {
  const middle = median(values)
  const deviation = median(values.map(value => Math.abs(value - middle)))
  const spread = Math.max(3 * deviationScale * deviation, Math.abs(middle) * 0.1)
  return { low: middle - spread, high: middle + spread }
}
