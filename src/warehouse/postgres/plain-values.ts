/** Converts PostgreSQL's values to the same plain JSON values as DuckDB's. */
import type { CustomTypesConfig, FieldDef } from 'pg'

const oid = {
  boolean: 16,
  bigint: 20,
  smallint: 21,
  integer: 23,
  oid: 26,
  real: 700,
  double: 701,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  textArray: 1009,
  numeric: 1700,
  uuid: 2950,
} as const

const numeric: readonly number[] = [
  oid.bigint,
  oid.smallint,
  oid.integer,
  oid.oid,
  oid.real,
  oid.double,
  oid.numeric,
]

/** Whether a column of this type holds numbers, which tables align to the right. */
export const isNumericType = (type: number): boolean => numeric.includes(type)

const takingTypes: Readonly<Record<number, string>> = {
  [oid.boolean]: 'BOOLEAN',
  [oid.bigint]: 'BIGINT',
  [oid.smallint]: 'SMALLINT',
  [oid.integer]: 'INTEGER',
  [oid.oid]: 'BIGINT',
  [oid.real]: 'FLOAT',
  [oid.double]: 'DOUBLE',
  [oid.date]: 'DATE',
  [oid.time]: 'TIME',
  [oid.uuid]: 'UUID',
  [oid.timestamp]: 'TIMESTAMP',
  [oid.timestamptz]: 'TIMESTAMPTZ',
  [oid.textArray]: 'VARCHAR[]',
}

const widestDecimal = 38

/** The modifier is precision and scale plus 4; a computed number has none. */
function decimalType(modifier: number): string {
  const [precision, scale] = [(modifier - 4) >> 16, (modifier - 4) & 0xffff]
  const isDeclared = modifier >= 4 && precision <= widestDecimal && scale <= precision
  return isDeclared ? `DECIMAL(${precision},${scale})` : 'DOUBLE'
}

/** The DuckDB type that accepts the plain values of a column. */
export const takingType = ({
  dataTypeID,
  dataTypeModifier,
}: Pick<FieldDef, 'dataTypeID' | 'dataTypeModifier'>): string =>
  dataTypeID === oid.numeric ? decimalType(dataTypeModifier) : (takingTypes[dataTypeID] ?? 'VARCHAR')

/** `2026-03-01 09:00:00.12+00`, which PostgreSQL writes at UTC, as ISO 8601 with at least three decimals. */
function isoTime(text: string): string {
  const match = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/.exec(text)
  if (!match) return text
  const [, year = '', month, day, time, fraction = ''] = match
  const longYear = year.length > 4 ? `+${year.padStart(6, '0')}` : year
  const micros = fraction.padEnd(6, '0')
  return `${longYear}-${month}-${day}T${time}.${micros.endsWith('000') ? micros.slice(0, 3) : micros}Z`
}

function plainInteger(text: string): number | string {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

/** Parses a one-dimensional array of PostgreSQL. */
function list(text: string): (string | null)[] {
  const items = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)
  return [...items].map(([, quoted, bare]) =>
    quoted === undefined ? (bare === 'NULL' ? null : (bare ?? '')) : quoted.replace(/\\(.)/g, '$1'),
  )
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [oid.boolean]: text => text === 't',
  [oid.bigint]: plainInteger,
  [oid.smallint]: Number,
  [oid.integer]: Number,
  [oid.oid]: Number,
  [oid.real]: Number,
  [oid.double]: Number,
  [oid.timestamp]: isoTime,
  [oid.timestamptz]: isoTime,
  [oid.textArray]: list,
}

const asText = (text: string): unknown => text

/** Decimals and dates as text, 64-bit integers as numbers where exact, timestamps as ISO 8601 UTC; all else as text. */
export const plainValues: CustomTypesConfig = {
  getTypeParser: ((type: number) => parsers[type] ?? asText) as CustomTypesConfig['getTypeParser'],
}
