/** Checks configured webhooks, with their defaults and subscriptions, and decides which events each one receives. */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { type EventRule, type EventType, eventRule, eventTypes, isEventType } from '../../contract/events.ts'
import { UsageError } from '../../lib/errors.ts'
import type { World } from '../world.ts'
import type { Audience } from './audience.ts'

export interface WebhookOptions {
  /** Names it in the delivery log; `webhook 1` and so on by default. */
  readonly name?: string
  readonly url: string
  /** Signing secret: used for signatures, never shown. */
  readonly secret: string
  readonly kind: 'company' | 'agency'
  /** Id of the company or agency it belongs to, the first of the world by default; `all` makes one for each. */
  readonly owner?: string
  /** By default, all types that its kind may subscribe to. */
  readonly events?: readonly EventType[]
  /** Sent with every delivery. */
  readonly headers?: Readonly<Record<string, string>>
  /** An inactive webhook receives no events; true by default. */
  readonly active?: boolean
}

interface RetryOptions {
  /** Deliveries of one event, the first included. */
  readonly attempts: number
  /** Wait before the second attempt, in milliseconds; 20% more or less by jitter. */
  readonly firstMs: number
  /** Each later wait is this many times the previous one. */
  readonly factor: number
}

export interface EventOptions {
  readonly webhooks?: readonly WebhookOptions[]
  /** Encoding of the digest, and the text before it. */
  readonly signature?: { readonly encoding?: 'hex' | 'base64'; readonly prefix?: '' | 'sha256=' }
  readonly timestamp?: 'iso' | 'seconds' | 'milliseconds'
  readonly headerPrefix?: string
  readonly retry?: Partial<RetryOptions>
  /** An attempt without an answer in this time is repeated. */
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
  return {
    encoding: options.signature?.encoding ?? 'hex',
    signaturePrefix: options.signature?.prefix ?? '',
    timestamp: options.timestamp ?? 'iso',
    headerPrefix,
    retry: { ...retryDefaults, ...options.retry },
    timeoutMs: options.timeoutMs ?? 10_000,
    concurrency: options.concurrency ?? 4,
    logSize: options.logSize ?? 20_000,
  } as const
}

export type EventSettings = ReturnType<typeof eventSettings>

export type Webhook = Required<Omit<WebhookOptions, 'events'>> & { readonly events: ReadonlySet<EventType> }

interface Setup {
  readonly world: World
  readonly headerPrefix: string
  /** Counted from 1, for a webhook without a name. */
  readonly number: number
}

/** Every webhook belongs to one company or agency: `all` creates one for each of them. */
export function webhooksOf(options: WebhookOptions, setup: Setup): readonly Webhook[] {
  const name = options.name ?? `webhook ${setup.number}`
  if (options.owner !== 'all') return [webhookOf({ ...options, name }, setup)]
  const owners = setup.world.all(ownerCollection(options.kind)).map(({ id }) => String(id))
  return owners.map(owner => webhookOf({ ...options, name: `${name} of ${owner}`, owner }, setup))
}

/** Checks everything that the service checks when a webhook is saved. */
function webhookOf(options: WebhookOptions & { readonly name: string }, setup: Setup): Webhook {
  const { world, headerPrefix } = setup
  const { name, kind, url, secret, headers = {}, active = true } = options
  const refuse = (what: string, next: string) => new UsageError({ what: `${name} ${what}`, next })
  if (!isPlainUrl(url))
    throw refuse('has no usable URL', 'give http:// or https:// without user and password')
  if (secret === '') throw refuse('has no signing secret', 'give one of any length')
  const owner = options.owner ?? firstOwner(world, kind)
  if (owner === undefined || !world.get(ownerCollection(kind), owner)) {
    throw refuse(`belongs to no ${kind} of the sandbox`, `give the id of one, or leave it out for the first`)
  }
  for (const [header, value] of Object.entries(headers)) {
    const isOurs = header.toLowerCase().startsWith(`${headerPrefix.toLowerCase()}-`)
    if (isOurs || !isHeader(header, value))
      throw refuse(`cannot send the header ${header}`, 'give another name or value')
  }
  const events = new Set(subscribed(options.events, { kind, refuse }))
  return { name, url, secret, kind, owner, events, headers, active }
}

/** The address must not contain credentials; redirects are not followed. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return !/^(host|connection|content-length|content-type|transfer-encoding)$/i.test(name)
  } catch {
    // Node throws a TypeError for an invalid name or value.
    return false
  }
}

function subscribed(
  wanted: readonly string[] | undefined,
  { kind, refuse }: { kind: Webhook['kind']; refuse: (what: string, next: string) => UsageError },
): EventType[] {
  const available = eventTypes.filter(type => eventRule(type)[kind])
  for (const type of wanted ?? []) {
    if (!isEventType(type)) throw refuse(`names ${type}, which is not an event type`, 'see docs/sandbox.md')
    if (!available.includes(type)) {
      throw refuse(`cannot subscribe to ${type}`, `it is not available to ${kind} webhooks`)
    }
  }
  return available.filter(type => !wanted || wanted.includes(type))
}

const ownerCollection = (kind: Webhook['kind']) => (kind === 'company' ? 'companies' : 'agencies')

function firstOwner(world: World, kind: Webhook['kind']): string | undefined {
  const first = world.at(ownerCollection(kind), 0)
  return first && String(first.id)
}

/** Without an audience (an id that the sandbox does not have), every subscriber receives the event. */
export function isSubscribed(webhook: Webhook, type: EventType, audience: Audience | undefined): boolean {
  const rule: EventRule = eventRule(type)
  if (!webhook.active || !webhook.events.has(type) || !rule[webhook.kind]) return false
  if (!audience) return true
  if (audience.withheldFrom === 'everybody') return false
  if (webhook.kind === 'company') return audience.companyId === webhook.owner
  return audience.withheldFrom !== 'agencies' && (audience.agencyIds ?? []).includes(webhook.owner)
}
