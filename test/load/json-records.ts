/** Arbitrary JSON as the records of a list: odd keys, odd values, and what a careless service may send instead of a record. */
import fc from 'fast-check'

export const longKey = 'x'.repeat(3000)

const oddKeys = [
  '',
  ' ',
  '"',
  "'",
  '\\',
  '\n',
  '\0',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  'ID',
  'Id',
  'a.b',
  'a"b',
  '[0]',
  '$',
  '*',
  '#2',
  'é😀',
  '%',
  '?1',
  ';drop table star.fact_timesheet',
  longKey,
]

const declared = [
  'status',
  'worker',
  'timelogs',
  'rates',
  'values',
  'hours',
  'netHours',
  'version',
  'reference',
]
const key = fc.oneof(fc.constantFrom(...oddKeys), fc.constantFrom(...declared), fc.string())

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(...oddKeys, '1e400', 'https://a.b/c?token=d', '2026-02-30T00:00:00Z'),
)

/** JSON texts, as some of them no object can hold: __proto__, keys that come twice, numbers of 300 digits. */
const number = fc.constantFrom('1e400', '-0', '1E5', '9'.repeat(300), '0.1234567890123456789')
const { text } = fc.letrec<{ text: string }>(tie => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf.map(one => JSON.stringify(one) ?? 'null'),
    number,
    fc.array(tie('text'), { maxLength: 3 }).map(items => `[${items.join(',')}]`),
    fc.uniqueArray(fc.tuple(key, tie('text')), { maxLength: 4, selector: ([name]) => name }).map(members),
  ),
}))

const member = ([name, value]: readonly [string, string]): string => `${JSON.stringify(name)}:${value}`

function members(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(member).join(',')}}`
}

export const jsonText = text

/** A record as JSON, without its id and time. */
export const fields = fc.array(fc.tuple(key, text), { maxLength: 6 })

export const recordText = (id: string, entries: readonly (readonly [string, string])[], at: string): string =>
  members([['id', `"${id}"`], ...entries, ['updatedAt', `"${at}"`], ['createdAt', `"${at}"`]])

/** Leaves of a JSON value, null left out; an empty object or list is one. */
export function countLeaves(value: unknown): number {
  if (value === null) return 0
  if (typeof value !== 'object') return 1
  const inner = Object.values(value)
  return inner.length === 0 ? 1 : inner.reduce((sum: number, next) => sum + countLeaves(next), 0)
}
