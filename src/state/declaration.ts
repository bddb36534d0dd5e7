/** Declares ledger tables: their DDL, row types and policies follow from these words. */

type SqlType = 'text' | 'bigint' | 'double precision' | 'numeric(18, 4)' | 'boolean' | 'timestamptz' | 'date'

/** `Value` is what TypeScript reads from and writes to the column. */
export interface LedgerColumn<Value = unknown> {
  /** Valid on both engines. */
  readonly sql: SqlType
  readonly isOptional: boolean
  readonly description: string
  /** Never set; it carries the type. */
  readonly value?: Value
}

const column =
  <Value>(sql: SqlType) =>
  (description: string): LedgerColumn<Value> => ({ sql, isOptional: false, description })

export const text = column<string>('text')
/** A 64-bit integer; the engines give it as text or number, so readers call Number(). */
export const count = column<number>('bigint')
export const real = column<number>('double precision')
/** An exact amount or quantity; the engines give it as text. */
export const decimal = column<string>('numeric(18, 4)')
export const flag = column<boolean>('boolean')
/** ISO 8601 in UTC, in both directions. */
export const time = column<string>('timestamptz')
/** YYYY-MM-DD. */
export const day = column<string>('date')

const listed = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')

/** Text from a list of words, each with its meaning if it needs one; the description is generated from them. */
export function oneOf<const Word extends string>(
  words: readonly Word[] | Readonly<Record<Word, string>>,
  subject = '',
): LedgerColumn<Word> {
  const list = Array.isArray(words)
    ? listed(words)
    : Object.entries(words)
        .map(([word, meaning]) => `${word}: ${meaning}`)
        .join('; ')
  return { sql: 'text', isOptional: false, description: `${subject && `${subject}: `}${list}.` }
}

export const optional = <Value>(required: LedgerColumn<Value>): LedgerColumn<Value | null> => ({
  sql: required.sql,
  isOptional: true,
  description: required.description,
})

/** PostgreSQL only: DuckDB scans a ledger table faster than it would maintain an index. */
export interface LedgerIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly isUnique?: boolean
  readonly where?: string
}

/**
 * Which operations keep the rows.
 * lasting: a copy has them, and a rebuild from landed pages keeps them;
 * replayed: a copy has them; a rebuild writes them again from the pages;
 * local: about the processes, structure or marts of one warehouse, so neither a copy nor a rebuild keeps them.
 */
type Lifetime = 'lasting' | 'replayed' | 'local'

type LedgerColumns = Readonly<Record<string, LedgerColumn>>

type LedgerSchema = 'ops' | 'star' | 'pii'

export interface LedgerTable<
  Schema extends LedgerSchema = LedgerSchema,
  Of extends LedgerColumns = LedgerColumns,
> {
  readonly schema: Schema
  readonly description: string
  readonly columns: Of
  /** Primary key on both engines. */
  readonly key: readonly string[]
  readonly indexes: readonly LedgerIndex[]
  /** Whether the published copy has it; the copy holds no personal data. */
  readonly isPublished: boolean
  readonly lifetime: Lifetime
  readonly shared?: CompanyShare
}

/**
 * Columns of a table without company_id or record_id that a copy for one company gets. They must reveal nothing about other
 * companies. Tables with either column are filtered by it instead.
 */
interface CompanyShare<Column = string> {
  readonly columns: readonly Column[]
  /** Counts that the copy caps at 1. */
  readonly atMostOne?: readonly Column[]
  /** Whether readers of the copy see the table; otherwise it exists only while the marts are built. */
  readonly isShown?: true
}

type TableDeclaration<Of extends LedgerColumns> = Pick<
  LedgerTable,
  'description' | 'isPublished' | 'lifetime'
> & {
  readonly columns: Of
  readonly key?: readonly (keyof Of & string)[]
  readonly shared?: CompanyShare<keyof Of & string>
  readonly indexes?: readonly (LedgerIndex & { readonly columns: readonly (keyof Of & string)[] })[]
}

/** A table of ops. */
export const table = <Of extends LedgerColumns>(declared: TableDeclaration<Of>): LedgerTable<'ops', Of> => ({
  schema: 'ops',
  key: [],
  indexes: [],
  ...declared,
})

/** A table of star that commands fill from ops. */
export const starTable = <Of extends LedgerColumns>(
  declared: TableDeclaration<Of>,
): LedgerTable<'star', Of> => ({
  ...table(declared),
  schema: 'star',
})

/** A PII table: its values may name a person. */
export const piiTable = <Of extends LedgerColumns>(
  declared: TableDeclaration<Of>,
): LedgerTable<'pii', Of> => ({
  ...table(declared),
  schema: 'pii',
})

/** A row as statements accept and return it. */
export type LedgerRow<Of extends LedgerTable> = {
  -readonly [Name in keyof Of['columns']]: Of['columns'][Name] extends LedgerColumn<infer Value>
    ? Value
    : never
}
