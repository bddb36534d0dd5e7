/** Defines how each kind of value is stored and read from text. */
import type { ColumnType } from '../../contract/fields/column.ts'

export interface StoredType {
  /** Type in the warehouse; valid on both engines. */
  readonly sql: string
  /** For numbers: how many digits fit before and after the point. */
  readonly digits?: { readonly whole: number; readonly behind: number }
  /** DuckDB expression that converts `t`, a double or a text. It fails rather than return NULL for an unreadable value. */
  cast(t: string): string
  /** The same for any double, but slower. */
  castLong?(t: string): string
}

/** Digits that survive reading as a double and multiplication by a power of ten. */
export const safeDigits = 15

/** Rounds a number with more decimals than the column has. */
function decimal(precision: number, scale: number): StoredType {
  const sql = `numeric(${precision}, ${scale})`
  const cast = (t: string): string => `cast(${t} as ${sql})`
  return {
    sql,
    digits: { whole: precision - scale, behind: scale },
    cast,
    castLong: t =>
      `case when abs(${t}) < 1e${safeDigits - scale} then ${cast(t)} else ${cast(`cast(${t} as varchar)`)} end`,
  }
}

export const storedTypes: Readonly<Record<ColumnType, StoredType>> = {
  text: { sql: 'text', cast: t => t },
  url: { sql: 'text', cast: t => `regexp_replace(${t}, '[?#].*$', '')` },
  // Removes query strings, which give access to files, from URLs inside documents too; JSON may escape slashes.
  json: {
    sql: 'text',
    cast: t =>
      `regexp_replace(cast(${t} as varchar), '(https?:\\\\?/\\\\?/[^"?#\\s]*)[?#](?:[^"\\\\\\s]|\\\\.)*', '\\1', 'g')`,
  },
  integer: { sql: 'bigint', digits: { whole: 19, behind: 0 }, cast: t => `cast(${t} as bigint)` },
  // 18 digits fit a machine word; 8 columns of 28 digits took as long as 56 columns of 18.
  number: decimal(18, 8),
  money: decimal(18, 4),
  quantity: decimal(12, 4),
  coordinate: decimal(12, 9),
  boolean: { sql: 'boolean', cast: t => `cast(${t} as boolean)` },
  timestamp: { sql: 'timestamptz', cast: t => `cast(${t} as timestamptz)` },
  day: { sql: 'date', cast: t => `cast(${t} as date)` },
  dayMonthYear: { sql: 'date', cast: t => `cast(strptime(nullif(${t}, ''), '%d/%m/%Y') as date)` },
}
