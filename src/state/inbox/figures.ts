/** Counts recent webhook events: how many came, which wait, and which need attention. */

import { formatNumber } from '../../lib/counted.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'

export interface EventFigures {
  /** Received since the given time. */
  readonly events: number
  /** Arrival of the latest of them, ISO 8601. */
  readonly lastAt: string | null
  /** Events of any age whose record or list has not been read yet. */
  readonly waiting: number
  readonly waitingSince: string | null
  /** Types that this program does not know, most frequent first. */
  readonly unknownTypes: readonly { readonly type: string; readonly events: number }[]
  /** Events of a known type without a usable id. */
  readonly unreadable: number
  /** Events about records that the key may not read, or that the service answered with 404. */
  readonly refused: number
  readonly notFound: number
  /** All events in the inbox, including settled ones. */
  readonly stored: StoredEvents
  /** Refused deliveries by reason, most frequent first. */
  readonly refusedDeliveries: readonly { readonly reason: string; readonly deliveries: number }[]
}

/** Contents of the inbox, or its max. */
export interface StoredEvents {
  readonly events: number
  readonly bytes: number
}

/** Bytes of a row with its index entries, without its payload. */
const bytesOfRow = 300

export const storedBytes = (payload: string | null): number =>
  bytesOfRow + (payload === null ? 0 : Buffer.byteLength(payload))

/** Zero for a file without an inbox. */
export async function storedEvents(engine: Engine): Promise<StoredEvents> {
  if (!(await existingTables(engine)).has('inbox')) return { events: 0, bytes: 0 }
  const [row] = await engine.rows<{ events: FigureValue; bytes: FigureValue }>(
    'select count(*) as events, coalesce(sum(bit_length(payload) / 8), 0) as bytes from ops.inbox',
  )
  const events = Number(row?.events ?? 0)
  return { events, bytes: events * bytesOfRow + Number(row?.bytes ?? 0) }
}

/** The share of its bounds above which a full inbox is reported. */
const noticedShare = 0.4

/** Undefined while there is room. Events that change no data may fill half of the inbox. */
export function filling(stored: StoredEvents, bounds: StoredEvents): string | undefined {
  if (stored.events < bounds.events * noticedShare && stored.bytes < bounds.bytes * noticedShare)
    return undefined
  const megabytes = (bytes: number): string => formatNumber(Math.ceil(bytes / 1e6))
  return `the inbox has ${formatNumber(stored.events)} of ${formatNumber(bounds.events)} events, in ${megabytes(stored.bytes)} of ${megabytes(bounds.bytes)} MB`
}

type FigureValue = string | number | null

interface Sums {
  readonly events: FigureValue
  readonly last_at: string | null
  readonly unreadable: FigureValue
  readonly refused: FigureValue
  readonly not_found: FigureValue
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
  const rows = await engine.rows<{ type: string; events: FigureValue }>(
    `select type, count(*) as events from star.fact_webhook_event
     where state = 'unknown' and received_at >= cast($1 as timestamptz) group by type order by events desc, type`,
    [since],
  )
  return rows.map(({ type, events }) => ({ type, events: Number(events) }))
}

async function refusedDeliveries(engine: Engine, since: string): Promise<EventFigures['refusedDeliveries']> {
  const rows = await engine.rows<{ reason: string; n: FigureValue }>(
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
  const [waiting] = await engine.rows<{ n: FigureValue; since: string | null }>(
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
