/** Ids that are fetched before any stored record is fetched again: those never fetched, and those to be retried. */
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/** What was expected of a stored record when it was chosen for another fetch. */
export interface Expected {
  /** Its state at that time. */
  readonly kind: string
  /** Changes a day, as estimated from its fetches. */
  readonly rate: number
  /** Probability that it had not changed, judging by its age alone. */
  readonly fresh: number
  /** Names of the change signals it had. */
  readonly signals: readonly string[]
}

export interface DueId {
  readonly record_id: string
  readonly state: 'never fetched' | 'stored' | 'missing' | 'refused'
  /** Failed fetches in a row. */
  readonly failures: number
  /** Of a stored record without an event. */
  readonly expected?: Expected
  /** The share of events pays for the request. */
  readonly isForEvents?: boolean
}

/** What makes an id due. */
export interface DueTerms {
  /** Scope of the key; null leaves out records that only another scope would retry. */
  readonly keyScope: string | null
  /** ISO 8601. */
  readonly at: string
  /** ISO 8601: records fetched since then are left out. */
  readonly fetchedBefore: string
  /** Only records with an event, stored ones included. */
  readonly onlySignalled?: boolean
  /** Only ids that nothing but events has named and that no read has found, or only the others; all when left out. */
  readonly isFromEvents?: boolean
}

export interface DueQuestion extends DueTerms {
  readonly resource: string
}

/** An id that a record names has the column as its source, also where an event came first. */
const isFromEvents = `(d.source like 'event %' and d.state <> 'stored')`

const origin = ({ isFromEvents: asked }: Pick<DueTerms, 'isFromEvents'>): string =>
  asked === undefined ? '' : `and ${asked ? '' : 'not '}${isFromEvents}`

/** $1 key scope, $2 now, $3 fetched before. Failed fetches are retried after `retry_after`. */
const isDue = ({ onlySignalled = false, ...terms }: DueTerms): string =>
  `(d.last_fetched_at is null or d.last_fetched_at < cast($3 as timestamptz))
   and ((d.state = 'never fetched' and (d.retry_after is null or d.retry_after <= cast($2 as timestamptz)))
     or (d.state in ('missing', 'refused')
       and (d.retry_after <= cast($2 as timestamptz) or (d.key_scope is not null and d.key_scope <> $1)))
     ${onlySignalled ? `or d.state = 'stored'` : ''}) ${onlySignalled ? 'and d.signals > 0' : ''} ${origin(terms)}`

const values = ({ keyScope, at, fetchedBefore }: DueTerms): (string | null)[] => [keyScope, at, fetchedBefore]

/** Records with an event first, of these the stored ones, which exist; then those that wait longest. */
export async function dueIds(engine: Engine, question: DueQuestion, limit: number): Promise<DueId[]> {
  const rows = await engine.rows<DueId>(
    `select d.record_id, d.state, d.failed_fetches as failures from ops.discovered d
     where d.resource = $4 and ${isDue(question)}
     order by case when d.signals > 0 then 0 when d.state = 'never fetched' then 1 else 2 end,
       case when d.state = 'stored' then 0 else 1 end, d.first_seen_at, d.record_id
     limit ${Math.max(0, Math.floor(limit))}`,
    [...values(question), question.resource],
  )
  return rows.map(row => ({ ...row, failures: Number(row.failures) }))
}

export interface DueCount {
  readonly neverFetched: number
  /** Failed fetches to be retried; with `onlySignalled` stored records too. */
  readonly again: number
}

/** Known ids without a record, because the service failed when it was asked for them; they are due again later. */
export async function countUnanswered(
  engine: Engine,
  { resource, at }: Pick<DueQuestion, 'resource' | 'at'>,
): Promise<{ readonly unanswered: number; readonly known: number }> {
  const [row] = await engine.rows<{ unanswered: number; known: number }>(
    `select count(*) filter (where d.retry_after > cast($2 as timestamptz)) as unanswered, count(*) as known
     from ops.discovered d where d.resource = $1 and d.state in ('never fetched', 'stored')`,
    [resource, at],
  )
  return { unanswered: Number(row?.unanswered ?? 0), known: Number(row?.known ?? 0) }
}

export interface RefusedIds {
  readonly reason: string
  readonly ids: number
}

/** Known records that the service does not give by their ids, by reason, most frequent first. */
export async function refusedIds(engine: Engine, resource: string): Promise<readonly RefusedIds[]> {
  const rows = await engine.rows<RefusedIds>(
    `${withPart('refused_id')} select r.reason, r.records as ids from refused_id as r where r.resource = $1
     order by r.records desc, r.reason`,
    [resource],
  )
  return rows.map(({ reason, ids }) => ({ reason, ids: Number(ids) }))
}

/** The ids of one resource. */
export interface KnownIds {
  readonly due: number
  /** Those never fetched or stored, by the column of star that named each first. */
  readonly sources: ReadonlyMap<string, number>
}

/** Of several resources in one statement, which costs more than the counting. A resource without ids is missing. */
export async function knownIds(
  engine: Engine,
  resources: readonly string[],
  terms: DueTerms,
): Promise<ReadonlyMap<string, KnownIds>> {
  if (resources.length === 0) return new Map()
  const rows = await engine.rows<{ resource: string; source: string; known: number; due: number }>(
    `select d.resource, d.source, count(*) filter (where d.state in ('never fetched', 'stored')) as known,
       count(*) filter (where ${isDue(terms)}) as due
     from ops.discovered d where d.resource in (${resources.map(quoteText).join(', ')}) group by d.resource, d.source`,
    values(terms),
  )
  const found = new Map<string, { due: number; sources: Map<string, number> }>()
  for (const { resource, source, known, due } of rows) {
    const ids = found.get(resource) ?? { due: 0, sources: new Map<string, number>() }
    ids.due += Number(due)
    if (Number(known) > 0) ids.sources.set(source, Number(known))
    found.set(resource, ids)
  }
  return found
}

/** Stored records that events told of, and that were not fetched since: they are known to be old. */
export async function countSignalled(
  engine: Engine,
  { resource, fetchedBefore }: Pick<DueQuestion, 'resource' | 'fetchedBefore'>,
): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ops.discovered d
     where d.resource = $1 and d.state = 'stored' and d.signals > 0 and d.last_fetched_at < cast($2 as timestamptz)`,
    [resource, fetchedBefore],
  )
  return Number(row?.n ?? 0)
}

export async function countDue(engine: Engine, question: DueQuestion): Promise<DueCount> {
  const [row] = await engine.rows<{ neverFetched: number; again: number }>(
    `select count(*) filter (where d.state = 'never fetched') as "neverFetched", count(*) filter (where d.state <> 'never fetched') as again
     from ops.discovered d where d.resource = $4 and ${isDue(question)}`,
    [...values(question), question.resource],
  )
  return { neverFetched: Number(row?.neverFetched ?? 0), again: Number(row?.again ?? 0) }
}
