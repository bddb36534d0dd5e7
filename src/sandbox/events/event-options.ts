/** The settings of webhooks and of their delivery, and what each is when left out. */
import type { EventType } from '../../contract/events.ts'
import { UsageError } from '../../lib/errors.ts'
import { unknownName } from '../options/contract-options.ts'
import { type EventFaultRates, noFaults } from './event-faults.ts'

export interface WebhookOptions {
  /** Names it in the delivery log; `webhook 1` and so on by default. */
  readonly name?: string
  readonly url: string
  /** Signing secret: used for signatures, never shown. */
  readonly secret: string
  readonly kind: 'company' | 'agency'
  /** Id of the company or agency it belongs to, the first of the world by default; `all` makes one for each. */
  readonly owner?: string
  /** Everything its kind may subscribe to by default. */
  readonly events?: readonly EventType[]
  /** Sent with every delivery. */
  readonly headers?: Readonly<Record<string, string>>
  /** An inactive webhook is told nothing; true by default. */
  readonly active?: boolean
}

export interface RetryOptions {
  /** Deliveries of one event, the first included. */
  readonly attempts: number
  /** Wait before the second attempt, in milliseconds; 20% more or less by jitter. */
  readonly firstMs: number
  /** Each later wait is this many times the one before. */
  readonly factor: number
}

export interface EventOptions {
  readonly webhooks?: readonly WebhookOptions[]
  /** The digest as text, and what stands before it. */
  readonly signature?: { readonly encoding?: 'hex' | 'base64'; readonly prefix?: '' | 'sha256=' }
  readonly timestamp?: 'iso' | 'seconds' | 'milliseconds'
  readonly headerPrefix?: string
  readonly faults?: Partial<EventFaultRates>
  /** The longest delay of the `delay` fault. */
  readonly delayMs?: number
  readonly retry?: Partial<RetryOptions>
  /** A receiver that has not answered by then is tried again. */
  readonly timeoutMs?: number
  /** Deliveries in flight to one webhook. */
  readonly concurrency?: number
  /** Deliveries the log keeps, the latest ones. */
  readonly logSize?: number
}

/** 1, 4, 16 and 64 s: a receiver may be down for a minute and a half. */
const retryDefaults: RetryOptions = { attempts: 5, firstMs: 1000, factor: 4 }

export function eventSettings(options: EventOptions) {
  const { headerPrefix = 'X-Service' } = options
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(headerPrefix)) {
    throw new UsageError({
      what: `headers cannot begin with ${headerPrefix}`,
      next: 'use letters and dashes',
    })
  }
  for (const [fault, rate] of Object.entries(options.faults ?? {})) {
    if (!Object.hasOwn(noFaults, fault)) throw unknownName('event fault', fault, Object.keys(noFaults))
    if (rate < 0 || rate > 1)
      throw new UsageError({ what: `the rate of ${fault} is ${rate}`, next: 'give a share from 0 to 1' })
  }
  return {
    encoding: options.signature?.encoding ?? 'hex',
    signaturePrefix: options.signature?.prefix ?? '',
    timestamp: options.timestamp ?? 'iso',
    headerPrefix,
    faults: { ...noFaults, ...options.faults },
    delayMs: options.delayMs ?? 5000,
    retry: { ...retryDefaults, ...options.retry },
    timeoutMs: options.timeoutMs ?? 10_000,
    concurrency: options.concurrency ?? 4,
    logSize: options.logSize ?? 20_000,
  } as const
}

export type EventSettings = ReturnType<typeof eventSettings>
