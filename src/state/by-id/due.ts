/** Selects the ids to fetch before any stored record is refreshed: never fetched ones, and failed ones to retry. */
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

/** The estimate that made a stored record worth another fetch. */
export interface RefreshExpectation {
  /** State of the record at that time. */
  readonly kind: string
  /** Changes a day, estimated from its fetches. */
  readonly rate: number
  /** Probability that it had not changed, judged by its age alone. */
  readonly fresh: number
  /** Names of the change signals it had. */
  readonly signals: readonly string[]
}

export interface DueId {
  readonly record_id: string
  readonly state: 'never fetched' | 'stored' | 'missing' | 'refused'
  /** Failed fetches in a row. */
  readonly failures: number
  /** Only for a stored record without an event. */
  readonly expected?: RefreshExpectation
  /** The request counts against the share of the day for events. */
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
  /** Only records with an event, including stored ones. */
  readonly onlySignalled?: boolean
  /** True: only ids known from events alone and never fetched; false: only the others; undefined: all. */
  readonly isFromEvents?: boolean
}

export interface DueQuery extends DueTerms {
  readonly resource: string
}

/** Once a record names an id, that column replaces the event as its source. */
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

/** Records with an event come first, stored ones before others as they surely exist; then the longest waiting. */
export async function dueIds(engine: Engine, question: DueQuery, limit: number): Promise<DueId[]> {
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

/** Counts known ids without a record because the fetch failed; they are retried later. */
export async function countUnanswered(
  engine: Engine,
  { resource, at }: Pick<DueQuery, 'resource' | 'at'>,
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

/** Known ids that the service refuses to return, by reason, the most frequent first. */
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
  /** Ids never fetched or stored, by the column of star that named each first. */
  readonly sources: ReadonlyMap<string, number>
}

/** Counts several resources in one statement, as each statement costs more than counting. Omits resources without ids. */
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

/** Counts stored records with an event since their last fetch: they are known to be out of date. */
export async function countSignalled(
  engine: Engine,
  { resource, fetchedBefore }: Pick<DueQuery, 'resource' | 'fetchedBefore'>,
): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ops.discovered d
     where d.resource = $1 and d.state = 'stored' and d.signals > 0 and d.last_fetched_at < cast($2 as timestamptz)`,
    [resource, fetchedBefore],
  )
  return Number(row?.n ?? 0)
}

/** All ids of a resource, and those that the service was never asked for. */
export async function countIds(
  engine: Engine,
  resource: string,
): Promise<{ readonly known: number; readonly neverFetched: number }> {
  const [row] = await engine.rows<{ known: number; neverFetched: number }>(
    `select count(*) as known, count(*) filter (where d.state = 'never fetched') as "neverFetched"
     from ops.discovered d where d.resource = $1`,
    [resource],
  )
  return { known: Number(row?.known ?? 0), neverFetched: Number(row?.neverFetched ?? 0) }
}

/** How often stored rows name an id in a column, and how many ids. */
export async function namedIds(
  engine: Engine,
  table: string,
  column: string,
): Promise<{ readonly named: number; readonly distinct: number }> {
  const name = quoteName(column)
  const [row] = await engine.rows<{ named: number; ids: number }>(
    `select count(*) as named, count(distinct ${name}) as ids from ${table}
     where not is_deleted and ${name} is not null and ${name} <> '-1'`,
  )
  return { named: Number(row?.named ?? 0), distinct: Number(row?.ids ?? 0) }
}

export async function countDue(engine: Engine, question: DueQuery): Promise<DueCount> {
  const [row] = await engine.rows<{ neverFetched: number; again: number }>(
    `select count(*) filter (where d.state = 'never fetched') as "neverFetched", count(*) filter (where d.state <> 'never fetched') as again
     from ops.discovered d where d.resource = $4 and ${isDue(question)}`,
    [...values(question), question.resource],
  )
  return { neverFetched: Number(row?.neverFetched ?? 0), again: Number(row?.again ?? 0) }
}
