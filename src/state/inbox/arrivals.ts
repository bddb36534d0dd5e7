/** Stores incoming webhook events in `ops.inbox`; counts repeated and refused deliveries. */

import type { EventEntity } from '../../contract/events.ts'
import { asPattern } from '../../lib/input-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/**
 * `new` asks for a record to be read; `unknown` is a type that this program does not know, `unreadable` a known type
 * without a usable id, `test` a test that a user sent from the application. All but `new` are stored and counted only; they
 * change no data.
 */
export type ArrivalState = 'new' | 'unknown' | 'unreadable' | 'test'

export interface InboxEvent {
  /** Id of the event: repeated deliveries share it, and events about other records may have it too. */
  readonly id: string
  readonly type: string
  readonly entity: EventEntity | null
  readonly recordId: string | null
  /** ISO 8601, UTC. */
  readonly createdAt: string | null
  readonly receivedAt: string
  readonly state: ArrivalState
  /** The beginning of the body, stored only if the other fields cannot express all of it. */
  readonly payload: string | null
}

const columns = 'event_id, type, entity, record_id, created_at, received_at, deliveries, state, payload'

/** Identifies an event across its deliveries. A sender may use one id for several records; each is an event. */
export const identityOf = ({ id, type, recordId }: Pick<InboxEvent, 'id' | 'type' | 'recordId'>): string =>
  `${id} ${type} ${recordId ?? ''}`

/** The same without the id, as SQL. */
const subject = (type: string, recordId: string): string => `${type} || ' ' || coalesce(${recordId}, '')`

const stored = subject('i.type', 'i.record_id')

/** The row's id is the event's id, unless an earlier event of another record or type has it. */
const rowId = (first: string): string =>
  `case when e.subject = coalesce(${stored}, ${first}) then e.id else e.id || '~' || left(md5(e.subject), 8) end`

/** `events` has the columns of a delivery; several may have one id. */
const withRowIds = (events: string): string =>
  `select e.*, ${rowId('first_value(e.subject) over (partition by e.id order by e."receivedAt", e.subject)')} as event_id
   from (select *, ${subject('type', '"recordId"')} as subject from ${events}) e
   left join ops.inbox i on i.event_id = e.id`

/** Stores events in one statement with its own commit; returns those that were stored already. */
async function insertNew(engine: Engine, events: readonly InboxEvent[]): Promise<readonly InboxEvent[]> {
  const rows = await engine.rows<{ event_id: string; type: string; record_id: string | null }>(
    `insert into ops.inbox (${columns})
     select event_id, type, entity, "recordId", "createdAt", "receivedAt", 1, state, payload
     from (${withRowIds(`json_to_recordset(cast($1 as json)) as d(id text, type text, entity text, "recordId" text,
       "createdAt" timestamptz, "receivedAt" timestamptz, state text, payload text)`)}) as e
     on conflict (event_id) do nothing returning event_id, type, record_id`,
    [JSON.stringify(events)],
  )
  const inserted = new Set(
    rows.map(({ event_id: id, type, record_id: recordId }) =>
      identityOf({ id: id.replace(/~.*/, ''), type, recordId }),
    ),
  )
  return events.filter(event => !inserted.has(identityOf(event)))
}

/**
 * Stores a group on a server. Returns the identities of events stored before: counting their deliveries here
 * would have to wait for rows that a drain has locked.
 */
export async function insertEvents(
  engine: Engine,
  events: readonly InboxEvent[],
): Promise<readonly string[]> {
  const present = await insertNew(engine, events)
  // Try again: another process may have stored an event with the same id about another record at the same time.
  return present.length === 0 ? [] : (await insertNew(engine, present)).map(identityOf)
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

/** A dying process may leave an unfinished last line, which is not JSON; its sender never got a 202. */
function arrivalsIn(files: readonly string[]): string {
  const list = files.map(file => quoteText(asPattern(file))).join(', ')
  return `(select id, type, "recordId", arg_min(columns(* exclude (id, type, "recordId")), "receivedAt"), count(*) as deliveries
    from read_json([${list}], format = 'newline_delimited', columns = {${shape}}, ignore_errors = true)
    where id is not null and "receivedAt" is not null group by id, type, "recordId")`
}

/** Loads files of events, one JSON object a line, into a DuckDB file in one transaction; returns the number of deliveries. */
export async function loadEventFiles(engine: Engine, files: readonly string[]): Promise<number> {
  return engine.transaction(async connection => {
    await connection.run(`create or replace temp table arrival as ${withRowIds(arrivalsIn(files))}`)
    await addDeliveries(connection, 'arrival as a')
    await connection.run(
      `insert into ops.inbox (${columns})
       select event_id, type, entity, "recordId", "createdAt", "receivedAt", deliveries, state, payload from arrival
       where not exists (select 1 from ops.inbox i where i.event_id = arrival.event_id)`,
    )
    const [row] = await connection.rows<{ n: string | number }>(
      'select coalesce(sum(deliveries), 0) as n from arrival',
    )
    await connection.run('drop table arrival')
    return Number(row?.n ?? 0)
  })
}

/** `source` gives rows `a` with the columns event_id and deliveries. */
async function addDeliveries(connection: Engine, source: string): Promise<void> {
  await connection.run(
    `update ops.inbox set deliveries = inbox.deliveries + a.deliveries from ${source} where a.event_id = inbox.event_id`,
  )
  await connection.run(
    `update star.fact_webhook_event set delivered_count = fact_webhook_event.delivered_count + a.deliveries
     from ${source} where a.event_id = fact_webhook_event.event_id`,
  )
}

const rowsPerStatement = 1000

/** Adds repeated deliveries, given by the identity of the event. */
export async function addRepetitions(
  engine: Engine,
  repetitions: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = [...repetitions].map(([identity, count]) => {
    const end = identity.indexOf(' ')
    return `(${quoteText(identity.slice(0, end))}, ${quoteText(identity.slice(end + 1))}, ${count})`
  })
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const source = `(select ${rowId('e.subject')} as event_id, e.deliveries
      from (values ${rows.slice(from, from + rowsPerStatement).join(', ')}) as e(id, subject, deliveries)
      left join ops.inbox i on i.event_id = e.id) as a`
    await engine.transaction(connection => addDeliveries(connection, source))
  }
}

export interface RefusalCounts {
  /** YYYY-MM-DD, UTC. */
  readonly day: string
  readonly counts: ReadonlyMap<string, number>
}

/** Counts refused deliveries with one statement per call, so a flood costs the warehouse a few rows a day. */
export async function addRefusals(engine: Engine, { day, counts }: RefusalCounts): Promise<void> {
  if (counts.size === 0) return
  const rows = [...counts].map(([reason, count]) => `(cast($1 as date), ${quoteText(reason)}, ${count})`)
  await engine.run(
    `insert into ops.refused_delivery (day, reason, deliveries) values ${rows.join(', ')}
     on conflict (day, reason) do update set deliveries = refused_delivery.deliveries + excluded.deliveries`,
    [day],
  )
}
