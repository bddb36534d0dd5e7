/** Figures of recent webhook events: how many, what waits, and what needs attention. */

import { formatNumber } from '../../lib/counted.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'

export interface EventFigures {
  /** Received since the given time. */
  readonly events: number
  /** Arrival of the latest of them, ISO 8601. */
  readonly lastAt: string | null
  /** Events whose record or list was not read yet, whenever they came, and the arrival of the oldest. */
  readonly waiting: number
  readonly waitingSince: string | null
  /** Types that this program does not know, most frequent first. */
  readonly unknownTypes: readonly { readonly type: string; readonly events: number }[]
  /** Of a known type, but without a usable id. */
  readonly unreadable: number
  /** About records that the key may not read, and about records answered with 404. */
  readonly refused: number
  readonly notFound: number
  /** In the inbox, settled events included. */
  readonly stored: StoredEvents
  /** Refused deliveries by reason, most frequent first. */
  readonly refusedDeliveries: readonly { readonly reason: string; readonly deliveries: number }[]
}

/** What the inbox holds, or may hold. */
export interface StoredEvents {
  readonly events: number
  readonly bytes: number
}

/** Of a row and its place in the indexes, without its payload. */
const bytesOfRow = 300

export const storedBytes = (payload: string | null): number =>
  bytesOfRow + (payload === null ? 0 : Buffer.byteLength(payload))

/** Nothing for a file without an inbox. */
export async function storedEvents(engine: Engine): Promise<StoredEvents> {
  if (!(await existingTables(engine)).has('inbox')) return { events: 0, bytes: 0 }
  const [row] = await engine.rows<{ events: Figure; bytes: Figure }>(
    'select count(*) as events, coalesce(sum(bit_length(payload) / 8), 0) as bytes from ops.inbox',
  )
  const events = Number(row?.events ?? 0)
  return { events, bytes: events * bytesOfRow + Number(row?.bytes ?? 0) }
}

/** From here on people are warned: the share of its bounds that an inbox may fill unnoticed. */
const noticedShare = 0.4

/** Undefined for an inbox with room: events that change no data may fill half of it. */
export function filling(stored: StoredEvents, bounds: StoredEvents): string | undefined {
  if (stored.events < bounds.events * noticedShare && stored.bytes < bounds.bytes * noticedShare)
    return undefined
  const megabytes = (bytes: number): string => formatNumber(Math.ceil(bytes / 1e6))
  return `the inbox has ${formatNumber(stored.events)} of ${formatNumber(bounds.events)} events, in ${megabytes(stored.bytes)} of ${megabytes(bounds.bytes)} MB`
}

type Figure = string | number | null

interface Sums {
  readonly events: Figure
  readonly last_at: string | null
  readonly unreadable: Figure
  readonly refused: Figure
  readonly not_found: Figure
}

async function sums(engine: Engine, since: string): Promise<Sums | undefined> {
  const [row] = await engine.rows<Sums>(
    `select count(*) as events, max(received_at) as last_at,
       count(*) filter (where state = 'unreadable') as unreadable,
       count(*) filter (where fetch_result = 'refused') as refused,
       count(*) filter (where fetch_result = 'not found') as not_found
     from star.fact_webhook_event where received_at >= cast($1 as timestamptz)`,
    [since],
  )
  return row
}

async function unknownTypes(engine: Engine, since: string): Promise<EventFigures['unknownTypes']> {
  const rows = await engine.rows<{ type: string; events: Figure }>(
    `select type, count(*) as events from star.fact_webhook_event
     where state = 'unknown' and received_at >= cast($1 as timestamptz) group by type order by events desc, type`,
    [since],
  )
  return rows.map(({ type, events }) => ({ type, events: Number(events) }))
}

async function refusedDeliveries(engine: Engine, since: string): Promise<EventFigures['refusedDeliveries']> {
  const rows = await engine.rows<{ reason: string; n: Figure }>(
    `select reason, sum(deliveries) as n from ops.refused_delivery
     where day >= cast($1 as date) group by reason order by n desc, reason`,
    [since.slice(0, 10)],
  )
  return rows.map(({ reason, n }) => ({ reason, deliveries: Number(n) }))
}

/** `since` is ISO 8601. Undefined for a file without these tables. */
export async function readEventFigures(engine: Engine, since: string): Promise<EventFigures | undefined> {
  const tables = await existingTables(engine)
  if (!tables.has('refused_delivery')) return undefined
  // The published copy leaves the inbox out.
  const inbox = tables.has('inbox') ? 'ops.inbox' : 'star.fact_webhook_event'
  const [waiting] = await engine.rows<{ n: Figure; since: string | null }>(
    `select count(*) as n, min(received_at) as since from ${inbox} where state in ('new', 'signalled')`,
  )
  const row = await sums(engine, since)
  return {
    events: Number(row?.events ?? 0),
    lastAt: row?.last_at ?? null,
    waiting: Number(waiting?.n ?? 0),
    waitingSince: waiting?.since ?? null,
    unknownTypes: await unknownTypes(engine, since),
    unreadable: Number(row?.unreadable ?? 0),
    refused: Number(row?.refused ?? 0),
    notFound: Number(row?.not_found ?? 0),
    stored: await storedEvents(engine),
    refusedDeliveries: await refusedDeliveries(engine, since),
  }
}

/** Whether any event was ever received; false for a file without an inbox. */
export async function hasReceivedEvents(engine: Engine): Promise<boolean> {
  if (!(await existingTables(engine)).has('inbox')) return false
  return (await engine.rows('select event_id from ops.inbox limit 1')).length > 0
}
