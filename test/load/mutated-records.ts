/** Full records in which one declared value is replaced by another JSON value, drawn from a seed. */
import {
  type DeclaredPath,
  declaredPaths,
  openDocuments,
  shapeOf,
} from '../../src/contract/derived/json-shape.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Rng } from '../../src/lib/rng.ts'
import { leavesOf, recordOf } from './full-record.ts'

export interface Mutated {
  /** Stands in every text of the record. */
  readonly prefix: string
  /** Undefined for a record that is as it should be. */
  readonly at?: DeclaredPath
  /** The JSON in its place; undefined where the key is left out. */
  readonly json: string | undefined
  readonly text: string
}

export const numbers = [
  '0', '1', '-1', '42', '-0', '0.0', '1.5', '0.1', '1e3', '1E-2', '1e-400', '-1e-400', '1e400', '1e-5', '7.123456',
  '12345678901234567890', '9223372036854775807', '9223372036854775808', '-9223372036854775809', '9007199254740993',
  '9007199254740993.0', '0.12345678901234567', '123456789.123456789', '99999999999999.9999', '123456789012.3456',
  '2147483648', '0.1000000000000000055511151231257827', '1.00005', '12.600000000000001', '1e15', '1e16', '1e17',
] // biome-ignore format: a table

export const texts = [
  '', ' ', 'x', 'a b', '42', '4.20', '-3', ' 7', '7 ', '1_000', '1,5', '0x10', '1e2', '007', 'NaN', 'Infinity', '-inf', 'true', 'TRUE', 'yes',
  't', 'null', '-1', '2026-02-28', '2026-02-30', '2026-2-8', '2026-02-28T10:00:00Z', '2026-02-28T10:00Z', '2026-02-28T10:00:00',
  '2026-02-28T10:00:00.1Z', '2026-02-28T10:00:00.123456Z', '2026-02-28T10:00:00.1234567Z', '2026-02-28T10:00:00.123456000Z',
  '2026-02-28 10:00:00Z', '2026-02-28T10:00:00+05:30', '2026-02-28T10:00:00-0330', '2026-02-28T10:00:00+01',
  '2026-02-28T10:00:00+25:00', '2026-01-01T24:00:00Z', '2026-06-30T23:59:60Z', '2026-02-28T10:00:00 Europe/London',
  '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '10000-01-01T00:00:00Z', '-0001-01-01T00:00:00Z',
  '2024-02-29T00:00:00.000Z', '2023-02-29T00:00:00.000Z', '1900-02-29T00:00:00Z', '2026-02-28T10:00:00z', '20260228T100000Z',
  'infinity', '-infinity', 'epoch', 'now', 'today', '2026-02-28T10:00:00Z (BC)', '28/02/2026', '31/02/2026', '1/2/2026', '28/02/26',
  'https://a.b/c?token=t#f', '\u0000', '\ud800', 'é😀', '["6517"]', '{"v":1}', "';drop table x", 'x'.repeat(65), 'y'.repeat(3000),
] // biome-ignore format: a table

const others = [
  'null',
  'true',
  'false',
  '[]',
  '[null]',
  '["x"]',
  '[1]',
  '[[]]',
  '[{}]',
  '{}',
  '{"v":1}',
  '{"id":"i1"}',
]

const pick = <Item>(items: readonly Item[], rng: Rng): Item => items[Math.floor(rng() * items.length)] as Item

export function drawnNumber(rng: Rng): string {
  const digits = (most: number) =>
    Array.from({ length: 1 + Math.floor(rng() * most) }, () => Math.floor(rng() * 10)).join('')
  const whole = digits(20).replace(/^0+(?=\d)/, '')
  const fraction = rng() < 0.6 ? `.${digits(12)}` : ''
  const exponent = rng() < 0.2 ? `e${Math.floor(rng() * 40) - 20}` : ''
  return `${rng() < 0.3 ? '-' : ''}${whole}${fraction}${exponent}`
}

function drawnJson(rng: Rng): string | undefined {
  const kind = rng()
  if (kind < 0.25) return pick(numbers, rng)
  if (kind < 0.4) return drawnNumber(rng)
  if (kind < 0.45) return JSON.stringify(drawnNumber(rng))
  if (kind < 0.75) return JSON.stringify(pick(texts, rng))
  return kind < 0.97 ? pick(others, rng) : undefined
}

const place = '@@'

function put(record: object, path: string): void {
  const steps = path.split('.').flatMap(step => {
    const [name = '', ...lists] = step.split('[]')
    return name === '' ? lists.map(() => 0) : [name, ...lists.map(() => 0)]
  })
  let at = record as Record<string | number, unknown>
  for (const step of steps.slice(0, -1)) at = at[step] as typeof at
  at[steps.at(-1) as string] = place
}

function mutatedText(base: object, path: string, json: string | undefined): string {
  const record = structuredClone(base)
  put(record, path)
  const text = JSON.stringify(record)
  if (json !== undefined) return text.replace(`"${place}"`, () => json)
  const without = text.replace(new RegExp(`"[^"]*":"${place}",?`), '').replace(/,(?=[}\]])/g, '')
  return without.replace(`"${place}"`, 'null')
}

/** Every list has one element, and every text of a record has its number. */
export function mutator(resource: Resource, rng: Rng): (number: number) => Mutated {
  const shape = shapeOf(resource.table)
  const documents = openDocuments(resource.table).map(({ path }) => path)
  const paths = declaredPaths(shape).filter(({ path, type }) => type !== 'json' && !documents.includes(path))
  const bases = [0, 1, 2].map(index => recordOf(leavesOf(resource, index * 300)))
  return number => {
    const prefix = `r${number}-`
    const base = pick(bases, rng)
    const isPlain = rng() < 0.05
    const at = pick(paths, rng)
    const json = isPlain ? undefined : drawnJson(rng)
    const text = isPlain ? JSON.stringify(base) : mutatedText(base, at.path, json)
    return { prefix, ...(!isPlain && { at }), json, text: text.replaceAll('text-', prefix) }
  }
}
