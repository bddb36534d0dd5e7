/** Counts how many records without a list are stored, against the known ids and against totals in other records. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { eventSignal } from './signal-counts.ts'
import type { DiscoveredRow } from './tables.ts'

/** Ids of one resource, by the result of their last fetch. */
export interface IdCoverage {
  readonly resource: string
  /** All known ids, without texts that cannot be ids. */
  readonly known: number
  readonly stored: number
  readonly neverFetched: number
  readonly missing: number
  readonly refused: number
  /** Why ids are missing or refused, the most frequent reason first. */
  readonly reasons: readonly { readonly reason: string; readonly ids: number }[]
}

/** Requisitions by reference: metric rows name them without an id. */
export interface ReferenceCoverage {
  readonly stored: number
  readonly known: number
  /** Named in metric rows only, so their ids cannot be found. */
  readonly withoutId: number
}

/** Sum of the stored credit notes beside the sum on invoices; decimals in the companies' currencies. */
export interface CreditCoverage {
  readonly stored: string
  readonly onInvoices: string
}

/** Changes that fetches of one resource found, and how many an event had announced; counts halve in 90 days. */
export interface EventRecall {
  readonly resource: string
  readonly found: number
  readonly announced: number
}

export interface Coverage {
  readonly ids: readonly IdCoverage[]
  readonly requisitions: ReferenceCoverage
  readonly creditNotes: CreditCoverage
  /** Only resources in which fetches found changes. */
  readonly events: readonly EventRecall[]
}

type CoverageGroup = Pick<DiscoveredRow, 'resource' | 'state' | 'reason'> & { readonly n: number }

/** Leaves out texts that cannot be an id, and short ids of records known by a long one. */
const isRecord = `d.record_id not like 'md5 %' and (d.reason is null or d.reason not like 'it is another name of %')`

/** SQL for one row: the stored share of these resources' known records, and when the oldest was read. */
export const knownAndRead = (resources: readonly string[]): string =>
  `select cast(count(case when d.state = 'stored' then 1 end) as double precision)
     / nullif(count(case when d.state <> 'missing' then 1 end), 0) as share,
     min(case when d.state = 'stored' then coalesce(d.checked_at, d.last_fetched_at) end) as oldest
   from ops.discovered as d where d.resource in (${resources.map(quoteText).join(', ')}) and ${isRecord}`

function ofResource(resource: string, groups: readonly CoverageGroup[]): IdCoverage {
  const mine = groups.filter(group => group.resource === resource)
  const sum = (state?: CoverageGroup['state']): number =>
    mine
      .filter(group => state === undefined || group.state === state)
      .reduce((ids, { n }) => ids + Number(n), 0)
  const reasons = mine.flatMap(({ reason, n }) => (reason === null ? [] : [{ reason, ids: Number(n) }]))
  return {
    resource,
    known: sum(),
    stored: sum('stored'),
    neverFetched: sum('never fetched'),
    missing: sum('missing'),
    refused: sum('refused'),
    reasons: reasons.sort((left, right) => right.ids - left.ids || (left.reason < right.reason ? -1 : 1)),
  }
}

async function idCoverage(engine: Engine): Promise<IdCoverage[]> {
  const groups = await engine.rows<CoverageGroup>(
    `select d.resource, d.state, d.reason, count(*) as n from ops.discovered d where ${isRecord}
     group by d.resource, d.state, d.reason`,
  )
  const names = [...new Set(groups.map(({ resource }) => resource))].sort()
  return names.map(name => ofResource(name, groups))
}

/** Counts a reference once per company, however many records name it. */
async function referenceCoverage(engine: Engine): Promise<ReferenceCoverage> {
  const [row] = await engine.rows<{ known: number; stored: number; without_id: number }>(
    `select count(*) as known, count(*) filter (where q.is_stored) as stored,
       count(*) filter (where not q.is_stored and not q.is_named) as without_id
     from (
       select r.company_id, r.reference, bool_or(r.source = 'stored') as is_stored, bool_or(r.source = 'named') as is_named
       from (
         select company_id, reference, 'stored' as source from star.fact_requisition where not is_deleted
         union all
         select company_id, requisition_reference, 'named' from star.fact_assignment
         where not is_deleted and requisition_id is not null
         union all
         select company_id, requisition_reference, 'counted' from star.fact_recruitment_metric_row
         where not is_deleted) r
       where r.reference is not null group by r.company_id, r.reference) q`,
  )
  return {
    stored: Number(row?.stored ?? 0),
    known: Number(row?.known ?? 0),
    withoutId: Number(row?.without_id ?? 0),
  }
}

async function creditCoverage(engine: Engine): Promise<CreditCoverage> {
  const [row] = await engine.rows<{ stored: string; stated: string }>(
    `select cast(coalesce((select sum(subtotal) from star.fact_credit_note
         where not is_deleted and invoice_id is not null), 0) as numeric(18, 2)) as stored,
       cast(coalesce((select sum(credit_notes) from star.fact_invoice where not is_deleted), 0) as numeric(18, 2)) as stated`,
  )
  return { stored: String(row?.stored ?? '0.00'), onInvoices: String(row?.stated ?? '0.00') }
}

async function eventRecall(engine: Engine): Promise<EventRecall[]> {
  const rows = await engine.rows<EventRecall>(
    `select c.resource, c.signalled - c.unchanged + c.quiet_changes as found, c.signalled - c.unchanged as announced
     from ops.change_signal c where c.signal = '${eventSignal}' and c.signalled - c.unchanged + c.quiet_changes > 0 order by c.resource`,
  )
  return rows.map(({ resource, found, announced }) => ({
    resource,
    found: Number(found),
    announced: Number(announced),
  }))
}

/** Undefined for a file without ops.discovered, such as a published copy. */
export async function readCoverage(engine: Engine): Promise<Coverage | undefined> {
  const existing = await existingTables(engine)
  if (!existing.has('discovered')) return undefined
  return {
    ids: await idCoverage(engine),
    requisitions: await referenceCoverage(engine),
    creditNotes: await creditCoverage(engine),
    events: existing.has('change_signal') ? await eventRecall(engine) : [],
  }
}
