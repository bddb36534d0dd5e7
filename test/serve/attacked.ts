/** A receiver that attacks are sent to over a real socket: which status came back, and whether an event was taken. */
import { afterAll, beforeAll, expect } from 'vitest'
import { createVerifier } from '../../src/events/verify.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createCounters, type DeliveryCounters } from '../../src/serve/counters.ts'
import {
  type ReceiverOptions,
  type ReceiverParts,
  startReceiver,
  type WebhookReceiver,
} from '../../src/serve/receiver.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'
import { rawPost, sendRaw } from './raw-request.ts'
import { eventBody, SECRET, type Signed, type Signing, signed } from './served.ts'

export const PREVIOUS = 'planted-older-secret'
export const SIGNATURE = 'X-Service-Signature'
export const TIMESTAMP = 'X-Service-Timestamp'

type Status = number | undefined

export interface Attacked {
  /** Known once the tests of the file run. */
  readonly url: string
  readonly taken: readonly InboxEvent[]
  readonly counters: DeliveryCounters
  /** The receiver's clock stands still: what is 302 s early stays so. Milliseconds since the epoch. */
  readonly now: number
  /** So many seconds from then, as ISO 8601. */
  readonly at: (seconds: number) => string
  /** The same as epoch seconds. */
  readonly epoch: (seconds: number) => string
  readonly statusOf: (request: Buffer) => Promise<Status>
  readonly put: (delivery: Signed, how?: Parameters<typeof rawPost>[2]) => Promise<Status>
  readonly refuses: (status: number, send: () => Promise<Status>) => Promise<void>
  readonly takes: (send: () => Promise<Status>) => Promise<void>
  /** Another receiver, which the test closes. */
  readonly start: (
    options: Partial<ReceiverOptions>,
    parts?: Partial<ReceiverParts>,
  ) => Promise<WebhookReceiver>
}

let made = 0
export const good = (type?: string, data?: object): string => {
  made += 1
  return eventBody(`evt_${made}`, type, data)
}

/** A genuine delivery with one header changed. */
export const altered = (
  name: 'Signature' | 'Timestamp',
  change: (value: string) => string,
  how: Signing = {},
): Signed => {
  const { body, headers } = signed(good(), how)
  const header = `X-Service-${name}`
  return { body, headers: { ...headers, [header]: change(headers[header] ?? '') } }
}

/** The head of a request whose body comes in chunks. */
export const chunkedHead = (url: string, headers: Signed['headers']): Buffer =>
  rawPost(
    url,
    { body: Buffer.alloc(0), headers },
    { drop: ['Content-Length'], extra: ['Transfer-Encoding: chunked'] },
  )

/** For the tests of one file; when they are over it must still be alive and take what is genuine. */
export function attackedReceiver(): Attacked {
  const now = Date.now()
  const taken: InboxEvent[] = []
  const counters = createCounters()
  let receiver: WebhookReceiver
  const start: Attacked['start'] = (options, parts = {}) =>
    startReceiver(
      {
        host: '127.0.0.1',
        port: 0,
        path: '/webhook',
        allowedHosts: ['hooks.example.com'],
        figuresHosts: [],
        ...options,
      },
      {
        clock: { ...systemClock, now: () => now },
        counters,
        verifier: createVerifier({ headerPrefix: 'X-Service', secrets: [SECRET, PREVIOUS] }),
        intake: { take: async event => void taken.push(event) },
        health: () => ({ isWell: true, body: { status: 'ok' } }),
        metrics: async () => ({ contentType: 'text/plain', text: '' }),
        ...parts,
      },
    )
  const statusOf = async (request: Buffer): Promise<Status> =>
    (await sendRaw(receiver.url, [request])).statuses[0]
  const put: Attacked['put'] = (delivery, how) => statusOf(rawPost(receiver.url, delivery, how))
  beforeAll(async () => {
    receiver = await start({})
  })
  afterAll(async () => {
    expect(await put(signed(good()))).toBe(202)
    await receiver.close()
  })
  return {
    get url() {
      return receiver.url
    },
    taken,
    counters,
    now,
    at: seconds => new Date(now + seconds * 1000).toISOString(),
    epoch: seconds => String(Math.floor(now / 1000) + seconds),
    statusOf,
    put,
    async refuses(status, send) {
      const before = taken.length
      expect(await send()).toBe(status)
      expect(taken.length).toBe(before)
    },
    async takes(send) {
      const before = taken.length
      expect(await send()).toBe(202)
      expect(taken.length).toBe(before + 1)
    },
    start,
  }
}
