/** The words a ledger table is declared with: its statements, its row type and its policy follow from them. */

type SqlType = 'text' | 'bigint' | 'double precision' | 'numeric(18, 4)' | 'boolean' | 'timestamptz' | 'date'

/** `Value` is what TypeScript reads from and writes to the column. */
export interface LedgerColumn<Value = unknown> {
  /** The same word on both engines. */
  readonly sql: SqlType
  readonly isOptional: boolean
  readonly description: string
  /** Never set: it carries the type. */
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

/** PostgreSQL only: DuckDB scans a ledger table faster than it would keep an index. */
export interface LedgerIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly isUnique?: boolean
  readonly where?: string
}

/**
 * What becomes of the rows in another place.
 * lasting: copied with the warehouse, and kept when it is rebuilt from its landed pages;
 * replayed: copied, and written anew by a rebuild, which reads them from the pages;
 * local: about the processes, the structure or the marts of one warehouse, so neither copied nor carried into a new file.
 */
type Lifetime = 'lasting' | 'replayed' | 'local'

type Columns = Readonly<Record<string, LedgerColumn>>

type LedgerSchema = 'ops' | 'star' | 'pii'

export interface LedgerTable<Schema extends LedgerSchema = LedgerSchema, Of extends Columns = Columns> {
  readonly schema: Schema
  readonly description: string
  readonly columns: Of
  /** Primary key on both engines. */
  readonly key: readonly string[]
  readonly indexes: readonly LedgerIndex[]
  /** Whether the published copy has it, which holds no personal data. */
  readonly isPublished: boolean
  readonly lifetime: Lifetime
  readonly shared?: Shared
}

/**
 * A copy for one company has the rows of tables with a company_id or record_id that are its own. Rows of other tables are
 * about all companies: it has them where this names the columns that give no company away, and only those.
 */
interface Shared<Column = string> {
  readonly columns: readonly Column[]
  /** Figures of which it has 1 in the place of more. */
  readonly atMostOne?: readonly Column[]
  /** Whether its readers see them; else they are there while its marts are built. */
  readonly isShown?: true
}

type Declared<Of extends Columns> = Pick<LedgerTable, 'description' | 'isPublished' | 'lifetime'> & {
  readonly columns: Of
  readonly key?: readonly (keyof Of & string)[]
  readonly shared?: Shared<keyof Of & string>
  readonly indexes?: readonly (LedgerIndex & { readonly columns: readonly (keyof Of & string)[] })[]
}

/** A table of ops. */
export const table = <Of extends Columns>(declared: Declared<Of>): LedgerTable<'ops', Of> => ({
  schema: 'ops',
  key: [],
  indexes: [],
  ...declared,
})

/** A table that analysts read as part of star, and that commands fill from ops. */
export const starTable = <Of extends Columns>(declared: Declared<Of>): LedgerTable<'star', Of> => ({
  ...table(declared),
  schema: 'star',
})

/** A table of values that may name a person. */
export const piiTable = <Of extends Columns>(declared: Declared<Of>): LedgerTable<'pii', Of> => ({
  ...table(declared),
  schema: 'pii',
})

/** A row as statements take and give it. */
export type Row<Of extends LedgerTable> = {
  -readonly [Name in keyof Of['columns']]: Of['columns'][Name] extends LedgerColumn<infer Value>
    ? Value
    : never
}
