/** An option, and the kinds of values that options take. */
import { isZone } from '../../lib/zones.ts'

export interface Option<Value> {
  /** As help and docs show it. */
  readonly values: string
  readonly fallback: Value
  readonly meaning: string
  /** Undefined for text that is not one of its values. */
  readonly parse: (text: string) => Value | undefined
}

export function oneOf<const Values extends readonly string[]>(
  values: Values,
  fallback: Values[number],
  meaning: string,
): Option<Values[number]> {
  const parse = (text: string) => values.find(value => value === text)
  return { values: values.join(', '), fallback, meaning, parse }
}

/** What each of these options was set to. */
export type Chosen<Options> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never
}

export function fallbacks<Options extends Readonly<Record<string, Option<unknown>>>>(
  options: Options,
): Chosen<Options> {
  const preset = Object.entries(options).map(([name, { fallback }]) => [name, fallback])
  return Object.fromEntries(preset) as Chosen<Options>
}

/** A number from 0, never, to 1, always. */
export function shareOf(text: string): number | undefined {
  return /^(0|1|0?\.\d+|1\.0+)$/.test(text) ? Number(text) : undefined
}

export function share(meaning: string): Option<number> {
  return { values: '0 to 1', fallback: 0, meaning, parse: shareOf }
}

export function zone(meaning: string): Option<string> {
  const parse = (text: string) => (isZone(text) ? text : undefined)
  return { values: 'Europe/London, +05:30, …', fallback: 'UTC', meaning, parse }
}

/** Some of these values, comma-separated. */
export function someOf<const Values extends readonly string[]>(
  values: Values,
  fallback: readonly Values[number][],
  meaning: string,
): Option<readonly Values[number][]> {
  const parse = (text: string) => {
    const parts = text.split(',').map(part => values.find(value => value === part))
    return parts.every(part => part !== undefined) ? parts : undefined
  }
  return { values: `some of ${values.join(', ')}`, fallback, meaning, parse }
}

/** A whole number from 0 to a largest one. */
export function countTo(largest: number, fallback: number, meaning: string): Option<number> {
  const parse = (text: string) =>
    /^\d{1,9}$/.test(text) && Number(text) <= largest ? Number(text) : undefined
  return { values: `0 to ${largest}`, fallback, meaning, parse }
}

export function orNone<Value>({ values, meaning, parse }: Option<Value>): Option<Value | 'none'> {
  return {
    values: `${values}, none`,
    fallback: 'none',
    meaning,
    parse: text => (text === 'none' ? text : parse(text)),
  }
}
