/** Looks for quarantined records fixed at the source without a new updatedAt: one request a day. */
import { hourMs, isWithin } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { QuarantineLookRow } from './tables.ts'

/** Less than a day, as a nightly run does not start at exactly the same time. */
const pauseMs = 20 * hourMs

export interface LookQuery {
  readonly resource: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Records that this run has read need no look; undefined before a run. */
  readonly runId?: string
}

interface OpenQuarantine {
  readonly record_id: string | null
  /** 40 characters of the record, starting at createdAt if it has one. */
  readonly piece: string
}

async function openRecords(engine: Engine, { resource, runId = '' }: LookQuery): Promise<OpenQuarantine[]> {
  return engine.rows<OpenQuarantine>(
    `select q.record_id, substr(q.payload, cast(position('"createdAt"' in q.payload) as integer), 40) as piece
     from ops.quarantine as q
     where q.resource = $1 and q.resolved_at is null
       and not exists (select 1 from ops.run as r where r.run_id = $2 and q.seen_at >= r.started_at)`,
    [resource, runId],
  )
}

async function lastLook(engine: Engine, resource: string): Promise<QuarantineLookRow | undefined> {
  const query = ledger(engine).selectFrom('ops.quarantine_look').selectAll().where('resource', '=', resource)
  return (await query.execute())[0]
}

/** Undefined when there is nothing to look for, or the last look was less than a day ago. */
async function dueLook(engine: Engine, question: LookQuery) {
  const last = await lastLook(engine, question.resource)
  if (last && isWithin(last.looked_at, question.now, pauseMs)) return undefined
  const records = await openRecords(engine, question)
  return records.length === 0 ? undefined : { records, last }
}

/** For the plan of a run. */
export async function isLookDue(engine: Engine, question: LookQuery): Promise<boolean> {
  const tables = await existingTables(engine)
  if (!tables.has('quarantine_look') || !tables.has('quarantine')) return false
  return (await dueLook(engine, question)) !== undefined
}

/** The next of these texts after the last one; starts over after the end. */
function following(texts: readonly string[], last: string | undefined): string {
  const sorted = [...new Set(texts)].sort()
  return sorted.find(text => last !== undefined && text > last) ?? sorted[0] ?? ''
}

const dayIn = (piece: string): string => /"createdAt"\s*:\s*"(\d{4}-\d\d-\d\d)/.exec(piece)?.[1] ?? ''

export interface DayLook {
  /** YYYY-MM-DD; empty when a record has no created day. */
  readonly place: string
  readonly page: number
}

/** The page to look at: the next page of the last created day, or the first page of the next day. */
export async function nextDayLook(
  engine: Engine,
  question: LookQuery & { readonly pageSize: number },
): Promise<DayLook | undefined> {
  const due = await dueLook(engine, question)
  if (!due) return undefined
  const days = due.records.map(({ piece }) => dayIn(piece))
  const { last } = due
  if (last && days.includes(last.place) && Number(last.page) * question.pageSize < Number(last.total))
    return { place: last.place, page: Number(last.page) + 1 }
  return { place: following(days, last?.place), page: 1 }
}

/** The next record, for resources read by id. */
export async function nextRecordLook(engine: Engine, question: LookQuery): Promise<string | undefined> {
  const due = await dueLook(engine, question)
  const ids = due?.records.flatMap(({ record_id: id }) => (id === null ? [] : [id])) ?? []
  return ids.length === 0 ? undefined : following(ids, due?.last?.place)
}

export async function recordLook(engine: Engine, row: QuarantineLookRow): Promise<void> {
  await ledger(engine)
    .insertInto('ops.quarantine_look')
    .values(row)
    .onConflict(conflict =>
      conflict.column('resource').doUpdateSet({
        looked_at: row.looked_at,
        place: row.place,
        page: row.page,
        total: row.total,
      }),
    )
    .execute()
}
