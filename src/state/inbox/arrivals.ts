/** Webhook events as they come in: stored in `ops.inbox`, repeated deliveries counted, refused ones too. */

import type { EventEntity } from '../../contract/events.ts'
import { asPattern } from '../../lib/input-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/**
 * `new` asks for a record to be read; `unknown` is a type that this program does not know, `unreadable` a known type
 * without a usable id, `test` a test that somebody sent from the application. All but `new` are kept and counted, and
 * change no data.
 */
export type ArrivalState = 'new' | 'unknown' | 'unreadable' | 'test'

export interface InboxEvent {
  /** Of the event, not of its delivery: every repetition carries the same id. */
  readonly id: string
  readonly type: string
  readonly entity: EventEntity | null
  readonly recordId: string | null
  /** ISO 8601, UTC. */
  readonly createdAt: string | null
  readonly receivedAt: string
  readonly state: ArrivalState
  /** The body, kept only where the other fields do not say everything. */
  readonly payload: string | null
}

const columns = 'event_id, type, entity, record_id, created_at, received_at, deliveries, state, payload'

/**
 * Stores a group on a server in one statement, committed by itself. Returns the ids that were stored before: counting
 * their deliveries here would have to wait for rows that a drain has locked.
 */
export async function insertEvents(
  engine: Engine,
  events: readonly InboxEvent[],
): Promise<readonly string[]> {
  const rows = await engine.rows<{ event_id: string }>(
    `insert into ops.inbox (${columns})
     select id, type, entity, "recordId", "createdAt", "receivedAt", 1, state, payload
     from json_to_recordset(cast($1 as json)) as e(id text, type text, entity text, "recordId" text,
       "createdAt" timestamptz, "receivedAt" timestamptz, state text, payload text)
     on conflict (event_id) do nothing returning event_id`,
    [JSON.stringify(events)],
  )
  const stored = new Set(rows.map(row => row.event_id))
  return events.map(({ id }) => id).filter(id => !stored.has(id))
}

const fields: Readonly<Record<keyof InboxEvent, string>> = {
  id: 'varchar',
  type: 'varchar',
  entity: 'varchar',
  recordId: 'varchar',
  createdAt: 'timestamptz',
  receivedAt: 'timestamptz',
  state: 'varchar',
  payload: 'varchar',
}

const shape = Object.entries(fields)
  .map(([name, type]) => `${name}: ${quoteText(type)}`)
  .join(', ')

/** A dying process may leave an unfinished last line, which is not JSON; its sender was never told 202. */
function arrivalsIn(files: readonly string[]): string {
  const list = files.map(file => quoteText(asPattern(file))).join(', ')
  return `select id, arg_min(columns(* exclude (id)), "receivedAt"), count(*) as deliveries
    from read_json([${list}], format = 'newline_delimited', columns = {${shape}}, ignore_errors = true)
    where id is not null and "receivedAt" is not null group by id`
}

/** Loads files of events, a JSON object a line, into a DuckDB file in one transaction; returns the deliveries in them. */
export async function loadEventFiles(engine: Engine, files: readonly string[]): Promise<number> {
  return engine.transaction(async connection => {
    await connection.run(`create or replace temp table arrival as ${arrivalsIn(files)}`)
    await addDeliveries(connection, 'arrival as a')
    await connection.run(
      `insert into ops.inbox (${columns})
       select id, type, entity, "recordId", "createdAt", "receivedAt", deliveries, state, payload from arrival
       where not exists (select 1 from ops.inbox i where i.event_id = arrival.id)`,
    )
    const [row] = await connection.rows<{ n: string | number }>(
      'select coalesce(sum(deliveries), 0) as n from arrival',
    )
    await connection.run('drop table arrival')
    return Number(row?.n ?? 0)
  })
}

/** `source` gives rows `a` with the columns id and deliveries. */
async function addDeliveries(connection: Engine, source: string): Promise<void> {
  await connection.run(
    `update ops.inbox set deliveries = inbox.deliveries + a.deliveries from ${source} where a.id = inbox.event_id`,
  )
  await connection.run(
    `update star.fact_webhook_event set delivered_count = fact_webhook_event.delivered_count + a.deliveries
     from ${source} where a.id = fact_webhook_event.event_id`,
  )
}

const pairsPerStatement = 1000

/** Counts repeated deliveries, by event id. */
export async function addRepetitions(
  engine: Engine,
  repetitions: ReadonlyMap<string, number>,
): Promise<void> {
  const pairs = [...repetitions].map(([id, count]) => `(${quoteText(id)}, ${count})`)
  for (let from = 0; from < pairs.length; from += pairsPerStatement) {
    const source = `(values ${pairs.slice(from, from + pairsPerStatement).join(', ')}) as a(id, deliveries)`
    await engine.transaction(connection => addDeliveries(connection, source))
  }
}

export interface Refusals {
  /** YYYY-MM-DD, UTC. */
  readonly day: string
  readonly counts: ReadonlyMap<string, number>
}

/** Counts refused deliveries in one statement a call: a flood costs the warehouse a few rows a day. */
export async function addRefusals(engine: Engine, { day, counts }: Refusals): Promise<void> {
  if (counts.size === 0) return
  const rows = [...counts].map(([reason, count]) => `(cast($1 as date), ${quoteText(reason)}, ${count})`)
  await engine.run(
    `insert into ops.refused_delivery (day, reason, deliveries) values ${rows.join(', ')}
     on conflict (day, reason) do update set deliveries = refused_delivery.deliveries + excluded.deliveries`,
    [day],
  )
}
