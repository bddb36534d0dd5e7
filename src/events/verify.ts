/**
 * Whether a delivery is genuine, decided from its headers and bytes alone, before anything is stored or looked up:
 * HMAC SHA-256 over timestamp, dot and raw body, as hex or base64, compared in constant time.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { InboxEvent } from '../state/inbox/arrivals.ts'
import { type Reading, readEvent } from './event.ts'

export interface Heading {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** What the headers claim about a body that has not arrived yet. */
export interface Claim {
  readonly timestamp: string
  readonly digest: Buffer
}

export interface Refusal {
  /** Counted under this word; never a text that the sender chose. */
  readonly refused: 'headers' | 'timestamp' | 'signature' | 'body'
  readonly why: string
}

export type Verified = { readonly event: InboxEvent } | Refusal

export interface Verification {
  /** The beginning of the header names, such as X-Service. */
  readonly headerPrefix: string
  /** One, or two while senders change from the old to the new. */
  readonly secrets: readonly string[]
}

export interface Verifier {
  /** Called before the body is read: a flood of forged requests costs no body and no digest. */
  readonly claim: (heading: Heading) => Claim | Refusal
  readonly verify: (claim: Claim, reading: Reading) => Verified
}

export function createVerifier({ headerPrefix, secrets }: Verification): Verifier {
  const keys = secrets
    .filter(secret => secret !== '')
    .slice(0, 2)
    .map(signingKey)
  return {
    claim({ rawHeaders, nowMs }) {
      const timestamp = onlyHeader(rawHeaders, `${headerPrefix}-Timestamp`)
      const signature = onlyHeader(rawHeaders, `${headerPrefix}-Signature`)
      if (timestamp === undefined || signature === undefined)
        return { refused: 'headers', why: 'signature or timestamp is missing, comes twice or is too long' }
      if (!isRecent(timestamp, nowMs))
        return { refused: 'timestamp', why: 'timestamp is not a time within five minutes of now' }
      const digest = digestIn(signature)
      if (!digest) return { refused: 'signature', why: 'signature is not a digest of 32 bytes' }
      return { timestamp, digest }
    },
    verify({ timestamp, digest }, { body, nowMs }) {
      if (!isSignedBy(keys, { timestamp, body, digest }))
        return { refused: 'signature', why: 'signature does not match' }
      const event = readEvent({ body, nowMs })
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

/** The 32 bytes that a header spells; undefined for anything else. */
function digestIn(header: string): Buffer | undefined {
  const [, hex, base64] = spelling.exec(header) ?? []
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  // Two bits of the last character are ignored by the decoder: only one spelling of a digest is accepted.
  return bytes.toString('base64') === base64 ? bytes : undefined
}

/** A key object is made once: making it anew from the text for each digest takes half of the time. */
const signingKey = (secret: string): KeyObject => createSecretKey(Buffer.from(secret, 'utf8'))

interface SignedDelivery extends Claim {
  readonly body: Uint8Array
}

/** Tries every key whatever the others say, so that the time taken reveals nothing. */
function isSignedBy(keys: readonly KeyObject[], { timestamp, body, digest }: SignedDelivery): boolean {
  let isOurs = false
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest()
    if (timingSafeEqual(expected, digest)) isOurs = true
  }
  return isOurs
}
