/** Which ids are to be asked for before anything is read again: those never read, and those to be tried again. */
import type { Engine } from '../../warehouse/engine.ts'

/** What was expected of a record when it was chosen to be read again. */
export interface Expected {
  /** Its state then. */
  readonly kind: string
  /** Changes a day, as estimated from its reads. */
  readonly rate: number
  /** Probability that it had not changed, as far as its age tells. */
  readonly fresh: number
  /** Names of the hints that spoke for a change. */
  readonly hints: readonly string[]
}

export interface DueId {
  readonly record_id: string
  readonly state: 'unseen' | 'held' | 'missing' | 'refused'
  /** Answers in a row that did not bring it. */
  readonly misses: number
  /** Of a held record that nothing was signalled of. */
  readonly expected?: Expected
}

export interface DueQuestion {
  readonly resource: string
  /** What the key can reach now; null leaves out what another scope would ask for again. */
  readonly keyScope: string | null
  /** ISO 8601. */
  readonly at: string
  /** ISO 8601: what was fetched since then is not asked for again. */
  readonly fetchedBefore: string
  /** Only what was signalled, held records among it. */
  readonly onlySignalled?: boolean
}

/** Of $1 resource, $2 key scope, $3 now, $4 fetched before. What was asked for before waits until `retry_after`. */
const isDue = ({ onlySignalled = false }: DueQuestion): string =>
  `d.resource = $1 and (d.last_fetched_at is null or d.last_fetched_at < cast($4 as timestamptz))
   and ((d.state = 'unseen' and (d.retry_after is null or d.retry_after <= cast($3 as timestamptz)))
     or (d.state in ('missing', 'refused')
       and (d.retry_after <= cast($3 as timestamptz) or (d.key_scope is not null and d.key_scope <> $2)))
     ${onlySignalled ? `or d.state = 'held'` : ''}) ${onlySignalled ? 'and d.signals > 0' : ''}`

const values = ({ resource, keyScope, at, fetchedBefore }: DueQuestion): (string | null)[] => [
  resource,
  keyScope,
  at,
  fetchedBefore,
]

/** Signalled ones first, then those that wait longest. */
export async function dueIds(engine: Engine, question: DueQuestion, limit: number): Promise<DueId[]> {
  const rows = await engine.rows<DueId>(
    `select d.record_id, d.state, d.misses from ops.discovered d where ${isDue(question)}
     order by case when d.signals > 0 then 0 when d.state = 'unseen' then 1 else 2 end, d.first_seen_at, d.record_id
     limit ${Math.max(0, Math.floor(limit))}`,
    values(question),
  )
  return rows.map(row => ({ ...row, misses: Number(row.misses) }))
}

export interface DueCount {
  readonly unseen: number
  /** Missing or refused ones to be tried again; of signalled ones, held ones as well. */
  readonly again: number
}

export async function countDue(engine: Engine, question: DueQuestion): Promise<DueCount> {
  const [row] = await engine.rows<{ unseen: number; again: number }>(
    `select count(*) filter (where d.state = 'unseen') as unseen, count(*) filter (where d.state <> 'unseen') as again
     from ops.discovered d where ${isDue(question)}`,
    values(question),
  )
  return { unseen: Number(row?.unseen ?? 0), again: Number(row?.again ?? 0) }
}
