/** What a warehouse engine can do: run SQL, keep a transaction, and take rows from the stage. */
import type { SchemaName } from './schema/schemas.ts'

export type Value = string | number | boolean | null

/** A column of a temporary table; the type is written the same on both engines. */
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
  /** Column that the warehouse joins its own rows by; a server collects statistics on it. */
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

/** Work on a connection that it gets passed. A statement on any other engine object would wait for this work to end. */
export type Work<Result> = (engine: Engine) => Promise<Result>

/** A second session: its statements neither wait for a transaction of the engine nor roll back with one. */
export interface SideSession {
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  close(): Promise<void>
}

/** Differences between the engines that statements and callers depend on. */
export interface Traits {
  /** For display and for files; no decision depends on it. */
  readonly kind: 'duckdb' | 'postgres'
  /** The name of the product, for display. */
  readonly product: 'DuckDB' | 'PostgreSQL'
  /** Other processes read and write the warehouse while this one has it open. */
  readonly isShared: boolean
  /** Tables have primary keys, indexes and references; without them, uniqueness has to be checked. */
  readonly keepsKeys: boolean
  /** The next statement can reopen a connection that was lost. */
  readonly reconnects: boolean
  /** SQL for the current time; unlike `now()` it does not stand still within a transaction. */
  readonly instant: string
  /** Goes at the end of a select for update: rows that another process has locked are skipped. */
  readonly skipLocked: string
  /** Searching a text for a pattern takes longer than telling equal texts apart. */
  readonly hasSlowPatterns: boolean
  /** A statement that reads whole tables, as this engine runs it fastest. */
  overWholeTables(sql: string): string
  /** The type that a column of the engine's tables has for a declared type. */
  columnType(sql: string): string
}

/** A column of a table, as the catalogue of the engine describes it. */
export interface DescribedColumn {
  /** As `Engine.schema` gives it. */
  readonly schema: string
  readonly table: string
  readonly tableComment: string | null
  readonly column: string
  readonly type: string
  readonly comment: string | null
}

/** Questions to the catalogue of the engine. */
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

/** Reads of more than a few rows. */
interface LargeReads {
  /** Rows of one statement that reads whole tables through many steps; not inside a transaction. */
  rowsOfWholeTables<Row extends object>(sql: string): Promise<Row[]>
  /** Plans the rest of a transaction for such statements. */
  planForWholeTables(): Promise<void>
  /**
   * What the rest of a transaction makes belongs to the owner of a schema, if this user is a member of that role: whoever
   * built a table last, its owner may build it again.
   */
  actAsOwnerOf(schema: SchemaName): Promise<void>
  /** `work` reads one state of the warehouse, whatever others write meanwhile. */
  atOneMoment<Result>(work: Work<Result>): Promise<Result>
  /** Makes rows of the warehouse readable in the stage: `work` gets the SQL that selects them there. */
  rowsInStage(
    columns: readonly TypedColumn[],
    select: string,
    work: (rows: string) => Promise<void>,
  ): Promise<void>
}

export interface Engine extends Traits, Catalogue, LargeReads, Staging {
  /** The file or address, for messages; never with a password. */
  readonly location: string
  /** IANA name of the zone in which its user wants days to be counted; undefined leaves them as they are. */
  readonly reportingZone: string | undefined
  /** The same object on every connection to this warehouse: the key for caches of facts about it. */
  readonly cacheKey: object
  /** The name of a schema on this engine, for questions to the catalogue; statements use the plain name. */
  schema(name: SchemaName): string
  /** Rows of one statement; decimals and 64-bit integers come as text, timestamps as ISO 8601 UTC. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** Runs one statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** All or nothing. Statements of others wait until it ends; `work` gets the connection of the transaction. */
  transaction<Result>(work: Work<Result>): Promise<Result>
  /** A transaction that never overlaps a merge of another process, so that the rows it compares do not change under it. */
  merge<Result>(work: Work<Result>): Promise<Result>
  /** Gives `work` a connection with a stage of its own for a batch of pages; `release` returns it before `work` ends. */
  staging<Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result>
  /** Until `work` ends, only its statements run, on the connection that it gets; for work with temporary tables. */
  exclusive<Result>(work: Work<Result>): Promise<Result>
  /**
   * Gives `work` another connection, whose transactions run beside those of this one, or undefined where the server takes no
   * more of them; absent where one connection uses every core.
   */
  alongside?<Result>(work: (other: Engine | undefined) => Promise<Result>): Promise<Result>
  /**
   * Copies tables, views, comments and rows of a database file into this warehouse, if that has no table and no schema; returns
   * whether it did. Absent on a server. Not inside a transaction.
   */
  copyWhole?(file: string): Promise<boolean>
  /** Shows other processes that the holder of this name is alive, for as long as this engine is open. */
  announce(name: string): Promise<void>
  /** Whether a holder of this name is alive. */
  isPresent(name: string): Promise<boolean>
  /** Ends the sessions of a holder that no longer responds: their transactions roll back and their locks are released. */
  evict(name: string): Promise<void>
  /** Opens a second session; absent where the warehouse has only one process. */
  openBeside?(): Promise<SideSession>
  /**
   * Brings what was committed where it stays. Throws MusterError when there is no room for it. `reclaims` also gives back the
   * space of removed rows, where the engine does not do that by itself.
   */
  makeLasting(options?: { readonly reclaims?: boolean }): Promise<void>
  /**
   * Resolves when no other session can see versions of rows that were overwritten before. Throws Busy when one can for long:
   * whatever vacuums then leaves them in the files.
   */
  awaitOldSnapshots(signal: AbortSignal): Promise<void>
  /**
   * Makes room for a large statement: what was written and takes more than `most` bytes of memory goes where it stays. After
   * a statement that ran out of memory it takes back what that one left behind. Not inside a transaction.
   */
  freeMemory(most?: number): Promise<void>
  close(): Promise<void>
}
