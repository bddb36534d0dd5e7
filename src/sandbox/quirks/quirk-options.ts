/**
 * The quirks: lasting ways in which a service deviates from its contract, each for one resource or for all. The values of
 * `--quirk`, its help and the table in docs/sandbox.md come from this table.
 */
import { catalogue, findResource } from '../../contract/catalogue.ts'
import { UsageError } from '../../lib/errors.ts'
import { pairOf, unknownName } from '../options/contract-options.ts'
import { type Chosen, countTo, fallbacks, type Option, oneOf, orNone, someOf } from '../options/option.ts'

const most = 1_000_000_000
const count = (meaning: string) => orNone(countTo(most, 0, meaning))
const flag = (meaning: string) => oneOf(['no', 'yes'], 'no', meaning)

/** Those about the pages of a list. */
const pageQuirks = {
  'page-cap': count('pages have at most so many rows, and `meta.limit` says what was asked for'),
  'limit-cap': count('pages have at most so many rows, and `meta.limit` says so'),
  'cut-pages': count('only so many rows of each page are sent: the others are on no page'),
  'short-page': count('page 2 always lacks its last so many rows'),
  'same-page': flag('every page has the rows of page 1'),
  'repeat-page': count('the page with this number once has the rows of the page before'),
  hidden: count('so many records are left out of the pages after paging; `meta.total` counts them'),
  empty: flag('the list has no rows'),
  'total-cap': count('`meta.total` is never above this'),
  'total-over': count('`meta.total` counts so many records more than the list has, where it has any'),
  total: oneOf(
    ['right', 'null', 'missing', 'text', 'shrinking'],
    'right',
    '`meta.total`: as it is, null, left out, as text, or one less at each answer',
  ),
  'date-field': oneOf(
    ['kept', 'ignored'],
    'kept',
    '`from` and `to` apply to `dateField`, or always to its default',
  ),
  'past-end': oneOf(
    ['empty', '404', '400', 'null', 'last'],
    'empty',
    'a page after the last one by `meta.total`: without rows, refused with this status, null for its rows, or the last one again',
  ),
  success: oneOf(['true', 'false'], 'true', '`success` in answers with status 200'),
  'forbidden-after': count('403 once so many requests were answered'),
} as const

/** Those about the records. */
const recordQuirks = {
  broken: count('so many records hold a text where the contract has another type, under the same updatedAt'),
  'odd-keys': orNone(
    someOf(
      ['empty', 'quote', 'proto', 'many', 'deep'],
      [],
      'undeclared keys: "", one with a double quote, `__proto__`, 10,000 of them, one with 1,000 levels below',
    ),
  ),
  'odd-every': countTo(most, 10, 'one record in so many has the odd keys'),
} as const

/** Those about changes to the list between two of its requests. */
const changeQuirks = {
  churn: count('before each answer so many records are deleted and as many inserted'),
  updates: count('before each answer so many records are updated'),
  late: count('before each answer so many records are updated with an updatedAt `lateness` seconds ago'),
  backdated: count(
    'before each answer so many records are inserted that say they are `lateness` seconds old',
  ),
  lateness: countTo(most, 600, 'seconds between the updatedAt of a late change and its appearance'),
  'bulk-update': count('before the next answer, and only then, so many records get one updatedAt'),
} as const

export const quirkOptions = {
  ...pageQuirks,
  ...recordQuirks,
  ...changeQuirks,
} as const satisfies Readonly<Record<string, Option<unknown>>>

export type Quirks = Chosen<typeof quirkOptions>

/** By the name of the resource, or `all`. */
export type QuirkSettings = Readonly<Record<string, Partial<Quirks>>>

export const noQuirks: Quirks = fallbacks(quirkOptions)

/** Parses `name=value` or `resource:name=value`. Throws a UsageError that says what would be right. */
export function parseQuirk(text: string): QuirkSettings {
  const [given, value] = pairOf(text)
  const [resource, name] = given.includes(':') ? (given.split(':', 2) as [string, string]) : ['all', given]
  checkResource(resource)
  const option = (quirkOptions as Readonly<Record<string, Option<unknown>>>)[name]
  if (!option || !Object.hasOwn(quirkOptions, name))
    throw unknownName('quirk', name, Object.keys(quirkOptions))
  const parsed = option.parse(value)
  if (parsed === undefined) {
    throw new UsageError({ what: `quirk ${name} does not take "${value}"`, next: `give ${option.values}` })
  }
  return { [resource]: { [name]: parsed } }
}

export function checkResource(name: string): void {
  if (name === 'all' || findResource(name)) return
  throw unknownName(
    'resource',
    name,
    catalogue.map(one => one.name),
  )
}

export function withQuirks(before: QuirkSettings, more: QuirkSettings): QuirkSettings {
  const merged = Object.entries(more).map(([name, quirks]) => [name, { ...before[name], ...quirks }])
  return { ...before, ...Object.fromEntries(merged) }
}
