/** HMAC SHA-256 over timestamp, dot and raw body, as hex or base64, compared in constant time. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const digestBytes = 32

const spelling = /^(?:sha256=|v1[=,])?(?:([0-9a-fA-F]{64})|([A-Za-z0-9+/]{43}=))$/

/** The 32 bytes that a header spells; undefined for anything else. */
export function digestIn(header: string): Buffer | undefined {
  const [, hex, base64] = spelling.exec(header) ?? []
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  // The last character carries two bits that nobody reads: one spelling of a digest is enough.
  return bytes.length === digestBytes && bytes.toString('base64') === base64 ? bytes : undefined
}

export interface SignedDelivery {
  readonly timestamp: string
  readonly body: Uint8Array
  readonly digest: Buffer
}

/** Every secret is tried whatever the others say: the time taken tells nothing. */
export function isSignedBy(secrets: readonly string[], { timestamp, body, digest }: SignedDelivery): boolean {
  let isOurs = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
    if (timingSafeEqual(expected, digest)) isOurs = true
  }
  return isOurs
}
