/** Reads a signed body. It says that something happened to a record, which is then read anew; nothing else in it is used. */
import { type EventEntity, type EventType, eventRule, isEventType, payloadKeys } from '../contract/events.ts'
import { isRecordId, isSafeId } from '../contract/fields/record-id.ts'
import type { ArrivalState, InboxEvent } from '../state/inbox/arrivals.ts'
import { parseStrictly } from './strict-json.ts'

const typePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
/** This century only: outside of it one engine accepts times that the other refuses. */
const timePattern = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const testTypes = ['test', 'ping', 'webhook_test', 'test_event']

/** Events whose payload key is not documented: it may differ from the name of the entity. */
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
  return typeof id === 'string' && isRecordId(id) ? id : undefined
}

/** The id under the expected key; where the key is not documented, under the only other key. */
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

/** Enough to see what an unknown event is about. */
const mostKept = 2048

/** Cut between characters. */
const beginningOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, mostKept), { stream: true })

export interface Reading {
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** The event in a body whose signature matches, or what makes it no event. */
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
    payload: beginningOf(body),
  })
  if (testTypes.includes(type) || own(parsed.value, 'test') === true) return kept('test')
  if (!isEventType(type)) return kept('unknown')
  const { entity } = eventRule(type)
  const recordId = recordIdIn(own(parsed.value, 'data'), type)
  if (recordId === undefined) return kept('unreadable', entity)
  return { ...base, entity, recordId, state: 'new', payload: null }
}
