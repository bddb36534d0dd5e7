/** The stored requisitions of some projects, with the signs that a row of them was lost or changed. */
import { dayMs } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { type Answer, type Requisition, timeOf } from './requisition.ts'

export interface StoredRequisition extends Requisition {
  /** Marked as deleted: its answers count nowhere. */
  readonly isDeleted: boolean
  /** Its rows contradict each other: as many agencies as it counts, the times that the service gave, each row once. */
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
    Number(root.agencies_count ?? 0) !== parties.length ||
    timeOf(root.first_accepted_at) !== first ||
    timeOf(root.last_accepted_at) !== last ||
    parties.some(party => isOddParty(party, root))
  )
}

const answersOf = (parties: readonly Party[]): Answer[] =>
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
    hasAgencies: parties.length > 0 || Number(root.agencies_count ?? 0) > 0,
  }
}

function groupedBy<Row extends { readonly requisition_id: string }>(
  rows: readonly Row[],
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const known = groups.get(row.requisition_id)
    if (known) known.push(row)
    else groups.set(row.requisition_id, [row])
  }
  return groups
}

/** By id; of all projects when none are given. */
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
  const partiesOf = groupedBy(parties)
  return new Map(
    [...groupedBy(roots)].map(([id, own]) => [id, storedOf(own, partiesOf.get(id) ?? [])] as const),
  )
}
