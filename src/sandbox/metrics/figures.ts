/** Quantiles and rounding, in the ways the service might do them. */
import type { ContractOptions } from '../options/contract-options.ts'

type Method = ContractOptions['quantiles']

/** Positions from 0; between two whole positions the value is interpolated. */
const positions: Partial<Record<Method, (count: number, share: number) => number>> = {
  type7: (count, share) => (count - 1) * share,
  type6: (count, share) => (count + 1) * share - 1,
  type5: (count, share) => count * share - 0.5,
  type8: (count, share) => (count + 1 / 3) * share - 2 / 3,
}

/** `sorted` is ascending and not empty; `share` lies in [0, 1]. */
export function quantile(sorted: readonly number[], share: number, method: Method): number {
  const at = (index: number) => sorted[Math.min(sorted.length - 1, Math.max(0, index))] as number
  const position = positions[method]?.(sorted.length, share)
  if (position !== undefined) {
    const whole = Math.floor(position)
    return at(whole) + (position - whole) * (at(whole + 1) - at(whole))
  }
  const rank = sorted.length * share
  const above = at(Math.ceil(rank) - 1)
  return method === 'type2' && Number.isInteger(rank) ? (above + at(rank)) / 2 : above
}

export function rounded(value: number, { decimals }: ContractOptions): number {
  if (decimals === 'none') return value
  const factor = 10 ** decimals
  return Math.round(value * factor) / factor
}
