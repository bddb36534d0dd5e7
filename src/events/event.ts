/** What a signed body says: that something happened to a record, which is then read anew. Nothing else is taken from it. */
import { type EventEntity, type EventType, eventRule, isEventType, payloadKeys } from '../contract/events.ts'
import { isSafeId } from '../contract/fields/record-id.ts'
import { parseStrictly } from './strict-json.ts'

/**
 * `new` is to be acted upon; `unknown` is a type that this program does not know, `unreadable` a known one without a
 * usable id, `test` a trial that somebody sent from the application: these are kept and counted, and touch no data.
 */
export type ArrivalState = 'new' | 'unknown' | 'unreadable' | 'test'

export interface InboxEvent {
  /** Of the event, not of its delivery: the same at every repetition. */
  readonly id: string
  readonly type: string
  readonly entity: EventEntity | null
  readonly recordId: string | null
  /** ISO 8601, UTC. */
  readonly createdAt: string | null
  readonly receivedAt: string
  readonly state: ArrivalState
  /** The body, kept where it says more than the other fields do. */
  readonly payload: string | null
}

const typePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
/** This century: what one engine takes for a time, another refuses. */
const timePattern = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const testTypes = ['test', 'ping', 'webhook_test', 'test_event']

/** Events whose payload key the service does not show: theirs may be another than the entity's own name. */
const hiddenKeys: ReadonlySet<EventType> = new Set([
  'credit_note_created',
  'purchase_order_created',
  'purchase_order_amended',
  'purchase_order_expired',
  'purchase_order_deleted',
  'trade_created',
  'trade_disabled',
  'rate_created',
  'rate_amended',
])

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

function idOf(value: unknown): string | undefined {
  const id = isFields(value) ? own(value, 'id') : undefined
  return typeof id === 'string' && isSafeId(id) ? id : undefined
}

/** Under the expected key; under the only other one there is, where the service does not show the key. */
function recordIdIn(data: unknown, type: EventType): string | undefined {
  if (!isFields(data)) return undefined
  const key = payloadKeys[eventRule(type).entity]
  if (Object.hasOwn(data, key)) return idOf(data[key])
  const [only, ...others] = Object.values(data)
  return hiddenKeys.has(type) && others.length === 0 ? idOf(only) : undefined
}

function timeIn(value: unknown): string | null {
  const time = typeof value === 'string' && timePattern.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

export interface Reading {
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** Of a body whose signature was found right; a fault when it is no event at all. */
export function readEvent({ body, nowMs }: Reading): InboxEvent | { readonly fault: string } {
  const parsed = parseStrictly(body)
  if ('fault' in parsed) return parsed
  if (!isFields(parsed.value)) return { fault: 'not an object' }
  const [id, type] = [own(parsed.value, 'id'), own(parsed.value, 'type')]
  if (typeof id !== 'string' || !isSafeId(id)) return { fault: 'without a usable id' }
  if (typeof type !== 'string' || !typePattern.test(type)) return { fault: 'without a usable type' }
  const base = {
    id,
    type,
    createdAt: timeIn(own(parsed.value, 'createdAt')),
    receivedAt: new Date(nowMs).toISOString(),
  }
  const kept = (state: ArrivalState, entity: EventEntity | null = null): InboxEvent => ({
    ...base,
    entity,
    recordId: null,
    state,
    payload: Buffer.from(body).toString('utf8'),
  })
  if (testTypes.includes(type) || own(parsed.value, 'test') === true) return kept('test')
  if (!isEventType(type)) return kept('unknown')
  const { entity } = eventRule(type)
  const recordId = recordIdIn(own(parsed.value, 'data'), type)
  if (recordId === undefined) return kept('unreadable', entity)
  return { ...base, entity, recordId, state: 'new', payload: null }
}
