/** Webhooks as configured: what each may subscribe to, and which events it is told. */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { type EventRule, type EventType, eventRule, eventTypes, isEventType } from '../../contract/events.ts'
import { UsageError } from '../../lib/errors.ts'
import type { World } from '../world.ts'
import type { Audience } from './audience.ts'
import type { WebhookOptions } from './event-options.ts'

export interface Webhook {
  readonly name: string
  readonly url: string
  readonly secret: string
  readonly kind: 'company' | 'agency'
  readonly owner: string
  readonly events: ReadonlySet<EventType>
  readonly headers: Readonly<Record<string, string>>
  readonly active: boolean
}

interface Setup {
  readonly world: World
  readonly headerPrefix: string
  /** Counted from 1, for a webhook without a name. */
  readonly number: number
}

/** Every webhook belongs to one company or agency: `all` stands for one of each. */
export function webhooksOf(options: WebhookOptions, setup: Setup): readonly Webhook[] {
  const name = options.name ?? `webhook ${setup.number}`
  if (options.owner !== 'all') return [webhookOf({ ...options, name }, setup)]
  const owners = setup.world.all(ownerCollection(options.kind)).map(({ id }) => String(id))
  return owners.map(owner => webhookOf({ ...options, name: `${name} of ${owner}`, owner }, setup))
}

/** Checks everything that the service checks when a webhook is saved. */
function webhookOf(options: WebhookOptions & { readonly name: string }, setup: Setup): Webhook {
  const { world, headerPrefix } = setup
  const { name } = options
  const { kind, secret, headers = {}, active = true } = options
  const refuse = (what: string, next: string) => new UsageError({ what: `${name} ${what}`, next })
  if (!isPlainUrl(options.url))
    throw refuse('has no usable URL', 'give http:// or https:// without user and password')
  if (secret === '') throw refuse('has no signing secret', 'give one of any length')
  const owner = options.owner ?? firstOwner(world, kind)
  if (owner === undefined || !world.get(ownerCollection(kind), owner)) {
    throw refuse(`belongs to no ${kind} of the sandbox`, `give the id of one, or none for the first`)
  }
  for (const [header, value] of Object.entries(headers)) {
    const isOurs = header.toLowerCase().startsWith(`${headerPrefix.toLowerCase()}-`)
    if (isOurs || !isHeader(header, value))
      throw refuse(`cannot send the header ${header}`, 'give another name or value')
  }
  return {
    name,
    url: options.url,
    secret,
    kind,
    owner,
    events: new Set(subscribed(options.events, { kind, refuse })),
    headers,
    active,
  }
}

/** No redirect is followed and no secret may stand in an address. */
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
    // Node throws a TypeError for a name or value that no header may have.
    return false
  }
}

function subscribed(
  wanted: readonly string[] | undefined,
  { kind, refuse }: { kind: Webhook['kind']; refuse: (what: string, next: string) => UsageError },
): EventType[] {
  const available = eventTypes.filter(type => eventRule(type)[kind])
  for (const type of wanted ?? []) {
    if (!isEventType(type))
      throw refuse(`names ${type}, which is no event type`, 'see docs/sandbox-events.md')
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

/** Without an audience (an id the sandbox does not hold) every subscriber is told. */
export function isTold(webhook: Webhook, type: EventType, audience: Audience | undefined): boolean {
  const rule: EventRule = eventRule(type)
  if (!webhook.active || !webhook.events.has(type) || !rule[webhook.kind]) return false
  if (!audience) return true
  if (audience.withheldFrom === 'everybody') return false
  if (webhook.kind === 'company') return audience.companyId === webhook.owner
  return audience.withheldFrom !== 'agencies' && (audience.agencyIds ?? []).includes(webhook.owner)
}
