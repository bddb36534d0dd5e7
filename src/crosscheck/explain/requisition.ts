/** A requisition, stored or as the service shows it, and the acceptances that time to fill counts of it. */
import { dayMs, daysBetween } from '../../lib/dates.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { isInRange, localDay, periodKeys } from '../metrics/periods.ts'
import type { Counted } from './finding.ts'

export interface Answer {
  readonly agency: string
  readonly acceptedAt: number
}

export interface Requisition {
  readonly id: string
  readonly reference: string | null
  readonly status: string | null
  readonly company: string
  readonly project: string
  readonly approvedAt: number | null
  readonly updatedAt: string | null
  /** Agencies that accepted. */
  readonly answers: readonly Answer[]
}

export interface Acceptance extends Counted {
  readonly at: number
  readonly days: number
}

export const timeOf = (value: unknown): number | null => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : time
}

/** Of a company, project or agency as the service writes it. */
export const refId = (value: unknown): string =>
  String((value as { id?: unknown } | null | undefined)?.id ?? '-1')

/** From the answer of the service. */
export function servedRequisition(record: Readonly<Record<string, unknown>>): Requisition {
  const agencies = (record.agencies ?? []) as readonly Readonly<Record<string, unknown>>[]
  return {
    id: String(record.id),
    reference: typeof record.reference === 'string' ? record.reference : null,
    status: typeof record.status === 'string' ? record.status : null,
    company: refId(record.company),
    project: refId(record.project),
    approvedAt: timeOf(record.approvedDate),
    updatedAt: typeof record.updatedAt === 'string' ? record.updatedAt : null,
    answers: agencies.flatMap(agency => {
      const acceptedAt = timeOf(agency.dateAccepted)
      return acceptedAt === null ? [] : [{ agency: refId(agency), acceptedAt }]
    }),
  }
}

const calendarZone = ({ days, zone }: MetricDefinition): string =>
  days === 'calendarZone' ? zone : days === 'calendarLondon' ? 'Europe/London' : 'UTC'

function daysOf(fromMs: number, toMs: number, definition: MetricDefinition): number {
  const fraction = (toMs - fromMs) / dayMs
  const { days } = definition
  if (days === 'fractional') return fraction
  if (days === 'floor' || days === 'ceil' || days === 'round') return Math[days](fraction)
  const zone = calendarZone(definition)
  return daysBetween(localDay(fromMs, zone), localDay(toMs, zone))
}

function chosen(answers: readonly Answer[], { acceptance }: MetricDefinition): readonly Answer[] {
  if (acceptance === 'perAgency') return answers
  const sorted = [...answers].sort((left, right) => left.acceptedAt - right.acceptedAt)
  return acceptance === 'earliest' ? sorted.slice(0, 1) : sorted.slice(-1)
}

/** The same rules as in sql/part/time_to_fill_answers.sql, for one record. */
export function acceptancesOf(
  requisition: Requisition | undefined,
  definition: MetricDefinition,
  range: MetricRange,
): Acceptance[] {
  if (requisition === undefined || requisition.approvedAt === null) return []
  const { approvedAt, company, project, status, answers } = requisition
  const { requisitionStatuses, companies, negativeDays } = definition
  if (!requisitionStatuses.includes(status ?? '')) return []
  if (companies !== null && !companies.includes(company)) return []
  return chosen(answers, definition).flatMap(({ agency, acceptedAt }) => {
    const taken = daysOf(approvedAt, acceptedAt, definition)
    if (taken < 0 && negativeDays === 'dropped') return []
    const keys = { company, project, agency, ...periodKeys(acceptedAt, definition) }
    if (!isInRange({ keys, timeMs: acceptedAt }, range, definition)) return []
    return [{ keys, amount: 1, at: acceptedAt, days: taken < 0 && negativeDays === 'zero' ? 0 : taken }]
  })
}
