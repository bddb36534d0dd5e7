/**
 * The contract options: one for each point the contract leaves open, with the readings a service might have. The
 * values of `--knob`, its help and the table in docs/sandbox.md come from this table.
 */
import { closestMatch } from 'leven'
import { UsageError } from '../../lib/errors.ts'
import { metricOptions } from './metric-options.ts'
import { type Option, oneOf, share, zone } from './option.ts'

export const contractOptions = {
  from: oneOf(['inclusive', 'exclusive'], 'inclusive', 'whether the day of `from` belongs to the range'),
  to: oneOf(
    ['inclusive', 'midnight', 'exclusive'],
    'inclusive',
    'whether the day of `to` belongs to the range, or its first instant, or nothing of it',
  ),
  'day-zone': zone(
    'the zone in which `from` and `to` are days, and in which the metrics count days, weeks and months',
  ),
  ties: oneOf(
    ['stable', 'random'],
    'stable',
    'records with equal sort keys: in one order, or in another at each request',
  ),
  absent: oneOf(
    ['mixed', 'null', 'omitted', 'random'],
    'mixed',
    'optional fields without a value: as the records have them, null, left out, or either',
  ),
  extra: share('how many objects carry a field that the contract does not name'),
  'extra-in': oneOf(
    ['records', 'nested', 'envelope', 'everywhere'],
    'records',
    'which objects may: records, objects inside them, the envelope with its meta, or all of these',
  ),
  'rate-window': oneOf(
    ['fixed', 'sliding'],
    'fixed',
    'the minute of the rate limit: of the clock, or the last 60 seconds',
  ),
  'retry-after': oneOf(['seconds', 'date', 'absent'], 'seconds', 'how a 429 says when to come back'),
  ...metricOptions,
} as const satisfies Readonly<Record<string, Option<unknown>>>

export type ContractOptions = {
  readonly [Name in keyof typeof contractOptions]: (typeof contractOptions)[Name] extends Option<infer Value>
    ? Value
    : never
}

export function optionsOf(chosen: Partial<ContractOptions> = {}): ContractOptions {
  const preset = Object.entries(contractOptions).map(([name, { fallback }]) => [name, fallback])
  return { ...(Object.fromEntries(preset) as ContractOptions), ...chosen }
}

/** Parses `name=value`. Throws a UsageError that suggests the nearest name or lists the values. */
export function parseOption(text: string): Partial<ContractOptions> {
  const [name, value] = pairOf(text)
  const option = (contractOptions as Readonly<Record<string, Option<unknown>>>)[name]
  if (!option || !Object.hasOwn(contractOptions, name))
    throw unknownName('option', name, Object.keys(contractOptions))
  const parsed = option.parse(value)
  if (parsed === undefined) {
    throw new UsageError({ what: `option ${name} does not take "${value}"`, next: `give ${option.values}` })
  }
  return { [name]: parsed }
}

export function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function unknownName(kind: 'option' | 'fault', name: string, names: readonly string[]): UsageError {
  // Half of its letters wrong is another word, not a slip.
  const nearest = closestMatch(name, [...names], { maxDistance: Math.floor(name.length / 2) })
  return new UsageError({
    what: `there is no ${kind} ${name}`,
    next: nearest === undefined ? `give one of ${names.join(', ')}` : `did you mean ${nearest}?`,
  })
}
