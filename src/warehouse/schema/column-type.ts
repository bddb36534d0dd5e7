/** How each kind of value is stored, read from text, and checked for loss on the way. */
import type { ColumnType } from '../../contract/fields/column.ts'

export interface StoredType {
  /** Type in the warehouse, the same word on both engines. */
  readonly sql: string
  /** Of numbers: how many digits fit before the point and behind it. */
  readonly digits?: { readonly whole: number; readonly behind: number }
  /** DuckDB expression that reads the text `t`; NULL when it cannot. */
  cast(t: string): string
  /** DuckDB condition: `v` has the full value of the text `t`, which is not null. Absent for types that lose nothing. */
  intact?(t: string, v: string): string
}

/** Decimals: a value with more digits than the column has is rounded, which `intact` notices by comparing as double. */
function decimal(precision: number, scale: number): StoredType {
  const sql = `numeric(${precision}, ${scale})`
  return {
    sql,
    digits: { whole: precision - scale, behind: scale },
    cast: t => `try_cast(${t} as ${sql})`,
    intact: (t, v) => `cast(${v} as double) = try_cast(${t} as double)`,
  }
}

export const storedTypes: Readonly<Record<ColumnType, StoredType>> = {
  text: { sql: 'text', cast: t => t },
  url: { sql: 'text', cast: t => `regexp_replace(${t}, '[?#].*$', '')` },
  // The query string of an address gives access to the file, inside a document as well; JSON may escape its slashes.
  json: {
    sql: 'text',
    cast: t =>
      `regexp_replace(cast(${t} as varchar), '(https?:\\\\?/\\\\?/[^"?#\\s]*)[?#](?:[^"\\\\\\s]|\\\\.)*', '\\1', 'g')`,
  },
  integer: {
    sql: 'bigint',
    digits: { whole: 19, behind: 0 },
    cast: t => `try_cast(${t} as bigint)`,
    intact: (t, v) => `cast(${v} as double) = try_cast(${t} as double)`,
  },
  // 18 digits fit a machine word; 28 took as long for 8 columns as 18 for 56.
  number: decimal(18, 8),
  money: decimal(18, 4),
  quantity: decimal(12, 4),
  coordinate: decimal(12, 9),
  boolean: {
    sql: 'boolean',
    cast: t => `case ${t} when 'true' then true when 'false' then false end`,
    intact: (_t, v) => `${v} is not null`,
  },
  timestamp: {
    sql: 'timestamptz',
    cast: t => `try_cast(${t} as timestamptz)`,
    intact: (_t, v) => `${v} is not null`,
  },
  day: { sql: 'date', cast: t => `try_cast(${t} as date)`, intact: (_t, v) => `${v} is not null` },
  dayMonthYear: {
    sql: 'date',
    cast: t => `cast(try_strptime(nullif(${t}, ''), '%d/%m/%Y') as date)`,
    intact: (t, v) => `${t} = '' or ${v} is not null`,
  },
}
