/** Defines what a warehouse engine can do: run SQL, transactions, and transfers of rows from the stage. */
import type { DayRule } from '../lib/day-rule.ts'
import type { SchemaName } from './schema/schemas.ts'

export type SqlValue = string | number | boolean | null

/** A column of a temporary table; its type is valid on both engines. */
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
  /** Column on which the warehouse joins its own rows; a server collects statistics on it. */
  readonly joinedBy?: string
}

/** Rows that the stage selects, for a table of the warehouse. */
export interface Insertion {
  /** With its schema. */
  readonly table: string
  readonly columns: readonly string[]
  /** One expression per column, in order; always DuckDB's SQL. */
  readonly select: string
}

/** Rows on their way from the stage to the warehouse. */
export interface Transfer {
  readonly items: readonly (Insertion | TemporaryTable)[]
  /** Settles when the stage may continue with other pages, possibly before the warehouse has received the rows. */
  readonly sent: Promise<void>
  /** The rows of each item as CSV, if the warehouse is not the stage. */
  readonly files: readonly Promise<string>[]
  /** Drops rows that were not received. */
  discard(): void
}

/** The stage, which is always DuckDB, and transfers between it and the warehouse. */
interface StageTransfers {
  /** The DuckDB that reads landed pages into rows: the warehouse itself, or one in memory. */
  readonly stage: Engine
  /** Starts a transfer to the warehouse. If stage and warehouse are the same, rows stay in place until received. */
  send(items: readonly (Insertion | TemporaryTable)[]): Transfer
  /** Inserts the rows and creates the temporary tables, in the order sent; runs inside a transaction. */
  receive(transfer: Transfer): Promise<void>
  /** Creates a temporary table in the stage from rows that the warehouse selects. */
  sendToStage(name: string, columns: readonly TypedColumn[], select: string): Promise<void>
}

/** Work on the connection passed to it. A statement on any other engine object would wait for this work to end. */
export type EngineWork<Result> = (engine: Engine) => Promise<Result>

/** A second session: its statements neither wait for a transaction of the engine nor roll back with one. */
export interface SideSession {
  rows<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  close(): Promise<void>
}

/** Differences between the engines that statements and callers depend on. */
export interface EngineTraits {
  /** For display and for files; no decision depends on it. */
  readonly kind: 'duckdb' | 'postgres'
  /** Product name, for display. */
  readonly product: 'DuckDB' | 'PostgreSQL'
  /** Other processes read and write the warehouse while this one has it open. */
  readonly isShared: boolean
  /** Tables have primary keys, indexes and references; without them, uniqueness has to be checked. */
  readonly keepsKeys: boolean
  /** The next statement can reopen a connection that was lost. */
  readonly reconnects: boolean
  /** SQL for the current time, which advances within a transaction, unlike `now()` on a server. */
  readonly instant: string
  /** Suffix of a select for update that skips rows locked by another process. */
  readonly skipLocked: string
  /** Matching a pattern takes longer than finding distinct texts. */
  readonly hasSlowPatterns: boolean
  /** Rewrites a statement that scans complete tables into this engine's fastest form. */
  forFullScan(sql: string): string
  /** The engine's column type for a declared type. */
  columnType(sql: string): string
}

/** A column of a table, as the catalogue of the engine describes it. */
export interface DescribedColumn {
  /** As returned by `Engine.schema`. */
  readonly schema: string
  readonly table: string
  readonly tableComment: string | null
  readonly column: string
  readonly type: string
  readonly comment: string | null
}

/** Reads the engine's catalogue. */
interface EngineCatalogue {
  /** Comments by place: `schema.table` or `schema.table.column`. */
  comments(): Promise<ReadonlyMap<string, string>>
  /** Columns of the tables in these schemas that this user may read, without views, in their order. */
  describedColumns(schemas: readonly string[]): Promise<readonly DescribedColumn[]>
  /** Throws MusterError if there is a ledger that this user may not read. */
  requireReader(): Promise<void>
  /** Throws MusterError if this user may not create and change the tables of the warehouse. */
  requireOwner(): Promise<void>
}

