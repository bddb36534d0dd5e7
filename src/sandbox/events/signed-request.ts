/** An event as it is sent: body, headers and signature, genuine or forged. */
import { createHmac } from 'node:crypto'
import { type EventType, eventRule, payloadKeys } from '../../contract/events.ts'
import { minuteMs } from '../../lib/dates.ts'
import type { Forgery } from './event-faults.ts'
import type { EventSettings } from './event-options.ts'

export interface ServiceEvent {
  readonly id: string
  readonly type: EventType
  /** When it happened; ISO 8601, UTC. */
  readonly createdAt: string
  readonly recordId: string
}

interface Signing {
  readonly settings: EventSettings
  readonly secret: string
  /** Of this attempt: each is signed anew. */
  readonly nowMs: number
  readonly deliveryId: string
  readonly forgery?: Forgery
}

export interface SignedRequest {
  readonly body: Buffer
  readonly headers: Record<string, string>
}

/** Twice the age at which receivers are advised to refuse. */
const staleMs = 10 * minuteMs

export function signedRequest(event: ServiceEvent, signing: Signing): SignedRequest {
  const { settings, secret, nowMs, deliveryId, forgery } = signing
  const timestamp = timestampText(forgery === 'staleTimestamp' ? nowMs - staleMs : nowMs, settings.timestamp)
  const key = forgery === 'badSignature' ? `${secret} of somebody else` : secret
  const signedBody = bodyOf(event)
  const digest = createHmac('sha256', key)
    .update(`${timestamp}.`)
    .update(signedBody)
    .digest(settings.encoding)
  const { headerPrefix } = settings
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    [`${headerPrefix}-Event`]: event.type,
    [`${headerPrefix}-Event-Id`]: deliveryId,
    [`${headerPrefix}-Signature`]: settings.signaturePrefix + digest,
    [`${headerPrefix}-Timestamp`]: timestamp,
  }
  if (forgery === 'missingHeader') delete headers[`${headerPrefix}-${missingPart(event)}`]
  return { headers, body: forgery === 'tamperedBody' ? bodyOf(tampered(event)) : signedBody }
}

function bodyOf(event: ServiceEvent): Buffer {
  const { id, type, createdAt, recordId } = event
  const data = { [payloadKeys[eventRule(type).entity]]: { id: recordId } }
  return Buffer.from(JSON.stringify({ id, type, createdAt, data }))
}

function timestampText(ms: number, format: EventSettings['timestamp']): string {
  if (format === 'iso') return new Date(ms).toISOString()
  return String(format === 'seconds' ? Math.floor(ms / 1000) : ms)
}

/** Names another record in as many bytes: only the signature shows it. */
function tampered(event: ServiceEvent): ServiceEvent {
  const last = event.recordId.endsWith('0') ? '1' : '0'
  return { ...event, recordId: event.recordId.slice(0, -1) + last }
}

/** One or the other in half of the events, and the same at every run. */
function missingPart(event: ServiceEvent): 'Signature' | 'Timestamp' {
  return event.id.charCodeAt(event.id.length - 1) % 2 === 0 ? 'Signature' : 'Timestamp'
}
