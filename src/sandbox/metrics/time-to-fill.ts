/** Time to fill: days from the approval of a requisition to an agency's acceptance, without outliers. */
import { closed, type NamedSchema, number, orNull, refSchema, whole } from '../declare/json-schema.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import { daysToFill } from './calendar-days.ts'
import { quantile, rounded } from './figures.ts'
import { type GroupQuery, grouped, groupSchema, type Member } from './groups.ts'
import type { MeasuredRequisition } from './measured.ts'

const days = orNull(number)

export const timeToFillRow: NamedSchema = {
  name: 'TimeToFillRow',
  schema: closed(
    {
      group: groupSchema,
      rawCount: whole,
      excludedOutliers: whole,
      iqrBounds: closed({ lower: days, upper: days }),
      values: closed({
        count: whole,
        averageDays: days,
        medianDays: days,
        minDays: days,
        maxDays: days,
        p25Days: days,
        p75Days: days,
      }),
    },
    { required: [], description: 'Days from approval to the acceptance of a supplier, without outliers.' },
  ),
  uses: [refSchema],
}

interface Acceptance extends Member {
  readonly days: number
}

/** `from` and `to` apply to the day of acceptance; a group without acceptances has no row. */
export function timeToFill(
  requisitions: readonly MeasuredRequisition[],
  query: GroupQuery,
  options: ContractOptions,
) {
  const counted: readonly string[] = options['fill-statuses']
  const acceptances = requisitions
    .filter(({ status = '' }) => counted.includes(status))
    .flatMap(requisition => acceptancesOf(requisition, options))
  return grouped(acceptances, query, options).map(({ group, members }) => ({
    group,
    ...summary(
      members.map(member => member.days),
      options,
    ),
  }))
}

/** The first or last acceptance is that of the requisition, so it is chosen before the filter by agency. */
function acceptancesOf(requisition: MeasuredRequisition, options: ContractOptions): Acceptance[] {
  const { approvedDate, company, project } = requisition
  if (!approvedDate) return []
  const all = (requisition.agencies ?? []).flatMap(({ id, name, dateAccepted }) => {
    if (!dateAccepted) return []
    const atMs = Date.parse(dateAccepted)
    const taken = daysToFill(Date.parse(approvedDate), atMs, options)
    return [{ days: taken, atMs, company, project, agency: { id, name } }]
  })
  return counted(all, options).flatMap(answer => withoutNegative(answer, options))
}

function counted(all: Acceptance[], { acceptance }: ContractOptions): readonly Acceptance[] {
  if (acceptance === 'perAgency') return all
  all.sort((left, right) => left.atMs - right.atMs)
  return acceptance === 'earliest' ? all.slice(0, 1) : all.slice(-1)
}

/** Accepted before the approval. */
function withoutNegative(answer: Acceptance, options: ContractOptions): Acceptance[] {
  if (answer.days >= 0 || options['fill-negative'] === 'kept') return [answer]
  return options['fill-negative'] === 'zero' ? [{ ...answer, days: 0 }] : []
}

/** The bounds come from the quartiles of all values; `values` describes the values within them. */
function summary(values: readonly number[], options: ContractOptions) {
  const sorted = [...values].sort((left, right) => left - right)
  const bounds = sorted.length < options['outlier-least'] ? undefined : boundsOf(sorted, options)
  const kept = bounds ? sorted.filter(value => isWithin(value, bounds, options)) : sorted
  const shown = (value: number) => rounded(value, options)
  return {
    rawCount: sorted.length,
    excludedOutliers: sorted.length - kept.length,
    iqrBounds: bounds
      ? { lower: shown(bounds.lower), upper: shown(bounds.upper) }
      : { lower: null, upper: null },
    values: statistics(kept, options),
  }
}

interface Bounds {
  readonly lower: number
  readonly upper: number
}

const outlierReach = 1.5

function boundsOf(sorted: readonly number[], { quantiles }: ContractOptions): Bounds {
  const lowest = quantile(sorted, 0.25, quantiles)
  const highest = quantile(sorted, 0.75, quantiles)
  const reach = outlierReach * (highest - lowest)
  return { lower: lowest - reach, upper: highest + reach }
}

function isWithin(value: number, { lower, upper }: Bounds, options: ContractOptions): boolean {
  return options['outlier-bounds'] === 'inclusive'
    ? value >= lower && value <= upper
    : value > lower && value < upper
}

function statistics(sorted: readonly number[], options: ContractOptions) {
  const count = sorted.length
  const shown = (value: number | undefined) => (value === undefined ? null : rounded(value, options))
  const quartile = (share: number) =>
    shown(count === 0 ? undefined : quantile(sorted, share, options.quantiles))
  const sum = sorted.reduce((total, value) => total + value, 0)
  return {
    count,
    averageDays: shown(count === 0 ? undefined : sum / count),
    medianDays: quartile(0.5),
    minDays: shown(sorted[0]),
    maxDays: shown(sorted.at(-1)),
    p25Days: quartile(0.25),
    p75Days: quartile(0.75),
  }
}
