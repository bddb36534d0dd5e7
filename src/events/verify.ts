/**
 * Decides whether a delivery is genuine, from its headers and bytes alone, before anything is stored or looked up:
 * HMAC SHA-256 over timestamp, dot and raw body, as hex or base64, compared in constant time.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { InboxEvent } from '../state/inbox/arrivals.ts'
import { type EventReading, readEvent } from './event.ts'

export interface Heading {
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[]
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** What the headers claim about a body that has not arrived yet. */
export interface SignatureClaim {
  readonly timestamp: string
  readonly digest: Buffer
}

export interface DeliveryRefusal {
  /** Category for the counter; never text from the sender. */
  readonly refused: 'headers' | 'timestamp' | 'signature' | 'body'
  readonly why: string
}

export type VerifiedDelivery = { readonly event: InboxEvent } | DeliveryRefusal

export interface VerificationRules {
  /** Prefix of the header names, such as X-Service. */
  readonly headerPrefix: string
  /** One, or two while senders change from the old to the new. */
  readonly secrets: readonly string[]
  /** Removes what may not be stored from a body. */
  readonly gate?: EventReading['gate']
}

export interface Verifier {
  /** Called before the body is read, so that most forged requests cost neither a body nor a digest. */
  readonly claim: (heading: Heading) => SignatureClaim | DeliveryRefusal
  readonly verify: (claim: SignatureClaim, reading: EventReading) => VerifiedDelivery
}

export function createVerifier({ headerPrefix, secrets, gate }: VerificationRules): Verifier {
  const keys = secrets
    .filter(secret => secret !== '')
    .slice(0, 2)
    .map(signingKey)
  return {
    claim({ rawHeaders, nowMs }) {
      const timestamp = onlyHeader(rawHeaders, `${headerPrefix}-Timestamp`)
      const signature = onlyHeader(rawHeaders, `${headerPrefix}-Signature`)
      if (timestamp === undefined || signature === undefined)
        return { refused: 'headers', why: 'signature or timestamp is missing, duplicate or too long' }
      if (!isRecent(timestamp, nowMs))
        return { refused: 'timestamp', why: 'timestamp is not a time within five minutes of now' }
      const digest = digestIn(signature)
      if (!digest) return { refused: 'signature', why: 'signature is not a digest of 32 bytes' }
      return { timestamp, digest }
    },
    verify({ timestamp, digest }, { body, nowMs }) {
      if (!isSignedBy(keys, { timestamp, body, digest }))
        return { refused: 'signature', why: 'signature does not match' }
      const event = readEvent({ body, nowMs, gate })
      return 'fault' in event ? { refused: 'body', why: `signed body ${event.fault}` } : { event }
    },
  }
}

/** Longer than any timestamp or digest, with room for a prefix. */
const longestValue = 200

/**
 * The value of a header that comes exactly once and is not too long. Read from the raw headers, because Node joins or
 * drops the values of a header that comes twice.
 */
function onlyHeader(raw: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  const values = raw.filter((_, at) => at % 2 === 1 && (raw[at - 1] as string).toLowerCase() === wanted)
  const [value = ''] = values
  return values.length === 1 && value.length <= longestValue ? value : undefined
}

/**
 * ISO 8601 with a zone. Without one it is refused: `T05:00:00` with `.123Z.` moved into the body would carry the same
 * signature.
 */
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
/** From 2001 to 2286 epoch seconds have ten digits and epoch milliseconds thirteen. */
const seconds = /^[1-9]\d{9}$/
const milliseconds = /^[1-9]\d{12}$/

/** How far the time of signing may be from now, before or after, in milliseconds. */
const toleranceMs = 300_000

/** Milliseconds since the epoch; undefined for any other spelling. */
export function signedAt(text: string): number | undefined {
  if (seconds.test(text)) return Number(text) * 1000
  if (milliseconds.test(text)) return Number(text)
  const time = iso.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

function isRecent(text: string, nowMs: number): boolean {
  return Math.abs(nowMs - (signedAt(text) ?? Number.NaN)) <= toleranceMs
}

const spelling = /^(?:sha256=|v1[=,])?(?:([0-9a-fA-F]{64})|([A-Za-z0-9+/]{43}=))$/

/** The 32 bytes of a hex or base64 digest; undefined for anything else. */
function digestIn(header: string): Buffer | undefined {
  const [, hex, base64] = spelling.exec(header) ?? []
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  // The decoder ignores two bits of the last character; accept only the canonical spelling.
  return bytes.toString('base64') === base64 ? bytes : undefined
}

/** Creates the key object once: creating it for every digest would take half of the time. */
const signingKey = (secret: string): KeyObject => createSecretKey(Buffer.from(secret, 'utf8'))

interface SignedDelivery extends SignatureClaim {
  readonly body: Uint8Array
}

/** Tries every key even after a match, so that the time taken reveals nothing. */
function isSignedBy(keys: readonly KeyObject[], { timestamp, body, digest }: SignedDelivery): boolean {
  let isOurs = false
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest()
    if (timingSafeEqual(expected, digest)) isOurs = true
  }
  return isOurs
}
