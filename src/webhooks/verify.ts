/** Whether a delivery is genuine, from its headers and bytes alone: nothing of it is stored or looked up before. */
import { type InboxEvent, readEvent } from './event.ts'
import { onlyHeader } from './headers.ts'
import { digestIn, isSignedBy } from './signature.ts'
import { isRecent } from './timestamp.ts'

export interface Delivery {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

export interface Refusal {
  /** What is counted; never a text that the sender chose. */
  readonly refused: 'headers' | 'timestamp' | 'signature' | 'body'
  readonly why: string
}

export type Verdict = { readonly event: InboxEvent } | Refusal

export interface Verification {
  /** What header names begin with, as X-Service. */
  readonly headerPrefix: string
  /** One, or two while senders change from one to the other. */
  readonly secrets: readonly string[]
}

/** Cheap questions come first, so that a flood of nonsense never reaches the digest. */
export function createVerifier({ headerPrefix, secrets }: Verification): (delivery: Delivery) => Verdict {
  const usable = secrets.filter(secret => secret !== '').slice(0, 2)
  return ({ rawHeaders, body, nowMs }) => {
    const timestamp = onlyHeader(rawHeaders, `${headerPrefix}-Timestamp`)
    const signature = onlyHeader(rawHeaders, `${headerPrefix}-Signature`)
    if (timestamp === undefined || signature === undefined)
      return { refused: 'headers', why: 'signature or timestamp is missing, comes twice or is too long' }
    if (!isRecent(timestamp, nowMs))
      return { refused: 'timestamp', why: 'timestamp is no time within five minutes of now' }
    const digest = digestIn(signature)
    if (!digest) return { refused: 'signature', why: 'signature is no digest of 32 bytes' }
    if (!isSignedBy(usable, { timestamp, body, digest }))
      return { refused: 'signature', why: 'signature does not match' }
    const event = readEvent({ body, nowMs })
    return 'fault' in event ? { refused: 'body', why: `signed body ${event.fault}` } : { event }
  }
}
