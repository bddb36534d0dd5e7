/** What a warehouse engine can do: run SQL, keep a transaction, and take rows from the stage. */
import type { SchemaName } from './schema/schemas.ts'

export type Value = string | number | boolean | null

/** A column of a temporary table: its name and its type, the same words on both engines. */
export interface TypedColumn {
  readonly name: string
  readonly sql: string
}

/** A temporary table of the stage that the warehouse reads under the same name, until its transaction ends. */
export interface TemporaryTable {
  readonly name: string
  readonly columns: readonly TypedColumn[]
  /** Creates it in the stage just before it is sent; without this, it exists already. */
  readonly make?: string
  /** Column by which the warehouse looks its own rows up; a server learns how many values it has. */
  readonly joinedBy?: string
}

/** Rows that the stage selects, for a table of the warehouse. */
export interface Insertion {
  /** With its schema. */
  readonly table: string
  readonly columns: readonly string[]
  /** One expression a column, in their order; DuckDB's SQL on either engine. */
  readonly select: string
}

/** Rows on their way from the stage to the warehouse. */
export interface Transfer {
  readonly items: readonly (Insertion | TemporaryTable)[]
  /** Settles when the stage may go on to other pages, which can be before the warehouse has received the rows. */
  readonly sent: Promise<void>
  /** The rows of each item as CSV, where the warehouse is not the stage. */
  readonly files: readonly Promise<string>[]
  /** Drops what was not received. */
  discard(): void
}

/** The stage, which is always DuckDB, and transfers between it and the warehouse. */
interface Staging {
  /** The DuckDB that reads landed pages and holds the rows made of them: the warehouse itself, or one in memory. */
  readonly stage: Engine
  /** Starts a transfer to the warehouse. Where stage and warehouse are one, rows stay in place until received. */
  send(items: readonly (Insertion | TemporaryTable)[]): Transfer
  /** Inserts the rows and creates the temporary tables, in the order in which they were sent; inside a transaction. */
  receive(transfer: Transfer): Promise<void>
  /** Makes a temporary table of the stage from rows that the warehouse selects. */
  sendToStage(name: string, columns: readonly TypedColumn[], select: string): Promise<void>
}

/** Work on a connection, which it gets passed; statements on any other engine object would wait for this work to end. */
export type Work<Result> = (engine: Engine) => Promise<Result>

/** A session of its own, whose statements wait for no transaction of the engine and end with none. */
export interface SideSession {
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  close(): Promise<void>
}

/** What the engines do differently, for statements and callers that have to follow. */
export interface Traits {
  /** Shown to people and written into files; no decision depends on it. */
  readonly kind: 'duckdb' | 'postgres'
  /** The same as its maker writes it. */
  readonly product: 'DuckDB' | 'PostgreSQL'
  /** Other processes read and write the warehouse while this one has it open. */
  readonly isShared: boolean
  /** Tables have primary keys, indexes and references. Without them, uniqueness is looked for. */
  readonly keepsKeys: boolean
  /** A connection that was lost can be opened again by the next statement. */
  readonly reconnects: boolean
  /** SQL for the present moment, which moves on within a transaction where `now()` does not. */
  readonly instant: string
  /** Ends a select whose rows are to be updated: rows that another process has locked are left out. */
  readonly skipLocked: string
  /** The type of a column, as the engine's tables have it, for a declared type. */
  columnType(sql: string): string
}

/** A table that people may read, as the catalogue of the engine describes it. */
export interface DescribedColumn {
  /** As `Engine.schema` gives it. */
  readonly schema: string
  readonly table: string
  readonly tableComment: string | null
  readonly column: string
  readonly type: string
  readonly comment: string | null
}

/** What the engine's own catalogue says. */
interface Catalogue {
  /** Comments by place: `schema.table` or `schema.table.column`. */
  comments(): Promise<ReadonlyMap<string, string>>
  /** Columns of the tables in these schemas that this user may read, without views, in their order. */
  describedColumns(schemas: readonly string[]): Promise<readonly DescribedColumn[]>
  /** Throws MusterError when there is a ledger that this user may not read. */
  requireReader(): Promise<void>
  /** Throws MusterError when this user may not make and change the tables of the warehouse. */
  requireOwner(): Promise<void>
}

/** Reading more than a few rows. */
interface LargeReads {
  /** Rows of one statement that reads whole tables through many steps; not inside a transaction. */
  rowsOfWholeTables<Row extends object>(sql: string): Promise<Row[]>
  /** For the rest of a transaction whose statements read so. */
  planForWholeTables(): Promise<void>
  /** Everything that `work` reads is of one moment, whatever others write meanwhile. */
  atOneMoment<Result>(work: Work<Result>): Promise<Result>
  /** Gives `work` SQL by which the stage selects the rows that the warehouse selects. */
  rowsInStage(
    columns: readonly TypedColumn[],
    select: string,
    work: (rows: string) => Promise<void>,
  ): Promise<void>
}

export interface Engine extends Traits, Catalogue, LargeReads, Staging {
  /** Where it is, for messages; never with a password. */
  readonly location: string
  /** The same object on every connection to this warehouse: what is remembered of the warehouse is kept under it. */
  readonly cacheKey: object
  /** What a schema is called here, for questions to the catalogue; statements write the plain name. */
  schema(name: SchemaName): string
  /** Rows of one statement; decimals and 64-bit integers come as text, timestamps as ISO 8601 UTC. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** Runs one statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** All or nothing. Statements of others wait until it ends; `work` gets the connection of the transaction. */
  transaction<Result>(work: Work<Result>): Promise<Result>
  /** A transaction that no merge of another process overlaps: rows that it compares stay as they are until it commits. */
  merge<Result>(work: Work<Result>): Promise<Result>
  /** Gives `work` a connection with a stage of its own for a batch of pages, which `release` gives back before `work` ends. */
  staging<Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result>
  /** Only statements of `work`, on the connection that it gets, run until it ends: temporary tables have one user at a time. */
  exclusive<Result>(work: Work<Result>): Promise<Result>
  /** Lets others see that the holder of this name is alive, for as long as this engine is open. */
  announce(name: string): Promise<void>
  /** Whether a holder of this name is alive. */
  isPresent(name: string): Promise<boolean>
  /** Ends the sessions of a holder that stays silent: what they had begun is undone, and others get at its locks. */
  evict(name: string): Promise<void>
  /** A session beside this one, where the warehouse takes several. */
  openBeside?(): Promise<SideSession>
  close(): Promise<void>
}
