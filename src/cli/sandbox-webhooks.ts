/** The options of `muster sandbox` for its webhooks: where events are sent, and how. */
import { InvalidArgumentError } from 'commander'
import { type Environment, variable } from '../config/environment.ts'
import { type EventType, eventTypes, isEventType } from '../contract/events.ts'
import { ConfigError, UsageError } from '../lib/errors.ts'
import { didYouMean } from '../lib/text/nearest.ts'
import type { EventFaultRates } from '../sandbox/events/event-faults.ts'
import type { EventOptions, WebhookOptions } from '../sandbox/events/event-options.ts'
import type { EventSender } from '../sandbox/events/send-events.ts'
import { anyText, listOption, type Options, oneOf, repeated, textOption, wholeNumber } from './command.ts'

const secretVariable = 'MUSTER_WEBHOOK_SECRET'

const signatures = ['hex', 'base64', 'sha256=hex', 'sha256=base64'] as const
const timestamps = ['iso', 'seconds', 'milliseconds'] as const

export const webhookOptions = [
  {
    flags: '--webhook <url>',
    summary: 'send signed events there; may be repeated',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-secret-env <name>',
    summary: `variable with the signing secret; ${secretVariable} unless given`,
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-kind <kind>',
    summary: 'company (unless given) or agency: what the webhook belongs to',
    parse: repeated(oneOf('company', 'agency')),
  },
  {
    flags: '--webhook-company <id>',
    summary: 'the company it belongs to; one webhook for each unless given',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-agency <id>',
    summary: 'the agency it belongs to; the first unless given',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-events <types>',
    summary: 'comma-separated; all that are available unless given',
    parse: repeated(typesOf),
  },
  { flags: '--webhook-signature <form>', summary: signatures.join(', '), parse: oneOf(...signatures) },
  { flags: '--webhook-timestamp <form>', summary: timestamps.join(', '), parse: oneOf(...timestamps) },
  { flags: '--webhook-header-prefix <text>', summary: 'instead of X-Service' },
  {
    flags: '--webhook-faults <rates>',
    summary: 'shares of events, as loss=0.05,duplicate=0.1',
    parse: ratesOf,
  },
  {
    flags: '--webhook-burst <number>',
    summary: 'events about existing records, sent at the start',
    parse: wholeNumber(1),
  },
]

/** Undefined without a webhook. */
export function eventOptions(options: Options, env: Environment): EventOptions | undefined {
  const webhooks = webhooksOf(options, env)
  if (webhooks.length === 0) {
    const stray = Object.keys(options).find(name => name.startsWith('webhook') && options[name] !== undefined)
    if (stray === undefined) return undefined
    throw new UsageError({ what: 'events have nowhere to go', next: 'add --webhook URL' })
  }
  const form = textOption(options, 'webhookSignature')
  const timestamp = textOption(options, 'webhookTimestamp') as EventOptions['timestamp']
  const headerPrefix = textOption(options, 'webhookHeaderPrefix')
  const faults = options.webhookFaults as Partial<EventFaultRates> | undefined
  return {
    webhooks,
    ...(form !== undefined && { signature: signatureOf(form) }),
    ...(timestamp !== undefined && { timestamp }),
    ...(headerPrefix !== undefined && { headerPrefix }),
    ...(faults !== undefined && { faults }),
  }
}

function webhooksOf(options: Options, env: Environment): readonly WebhookOptions[] {
  const urls = listOption<string>(options, 'webhook')
  const given = <Value>(name: string, place: Place): Value | undefined =>
    valueFor(listOption<Value>(options, name), name, place)
  const kinds = urls.map((_, index) =>
    given<WebhookOptions['kind']>('webhookKind', { index, count: urls.length }),
  )
  return urls.map((url, index) => {
    const place = { index, count: urls.length }
    const kind = kinds[index] ?? 'company'
    const alike = kinds.map(other => other ?? 'company')
    const amongAlike = {
      index: alike.slice(0, index).filter(other => other === kind).length,
      count: alike.filter(other => other === kind).length,
    }
    const owner =
      kind === 'company'
        ? (given<string>('webhookCompany', amongAlike) ?? 'all')
        : given<string>('webhookAgency', amongAlike)
    const events = given<readonly EventType[]>('webhookEvents', place)
    return {
      url,
      kind,
      secret: secretOf(env, given<string>('webhookSecretEnv', place) ?? secretVariable),
      ...(owner !== undefined && { owner }),
      ...(events !== undefined && { events }),
    }
  })
}

interface Place {
  readonly index: number
  readonly count: number
}

/** A value given once applies to every webhook; otherwise there is one for each, in the same order. */
function valueFor<Value>(values: readonly Value[], name: string, { index, count }: Place): Value | undefined {
  if (values.length <= 1) return values[0]
  if (values.length === count) return values[index]
  const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
  throw new UsageError({
    what: `${flag} is given ${values.length} times for ${count} webhooks`,
    next: 'give it once for all, or once for each',
  })
}

function secretOf(env: Environment, name: string): string {
  const secret = variable(env, name)
  if (secret !== undefined) return secret
  throw new ConfigError({
    what: `${name} is not set`,
    next: 'export it with the signing secret of the webhook',
  })
}

function signatureOf(form: string): NonNullable<EventOptions['signature']> {
  const encoding = form.endsWith('base64') ? 'base64' : 'hex'
  return { encoding, prefix: form.startsWith('sha256=') ? 'sha256=' : '' }
}

function typesOf(text: string): readonly EventType[] {
  return text.split(',').map(type => {
    if (isEventType(type)) return type
    throw new InvalidArgumentError(`${type} is not an event type${didYouMean(type, eventTypes)}`)
  })
}

/** Parses only; the sandbox checks names and bounds. */
function ratesOf(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    text.split(',').map(part => {
      const [, name = '', share] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(part) ?? []
      if (share !== undefined) return [name, Number(share)]
      throw new InvalidArgumentError('Give shares as loss=0.05,duplicate=0.1.')
    }),
  )
}

/** Shown when the sandbox starts. */
export function webhookLines({ webhooks }: EventSender): readonly string[] {
  const lines = webhooks.map(
    ({ name, kind, owner, events }) => `  ${name}: ${events.length} event types of ${kind} ${owner}`,
  )
  return lines.length === 0 ? [] : ['Signed events go to', ...lines, '']
}

/** Shown when it ends; counts the deliveries that the log still has. */
export function deliveryLine({ deliveries }: EventSender): string {
  const counts = new Map<string, number>()
  for (const { outcome } of deliveries()) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const parts = [...counts].map(([outcome, count]) => `${count} ${outcome}`)
  return `Deliveries of events: ${parts.join(', ') || 'none'}`
}
