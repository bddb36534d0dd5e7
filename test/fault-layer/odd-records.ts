/** The quirks of records: values of the wrong type, and keys that no contract has. */
import { createHash } from 'node:crypto'
import type { StoredRecord } from '../../src/sandbox/record.ts'
import type { Quirks } from './quirk-settings.ts'

type OddKey = NonNullable<Quirks['odd-keys']>[number]

const manyKeys = 10_000
const levels = 1_000
const defaultOddEvery = 10

const oddFields: Readonly<Record<OddKey, () => readonly (readonly [string, unknown])[]>> = {
  empty: () => [['', 'below an empty key']],
  quote: () => [['say "so"', 'below a key with quotes']],
  proto: () => [['__proto__', { polluted: true }]],
  many: () => Array.from({ length: manyKeys }, (_, index) => [`odd${index}`, index] as const),
  deep: () => [['oddDeep', nested(levels)]],
}

function nested(depth: number): unknown {
  let value: unknown = 'the bottom'
  for (let level = 0; level < depth; level += 1) value = { below: value }
  return value
}

/** The same for a record at each request. */
function placeOf(id: unknown, seed: number): number {
  return createHash('sha256').update(`${seed} ${id}`).digest().readUInt32BE()
}

/** This many names, spread over the list by the seed. */
export function chosenNames(names: readonly unknown[], count: number, seed: number): ReadonlySet<unknown> {
  const places = [...new Set(names)].map(name => ({ name, place: placeOf(name, seed) }))
  places.sort((one, other) => one.place - other.place)
  return new Set(places.slice(0, count).map(({ name }) => name))
}

/** The record with odd keys, if it is one of those that have them. */
export function withOddKeys(record: StoredRecord, quirks: Quirks, seed: number): StoredRecord {
  const { 'odd-keys': kinds, 'odd-every': every = defaultOddEvery } = quirks
  if (!kinds || placeOf(record.id ?? JSON.stringify(record), seed) % Math.max(1, every) !== 0) return record
  // Unlike an assignment, this makes an own property of `__proto__`.
  return Object.fromEntries([...Object.entries(record), ...kinds.flatMap(kind => oddFields[kind]())])
}

/** The first value that is no text and no list becomes one that fits no type but text. */
export function brokenRecord(record: StoredRecord): StoredRecord {
  const name = Object.keys(record).find(key => isOfAnotherType(record[key]))
  return name === undefined ? record : { ...record, [name]: 'not as declared' }
}

const isOfAnotherType = (value: unknown): boolean =>
  value !== null && ['number', 'boolean', 'object'].includes(typeof value)
