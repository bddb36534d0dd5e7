/** Declares and reads the webhook options of `muster sandbox`: where and how events are sent. */
import { InvalidArgumentError } from 'commander'
import { type Environment, variable } from '../config/environment.ts'
import { type EventType, eventTypes, isEventType } from '../contract/events.ts'
import { ConfigError, UsageError } from '../lib/errors.ts'
import { didYouMean } from '../lib/text/nearest.ts'
import type { EventSender } from '../sandbox/events/send-events.ts'
import type { EventOptions, WebhookOptions } from '../sandbox/events/webhook.ts'
import { anyText, integerBetween, listOption, type Options, oneOf, repeated, textOption } from './command.ts'

const secretVariable = 'MUSTER_WEBHOOK_SECRET'

const signatures = ['hex', 'base64', 'sha256=hex', 'sha256=base64'] as const
const timestamps = ['iso', 'seconds', 'milliseconds'] as const

export const webhookOptions = [
  {
    flags: '--webhook <url>',
    summary: 'send signed events to this address; may be repeated',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-secret-env <name>',
    summary: `variable with the signing secret; default ${secretVariable}`,
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-kind <kind>',
    summary: 'whether the webhook belongs to a company (default) or an agency',
    parse: repeated(oneOf('company', 'agency')),
  },
  {
    flags: '--webhook-company <id>',
    summary: 'the company it belongs to; default: one webhook for each',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-agency <id>',
    summary: 'the agency it belongs to; default: the first',
    parse: repeated(anyText),
  },
  {
    flags: '--webhook-events <types>',
    summary: 'event types, separated by commas; default: all that are available',
    parse: repeated(typesOf),
  },
  { flags: '--webhook-signature <form>', summary: signatures.join(', '), parse: oneOf(...signatures) },
  { flags: '--webhook-timestamp <form>', summary: timestamps.join(', '), parse: oneOf(...timestamps) },
  { flags: '--webhook-header-prefix <text>', summary: 'prefix of the header names; default X-Service' },
  {
    flags: '--webhook-burst <number>',
    summary: 'events about existing records, sent at the start',
    parse: integerBetween(1),
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
  return {
    webhooks,
    ...(form !== undefined && { signature: signatureOf(form) }),
    ...(timestamp !== undefined && { timestamp }),
    ...(headerPrefix !== undefined && { headerPrefix }),
  }
}

function webhooksOf(options: Options, env: Environment): readonly WebhookOptions[] {
  const urls = listOption<string>(options, 'webhook')
  const given = <Value>(name: string, place: WebhookPosition): Value | undefined =>
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

interface WebhookPosition {
  readonly index: number
  readonly count: number
}

/** A value given once applies to every webhook; otherwise each webhook has one, in the same order. */
function valueFor<Value>(
  values: readonly Value[],
  name: string,
  { index, count }: WebhookPosition,
): Value | undefined {
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

/** Shown when the sandbox starts. */
export function webhookLines({ webhooks }: EventSender): readonly string[] {
  const lines = webhooks.map(
    ({ name, kind, owner, events }) => `  ${name}: ${events.length} event types of ${kind} ${owner}`,
  )
  return lines.length === 0 ? [] : ['Signed events go to', ...lines, '']
}

/** Shown when the sandbox ends; counts the deliveries that are still in its log. */
export function deliveryLine({ deliveries }: EventSender): string {
  const counts = new Map<string, number>()
  for (const { outcome } of deliveries()) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const parts = [...counts].map(([outcome, count]) => `${count} ${outcome}`)
  return `Deliveries of events: ${parts.join(', ') || 'none'}`
}
