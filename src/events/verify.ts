/** Whether a delivery is genuine, from its headers and bytes alone: nothing of it is stored or looked up before. */
import { type InboxEvent, type Reading, readEvent } from './event.ts'
import { onlyHeader } from './headers.ts'
import { digestIn, isSignedBy, signingKey } from './signature.ts'
import { isRecent } from './timestamp.ts'

export interface Heading {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** What headers say of a body that is still to come. */
export interface Claim {
  readonly timestamp: string
  readonly digest: Buffer
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

export interface Verifier {
  /** Before a byte of the body is read: a flood of nonsense never costs one, nor a digest. */
  readonly claim: (heading: Heading) => Claim | Refusal
  readonly judge: (claim: Claim, reading: Reading) => Verdict
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
        return { refused: 'timestamp', why: 'timestamp is no time within five minutes of now' }
      const digest = digestIn(signature)
      if (!digest) return { refused: 'signature', why: 'signature is no digest of 32 bytes' }
      return { timestamp, digest }
    },
    judge({ timestamp, digest }, { body, nowMs }) {
      if (!isSignedBy(keys, { timestamp, body, digest }))
        return { refused: 'signature', why: 'signature does not match' }
      const event = readEvent({ body, nowMs })
      return 'fault' in event ? { refused: 'body', why: `signed body ${event.fault}` } : { event }
    },
  }
}
