/** Settings of a sandbox for the crosscheck: what the contract leaves open, drawn by chance from everything there is. */

import type { MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import { type Rng, seededRng } from '../../src/lib/rng.ts'
import { offsetName } from '../../src/lib/zones.ts'
import type { ContractOptions } from '../../src/sandbox/options.ts'

const pick = <Value>(rng: Rng, values: readonly Value[]): Value =>
  values[Math.floor(rng() * values.length)] as Value

function some<Value>(rng: Rng, values: readonly Value[]): readonly Value[] {
  const drawn = values.filter(() => rng() < 0.6)
  return drawn.length > 0 ? drawn : [pick(rng, values)]
}

/** Every IANA zone, and now and then an offset to the minute. */
const zone = (rng: Rng): string =>
  rng() < 0.1
    ? offsetName(Math.floor(rng() * 26 * 60) - 12 * 60)
    : pick(rng, ['UTC', ...Intl.supportedValuesOf('timeZone')])

export function drawnOptions(seed: number): Partial<ContractOptions> {
  const rng = seededRng(seed)
  return {
    quantiles: pick(rng, ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank'] as const),
    'fill-days': pick(rng, [
      ...(['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon', 'calendarZone'] as const),
    ]),
    'fill-negative': pick(rng, ['counted', 'zero', 'dropped'] as const),
    acceptance: pick(rng, ['perAgency', 'earliest', 'latest'] as const),
    'outlier-bounds': pick(rng, ['inclusive', 'exclusive'] as const),
    'outlier-min': Math.floor(rng() * 12),
    'week-start': pick(rng, ['monday', 'sunday', 'saturday'] as const),
    'week-key': pick(rng, ['isoWeek', 'firstDay'] as const),
    'month-key': pick(rng, ['yearMonth', 'firstDay'] as const),
    'group-ref': pick(rng, ['ref', 'id', 'name'] as const),
    threshold: pick(rng, ['over', 'at'] as const),
    'fill-statuses': some(rng, ['raised', 'approved', 'filled', 'cancelled', 'rejected'] as const),
    'hours-statuses': some(rng, ['pending', 'pending_approval', 'approved', 'cancelled', 'absent'] as const),
    'hours-field': pick(rng, ['netHours', 'timelogHours'] as const),
    decimals: pick(rng, ['none', 0, 1, 2, 3, 4, 5, 6] as const),
    'day-zone': zone(rng),
    from: pick(rng, ['inclusive', 'exclusive'] as const),
    to: pick(rng, ['inclusive', 'midnight', 'exclusive'] as const),
    ties: pick(rng, ['stable', 'random'] as const),
    absent: pick(rng, ['mixed', 'null', 'omitted', 'random'] as const),
    extra: pick(rng, [0, 0.2]),
  }
}

/** The interpretation of each rule that a calibration should find. */
export function readingsOf(options: Partial<ContractOptions>): Partial<MetricDefinition> {
  const decimals = options.decimals === 'none' ? null : (options.decimals ?? null)
  return {
    quantiles: options.quantiles,
    valueQuantiles: options.quantiles,
    days: options['fill-days'],
    negativeDays: options['fill-negative'],
    acceptance: options.acceptance,
    bounds: options['outlier-bounds'],
    minForRule: options['outlier-min'],
    weekStart: options['week-start'],
    weekKey: options['week-key'],
    monthKey: options['month-key'],
    refKey: options['group-ref'],
    threshold: options.threshold,
    requisitionStatuses: options['fill-statuses'],
    timesheetStatuses: options['hours-statuses'],
    hoursField: options['hours-field'],
    daysDecimals: decimals,
    hoursDecimals: decimals,
    zone: options['day-zone'],
    from: options.from,
    to: options.to,
  } as Partial<MetricDefinition>
}
