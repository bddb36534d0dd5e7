/** DuckDB reads every value that is accepted as the value that came: no cast fails, and none makes another value of it. */
import { expect, test } from 'vitest'
import type { ColumnType } from '../../../src/contract/fields/column.ts'
import { namedRng } from '../../../src/lib/rng.ts'
import { leafForm } from '../../../src/load/page/forms.ts'
import { type JudgedText, judge } from '../../../src/load/page/judge.ts'
import { structType } from '../../../src/load/read/struct-type.ts'
import { storedTypes } from '../../../src/warehouse/schema/column-type.ts'
import { drawnNumber, numbers, texts } from '../mutated-records.ts'
import { rulesStage } from '../rules-stage.ts'

const stage = rulesStage()

const edges = [
  ...['99999999.99994', '99999999.99995', '-99999999.99996', '999.9999999994', '999.9999999999', '9.2e18', '9.3e18'],
  ...['9223372036854775807', '-9223372036854775808', '9223372036854775807.0', '0e400', '2.5', '15E-1', '100e-2'],
] // biome-ignore format: a table
const days = [
  '2026-02-28',
  '0001-01-01',
  '9999-12-31',
  '2024-02-29',
  '28/02/2026',
  '31/12/9999',
  '01/01/0001',
]
const clocks = [
  '',
  'T10:00',
  'T23:59:59',
  'T10:00:00.1',
  'T10:00:00.123456',
  'T10:00:00.1234567',
  'T23:59:59.9999999',
]
const offsets = ['', 'Z', '+05:30', '-0330', '+01', '-14', '+14:00', '-12:45', '-00:00', '+14:59', '+15']
/** An offset takes a time of the first or the last day to a year that an engine may not have. */
const edgeTimes = [
  ['0001-01-01T00:00:00+14:00', false],
  ['0001-01-01T00:00:00+00:01', false],
  ['0001-01-01T05:30:00+05:30', true],
  ['0001-01-01T00:00:00-01:00', true],
  ['9999-12-31T23:00:00-14:00', false],
  ['9999-12-31T23:59:59-00:01', false],
  ['9999-12-31T22:00:00-01:00', true],
  ['9999-12-31T23:59:59Z', true],
] as const
const times = [
  ...days.flatMap(day => clocks.flatMap(clock => offsets.map(offset => day + clock + offset))),
  ...edgeTimes.map(([text]) => text),
]
const rng = namedRng(1, 'judged numbers')
const drawn = Array.from({ length: 500 }, () => drawnNumber(rng))
const asNumbers = [...numbers, ...edges, ...drawn]
const all = [
  ...asNumbers,
  ...['true', 'false'],
  ...[...asNumbers, ...texts, ...times].map(text => JSON.stringify(text)),
].filter(json => !/\\u0000|\\ud800/.test(json))

interface Accepted extends JudgedText {
  readonly json: string
}

function accepted(type: ColumnType): Accepted[] {
  const form = leafForm('x', type, undefined)
  if (!form) throw new Error(`${type} has no form`)
  return all.map(json => ({ json, ...judge(json, form) })).filter(({ reason }) => reason === undefined)
}

/** The values of the column, as text. */
async function stored(
  type: ColumnType,
  values: readonly Accepted[],
  hasLong: boolean,
): Promise<(string | null)[]> {
  const { cast, castLong = cast } = storedTypes[type]
  const leaf = structType({ kind: 'leaf', type }, 'typed')
  const page = stage.page(values.map(({ json }) => `{"x":${json}}`).join('\n'))
  const rows = await stage.rows(
    `select cast(${(hasLong ? castLong : cast)('x')} as varchar) as value
     from read_json('${page.file}', columns = {x: '${leaf}'}, format = 'newline_delimited')`,
  )
  return rows.map(({ value }) => value as string | null)
}

const isNumber = (type: ColumnType): boolean => storedTypes[type].digits !== undefined

/** Exact, as a fraction of 10 ** 30. */
function exact(text: string): bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text) ?? []
  const places = 30 - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const scaled = places < 0 ? digits / 10n ** BigInt(-places) : digits * 10n ** BigInt(places)
  return sign ? -scaled : scaled
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value)

/** Of a time, in picoseconds. */
function instant(text: string): bigint {
  const [, day, clock = '00:00', second = '00', fraction = '', offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(text) ?? []
  const zone = offset === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`
  return BigInt(Date.parse(`${day}T${clock}:${second}${zone}`)) * 10n ** 9n + BigInt(fraction.padEnd(12, '0'))
}

/** What the value lost, and the unit of the last place of its column. */
function loss(type: ColumnType, text: string, value: string): { lost: bigint; unit: bigint } {
  if (type === 'timestamp') return { lost: abs(instant(value) - instant(text)), unit: 10n ** 6n }
  const unit = 10n ** BigInt(30 - (storedTypes[type].digits?.behind ?? 0))
  return { lost: abs(exact(value) - exact(text)), unit }
}

const asStored = (type: ColumnType, text: string): string => {
  if (type === 'dayMonthYear') return text.split('/').reverse().join('-')
  return type === 'url' ? text.replace(/[?#].*$/s, '') : text
}

/** Undefined for a value that is stored as it came. */
function difference(type: ColumnType, { json, text = json, isRounded }: Accepted, value: string | null) {
  const wrong = `${json} became ${value}`
  if (value === null) return text === '' ? undefined : wrong
  if (!isNumber(type) && type !== 'timestamp') return value === asStored(type, text) ? undefined : wrong
  const { lost, unit } = loss(type, text, value)
  return lost === 0n || (isRounded && lost < unit) ? undefined : wrong
}

test.each(edgeTimes)('%s is a time that is stored: %s', (text, isStored) => {
  const form = leafForm('x', 'timestamp', undefined)
  expect(form && judge(JSON.stringify(text), form).reason === undefined).toBe(isStored)
})

test.each(Object.keys(storedTypes).filter(type => type !== 'json') as ColumnType[])('%s', async type => {
  const all = accepted(type)
  const short = all.filter(({ isLong }) => !isLong)
  expect(short.length).toBeGreaterThan(1)
  for (const [values, hasLong] of [
    [all, true],
    [short, false],
  ] as const) {
    const found = await stored(type, values, hasLong)
    const wrong = values.flatMap((one, index) => difference(type, one, found[index] ?? null) ?? [])
    expect(wrong).toEqual([])
  }
})
