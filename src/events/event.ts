/** Reads a signed body: which record something happened to. The record is then read again; nothing else is used. */
import { type EventEntity, type EventType, eventRule, isEventType, payloadKeys } from '../contract/events.ts'
import { isRecordId, isSafeId } from '../contract/fields/record-id.ts'
import type { ArrivalState, InboxEvent } from '../state/inbox/arrivals.ts'

const deepest = 32

/** The value, or what is wrong with the text, for a log line. */
type ParsedText = { readonly value: unknown } | { readonly fault: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseStrictly(bytes: Uint8Array): ParsedText {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
  } catch {
    // A fatal decoder throws only for invalid UTF-8.
    return { fault: 'not UTF-8' }
  }
  try {
    value = JSON.parse(text)
  } catch {
    // The SyntaxError is dropped: its message quotes the body.
    return { fault: 'not JSON' }
  }
  const fault = structureFault(text)
  return fault === undefined ? { value } : { fault }
}

/** A key ends with its colon. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g

/** Checks a text that is known to be JSON. */
function structureFault(text: string): string | undefined {
  /** Keys of each open object; empty for a list. */
  const open: Set<string>[] = []
  for (const [word, name = '', colon] of text.matchAll(token)) {
    if (word === '{' || word === '[') {
      open.push(new Set())
      if (open.length > deepest) return `nested deeper than ${deepest}`
    } else if (word === '}' || word === ']') {
      open.pop()
    } else if (colon !== undefined) {
      // Two spellings of one name are the same key.
      const key = JSON.parse(name) as string
      if (key === '__proto__') return 'with a key __proto__'
      const keys = open.at(-1) as Set<string>
      if (keys.has(key)) return 'with a duplicate key'
      keys.add(key)
    }
  }
  return undefined
}

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

type EventFields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is EventFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (fields: EventFields, name: string): unknown =>
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

/** Bytes stored of an unknown event: enough to see what it is about. */
const maxStored = 2048

/** Cut between characters. */
const beginningOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, maxStored), { stream: true })

export interface EventReading {
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** Removes what may not be stored from a body. */
  readonly gate?: ((body: string) => string) | undefined
}

/** The event in a verified body, or why it is not an event. */
export function readEvent({ body, nowMs, gate }: EventReading): InboxEvent | { readonly fault: string } {
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
  const eventIn = (state: ArrivalState, entity: EventEntity | null = null): InboxEvent => ({
    ...base,
    entity,
    recordId: null,
    state,
    payload: beginningOf(gate ? Buffer.from(gate(Buffer.from(body).toString())) : body),
  })
  if (testTypes.includes(type) || own(parsed.value, 'test') === true) return eventIn('test')
  if (!isEventType(type)) return eventIn('unknown')
  const { entity } = eventRule(type)
  const recordId = recordIdIn(own(parsed.value, 'data'), type)
  if (recordId === undefined) return eventIn('unreadable', entity)
  return { ...base, entity, recordId, state: 'new', payload: null }
}
