/**
 * Reads requisitions, stored or from the service, with the acceptances that time to fill counts. Stored ones also
 * carry signs that a row was lost or changed.
 */
import { dayMs, daysBetween } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { isInRange, localDay, periodKeys } from '../metrics/periods.ts'
import type { Contribution } from './finding.ts'

interface AgencyAnswer {
  readonly agency: string
  readonly acceptedAt: number
}

export interface ComparedRequisition {
  readonly id: string
  readonly reference: string | null
  readonly status: string | null
  readonly company: string
  readonly project: string
  readonly approvedAt: number | null
  readonly updatedAt: string | null
  /** Agencies that accepted. */
  readonly answers: readonly AgencyAnswer[]
}

export interface Acceptance extends Contribution {
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

/** Reads a requisition from the service's answer. */
export function servedRequisition(record: Readonly<Record<string, unknown>>): ComparedRequisition {
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

function chosen(answers: readonly AgencyAnswer[], { acceptance }: MetricDefinition): readonly AgencyAnswer[] {
  if (acceptance === 'perAgency') return answers
  const sorted = [...answers].sort((left, right) => left.acceptedAt - right.acceptedAt)
  return acceptance === 'earliest' ? sorted.slice(0, 1) : sorted.slice(-1)
}

/** The same rules as in sql/part/time_to_fill_answers.sql, for one record. */
export function acceptancesOf(
  requisition: ComparedRequisition | undefined,
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

export interface StoredRequisition extends ComparedRequisition {
  /** Marked as deleted, so its acceptances do not count. */
  readonly isDeleted: boolean
  /** Its rows are inconsistent: a wrong number of agencies, other times than the service gave, or a doubled row. */
  readonly isOdd: boolean
  readonly copies: number
  readonly hasAgencies: boolean
}

interface Root {
  readonly requisition_id: string
  readonly reference: string | null
  readonly status: string | null
  readonly company_id: string
  readonly project_id: string
  readonly approved_at: string | null
  readonly source_updated_at: string | null
  readonly is_deleted: boolean
  readonly agencies_count: number | null
  readonly first_accepted_at: string | null
  readonly last_accepted_at: string | null
}

interface Party {
  readonly requisition_id: string
  readonly agency_id: string
  readonly company_id: string
  readonly project_id: string
  readonly accepted_at: string | null
  readonly requisition_approved_at: string | null
  readonly approved_to_accepted_days: number | string | null
  readonly is_deleted: boolean
}

function isOddParty(party: Party, root: Root): boolean {
  const [approved, accepted] = [timeOf(root.approved_at), timeOf(party.accepted_at)]
  const taken = approved === null || accepted === null ? null : (accepted - approved) / dayMs
  const days = party.approved_to_accepted_days === null ? null : Number(party.approved_to_accepted_days)
  const isOtherTime = days === null || taken === null ? days !== taken : Math.abs(days - taken) > 1e-3
  return (
    isOtherTime ||
    timeOf(party.requisition_approved_at) !== approved ||
    party.company_id !== root.company_id ||
    party.project_id !== root.project_id ||
    party.is_deleted !== root.is_deleted
  )
}

function isOdd(root: Root, parties: readonly Party[]): boolean {
  const accepted = parties.map(party => timeOf(party.accepted_at)).filter(time => time !== null)
  const first = accepted.length === 0 ? null : Math.min(...accepted)
  const last = accepted.length === 0 ? null : Math.max(...accepted)
  return (
    Number(root.agencies_count) !== parties.length ||
    timeOf(root.first_accepted_at) !== first ||
    timeOf(root.last_accepted_at) !== last ||
    parties.some(party => isOddParty(party, root))
  )
}

const answersOf = (parties: readonly Party[]): AgencyAnswer[] =>
  parties.flatMap(({ agency_id: agency, accepted_at, is_deleted: isGone }) => {
    const acceptedAt = timeOf(accepted_at)
    return acceptedAt === null || isGone ? [] : [{ agency, acceptedAt }]
  })

function storedOf(roots: readonly Root[], parties: readonly Party[]): StoredRequisition {
  const root = roots[0] as Root
  const answers = roots.filter(({ is_deleted: isGone }) => !isGone).flatMap(() => answersOf(parties))
  return {
    id: root.requisition_id,
    reference: root.reference,
    status: root.status,
    company: root.company_id,
    project: root.project_id,
    approvedAt: timeOf(root.approved_at),
    updatedAt: root.source_updated_at,
    answers,
    isDeleted: roots.every(({ is_deleted: isGone }) => isGone),
    isOdd: roots.length > 1 || isOdd(root, parties),
    copies: roots.length,
    hasAgencies: parties.length > 0 || Number(root.agencies_count) > 0,
  }
}

const idOf = ({ requisition_id: id }: Root | Party): string => id

/** By id; all projects when none are given. */
export async function storedRequisitions(
  engine: Pick<Engine, 'rows'>,
  projects: readonly string[] | undefined,
): Promise<Map<string, StoredRequisition>> {
  const where = projects ? `where r.project_id in (${projects.map(quoteText).join(', ') || 'null'})` : ''
  const roots = await engine.rows<Root>(
    `select r.requisition_id, r.reference, r.status, r.company_id, r.project_id, r.approved_at, r.source_updated_at,
       r.is_deleted, r.agencies_count, r.first_accepted_at, r.last_accepted_at
     from star.fact_requisition as r ${where} order by r.requisition_id`,
  )
  const parties = await engine.rows<Party>(
    `select p.requisition_id, p.agency_id, p.company_id, p.project_id, p.accepted_at, p.requisition_approved_at,
       p.approved_to_accepted_days, p.is_deleted
     from star.fact_requisition_agency as p
     where p.requisition_id in (select r.requisition_id from star.fact_requisition as r ${where})
     order by p.requisition_id, p.agency_ordinal`,
  )
  const partiesOf = groupBy(parties, idOf)
  return new Map(
    [...groupBy(roots, idOf)].map(([id, own]) => [id, storedOf(own, partiesOf.get(id) ?? [])] as const),
  )
}