/** Reads of more than a few rows. */
interface LargeReads {
  /** Rows of one statement that scans complete tables in many steps; not inside a transaction. */
  rowsByFullScan<Row extends object>(sql: string): Promise<Row[]>
  /** Plans the rest of a transaction for such statements. */
  planForFullScans(): Promise<void>
  /**
   * Lets the schema's owner own everything that the rest of the transaction creates, if this user is a member of that role. So
   * the owner can rebuild a table, whichever user built it last.
   */
  actAsOwnerOf(schema: SchemaName): Promise<void>
  /** Lets `work` read one state of the warehouse, unaffected by concurrent writes. */
  inOneSnapshot<Result>(work: EngineWork<Result>): Promise<Result>
  /** Makes rows of the warehouse readable in the stage: `work` gets the SQL that selects them there. */
  rowsInStage(
    columns: readonly TypedColumn[],
    select: string,
    work: (rows: string) => Promise<void>,
  ): Promise<void>
}

export interface Engine extends EngineTraits, EngineCatalogue, LargeReads, StageTransfers {
  /** The file or address, for messages; never with a password. */
  readonly location: string
  /** How the settings count days; undefined leaves stored days unchanged. */
  readonly days: DayRule | undefined
  /** The same object on every connection to this warehouse: the key for caches of facts about it. */
  readonly cacheKey: object
  /** The name of a schema on this engine, for catalogue queries; statements use the plain name. */
  schema(name: SchemaName): string
  /** Rows of one statement; decimals and 64-bit integers come as text, timestamps as ISO 8601 UTC. */
  rows<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  /** Runs one statement and returns how many rows it changed. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>
  /** Runs `work` in a transaction, on the connection it gets; other statements wait until it ends. */
  transaction<Result>(work: EngineWork<Result>): Promise<Result>
  /** A transaction that never overlaps another process's merge, so that the rows it compares do not change. */
  merge<Result>(work: EngineWork<Result>): Promise<Result>
  /** Gives `work` a connection with a stage of its own for a batch of pages; `release` returns it before `work` ends. */
  staging<Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result>
  /** Runs only the statements of `work`, on the connection it gets, until it ends; for work with temporary tables. */
  exclusive<Result>(work: EngineWork<Result>): Promise<Result>
  /**
   * Gives `work` another connection for parallel transactions, or undefined if the server accepts no more connections. Absent
   * on an engine where one connection uses every core.
   */
  alongside?<Result>(work: (other: Engine | undefined) => Promise<Result>): Promise<Result>
  /**
   * Copies tables, views, comments and rows of a database file into this warehouse if it is empty; returns whether it did.
   * Absent on a server. Not inside a transaction.
   */
  copyDatabase?(file: string): Promise<boolean>
  /** Shows other processes that the holder with this name is alive while this engine is open. */
  announce(name: string): Promise<void>
  /** Whether a holder with this name is alive. */
  isPresent(name: string): Promise<boolean>
  /** Ends the sessions of a holder that no longer responds: their transactions roll back and their locks are released. */
  evict(name: string): Promise<void>
  /** Opens a second session; absent if only one process can open the warehouse. */
  openBeside?(): Promise<SideSession>
  /**
   * Writes committed rows from the log into the file. Throws MusterError if there is no space. `reclaims` also frees the space
   * of removed rows, if the engine does not do that by itself.
   */
  makeLasting(options?: { readonly reclaims?: boolean }): Promise<void>
  /**
   * Resolves when no other session can see overwritten row versions any longer. Throws Busy if one can for too long: a vacuum
   * would leave those versions in the files.
   */
  awaitOldSnapshots(signal: AbortSignal): Promise<void>
  /**
   * Frees memory for a large statement: writes committed rows into the file if they take more than `max` bytes. After a
   * statement ran out of memory, it frees what that one left behind. Not inside a transaction.
   */
  freeMemory(max?: number): Promise<void>
  close(): Promise<void>
}

/**
 * Runs many small statements in few calls. Each call is a round trip to a server, and DuckDB waits for this thread between
 * calls: a new file takes 1.8 s of CPU with 2,000 statements per call, and 2.0 s with 200.
 */
export async function runTogether(engine: Engine, statements: readonly string[]): Promise<void> {
  const many = 2_000
  for (let from = 0; from < statements.length; from += many)
    await engine.run(statements.slice(from, from + many).join(';\n'))
}
