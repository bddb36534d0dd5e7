/** How much is held of what can be read one by one only: by the ids that were seen, and by what other records count. */
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { eventHint } from './hints.ts'
import type { DiscoveredRow } from './tables.ts'

/** Of one resource: ids by what came of them. */
export interface IdCoverage {
  readonly resource: string
  /** All ids that anything named, those that are no ids left out. */
  readonly known: number
  readonly held: number
  readonly unseen: number
  readonly missing: number
  readonly refused: number
  /** Why ids are missing or refused, most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly ids: number }[]
}

/** Requisitions by their references, which metric rows and assignments tell without an id. */
export interface ReferenceCoverage {
  readonly held: number
  readonly known: number
  /** Named in metric rows only: nothing gives their ids. */
  readonly withoutId: number
}

/** Credit notes by what their invoices say that they come to, in the currencies of the companies, as decimals. */
export interface CreditCoverage {
  readonly held: string
  readonly onInvoices: string
}

/** Of one resource: how many of the changes that reads found an event had announced; counts halve in 90 days. */
export interface EventRecall {
  readonly resource: string
  readonly found: number
  readonly announced: number
}

export interface Coverage {
  readonly ids: readonly IdCoverage[]
  readonly requisitions: ReferenceCoverage
  readonly creditNotes: CreditCoverage
  /** Of resources of which reads found changes. */
  readonly events: readonly EventRecall[]
}

type Group = Pick<DiscoveredRow, 'resource' | 'state' | 'reason'> & { readonly n: number }

/** Texts that are no ids, and second names of records, are nothing that could be held. */
const isRecord = `d.record_id not like 'md5 %' and (d.reason is null or d.reason not like 'it is another name of %')`

function ofResource(resource: string, groups: readonly Group[]): IdCoverage {
  const mine = groups.filter(group => group.resource === resource)
  const sum = (state?: Group['state']): number =>
    mine
      .filter(group => state === undefined || group.state === state)
      .reduce((ids, { n }) => ids + Number(n), 0)
  const reasons = mine.flatMap(({ reason, n }) => (reason === null ? [] : [{ reason, ids: Number(n) }]))
  return {
    resource,
    known: sum(),
    held: sum('held'),
    unseen: sum('unseen'),
    missing: sum('missing'),
    refused: sum('refused'),
    reasons: reasons.sort((left, right) => right.ids - left.ids || (left.reason < right.reason ? -1 : 1)),
  }
}

async function idCoverage(engine: Engine): Promise<IdCoverage[]> {
  const groups = await engine.rows<Group>(
    `select d.resource, d.state, d.reason, count(*) as n from ops.discovered d where ${isRecord}
     group by d.resource, d.state, d.reason`,
  )
  const names = [...new Set(groups.map(({ resource }) => resource))].sort()
  return names.map(name => ofResource(name, groups))
}

/** A reference counts once in its company, whoever tells it. */
async function referenceCoverage(engine: Engine): Promise<ReferenceCoverage> {
  const [row] = await engine.rows<{ known: number; held: number; without_id: number }>(
    `select count(*) as known, count(*) filter (where q.is_held) as held,
       count(*) filter (where not q.is_held and not q.is_named) as without_id
     from (
       select r.company_id, r.reference, bool_or(r.source = 'held') as is_held, bool_or(r.source = 'named') as is_named
       from (
         select company_id, reference, 'held' as source from star.fact_requisition where not is_deleted
         union all
         select company_id, requisition_reference, 'named' from star.fact_assignment
         where not is_deleted and requisition_id is not null
         union all
         select company_id, requisition_reference, 'counted' from star.fact_recruitment_metric_row
         where not is_deleted) r
       where r.reference is not null group by r.company_id, r.reference) q`,
  )
  return {
    held: Number(row?.held ?? 0),
    known: Number(row?.known ?? 0),
    withoutId: Number(row?.without_id ?? 0),
  }
}

async function creditCoverage(engine: Engine): Promise<CreditCoverage> {
  const [row] = await engine.rows<{ held: string; told: string }>(
    `select cast(coalesce((select sum(subtotal) from star.fact_credit_note
         where not is_deleted and invoice_id is not null), 0) as numeric(18, 2)) as held,
       cast(coalesce((select sum(credit_notes) from star.fact_invoice where not is_deleted), 0) as numeric(18, 2)) as told`,
  )
  return { held: String(row?.held ?? '0.00'), onInvoices: String(row?.told ?? '0.00') }
}

async function eventRecall(engine: Engine): Promise<EventRecall[]> {
  const rows = await engine.rows<EventRecall>(
    `select h.resource, h.told - h.unchanged + h.quiet_changes as found, h.told - h.unchanged as announced
     from ops.hint h where h.hint = '${eventHint}' and h.told - h.unchanged + h.quiet_changes > 0 order by h.resource`,
  )
  return rows.map(({ resource, found, announced }) => ({
    resource,
    found: Number(found),
    announced: Number(announced),
  }))
}

/** Undefined where the file does not keep the ids. */
export async function readCoverage(engine: Engine): Promise<Coverage | undefined> {
  const held = await existingTables(engine)
  if (!held.has('discovered')) return undefined
  return {
    ids: await idCoverage(engine),
    requisitions: await referenceCoverage(engine),
    creditNotes: await creditCoverage(engine),
    events: held.has('hint') ? await eventRecall(engine) : [],
  }
}
