/**
 * Knobs: one for each thing the contract leaves open, with the readings a service might have of it. The options of the
 * command line, its help and the table in docs/sandbox.md come from this table.
 */
import { closestMatch } from 'leven'
import { UsageError } from '../../lib/errors.ts'
import { metricKnobs } from './metric-options.ts'
import { type Knob, oneOf, share, zone } from './option.ts'

export const knobTable = {
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
  ...metricKnobs,
} as const satisfies Readonly<Record<string, Knob<unknown>>>

export type Knobs = {
  readonly [Name in keyof typeof knobTable]: (typeof knobTable)[Name] extends Knob<infer Value>
    ? Value
    : never
}

export function knobsOf(chosen: Partial<Knobs> = {}): Knobs {
  const preset = Object.entries(knobTable).map(([name, { fallback }]) => [name, fallback])
  return { ...(Object.fromEntries(preset) as Knobs), ...chosen }
}

/** `name=value` as one setting. Throws UsageError that names the nearest right name, or the values. */
export function parseKnob(text: string): Partial<Knobs> {
  const [name, value] = pairOf(text)
  const knob = (knobTable as Readonly<Record<string, Knob<unknown>>>)[name]
  if (!knob || !Object.hasOwn(knobTable, name)) throw unknownName('knob', name, Object.keys(knobTable))
  const parsed = knob.parse(value)
  if (parsed === undefined) {
    throw new UsageError({ what: `${name}=${value} is no setting of a knob`, next: `give ${knob.values}` })
  }
  return { [name]: parsed }
}

export function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function unknownName(kind: 'knob' | 'fault', name: string, names: readonly string[]): UsageError {
  // Half of its letters wrong is another word, not a slip.
  const nearest = closestMatch(name, [...names], { maxDistance: Math.floor(name.length / 2) })
  return new UsageError({
    what: `there is no ${kind} ${name}`,
    next: nearest === undefined ? `give one of ${names.join(', ')}` : `did you mean ${nearest}?`,
  })
}
