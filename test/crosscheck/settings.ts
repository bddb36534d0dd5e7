/** Settings of a sandbox for the crosscheck: what the contract leaves open about the metrics, drawn by chance. */
import { seededRng } from '../../src/lib/rng.ts'
import type { ContractOptions } from '../../src/sandbox/options/contract-options.ts'

const readings = {
  quantiles: ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank'],
  'fill-days': ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon'],
  acceptance: ['perAgency', 'earliest', 'latest'],
  'outlier-bounds': ['inclusive', 'exclusive'],
  'outlier-least': [1, 4, 6],
  'week-start': ['monday', 'sunday', 'saturday'],
  'week-key': ['isoWeek', 'firstDay'],
  'month-key': ['yearMonth', 'firstDay'],
  'group-ref': ['ref', 'id', 'name'],
  threshold: ['over', 'at'],
  'fill-statuses': [
    ['raised', 'approved', 'filled', 'cancelled', 'rejected'],
    ['approved', 'filled'],
    ['filled'],
  ],
  'hours-statuses': [['approved'], ['approved', 'pending_approval']],
  'hours-field': ['netHours', 'timelogHours'],
  decimals: ['none', 2, 1],
  'day-zone': ['UTC', 'Europe/London'],
  from: ['inclusive', 'exclusive'],
  to: ['inclusive', 'midnight', 'exclusive'],
} as const

export function drawnOptions(seed: number): Partial<ContractOptions> {
  const rng = seededRng(seed)
  const drawn = Object.entries(readings).map(([name, values]) => [
    name,
    values[Math.floor(rng() * values.length)],
  ])
  return Object.fromEntries(drawn) as Partial<ContractOptions>
}
