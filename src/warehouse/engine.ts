/** What a warehouse engine can do: run SQL, keep a transaction, take rows from the stage, and speak Kysely for the ledger. */
import type { Kysely } from 'kysely'
import type { Ledger } from '../state/schema.ts'
import type { KeyRequests, SharedKey } from './postgres/key-requests.ts'
import type { SchemaName } from './schema/schemas.ts'

export type Value = string | number | boolean | null

/** A column of a temporary table: its name and its type, the same words on both engines. */
export interface SharedColumn {
  readonly name: string
  readonly sql: string
}

/** A temporary table of the stage that the warehouse reads under the same name, until its transaction ends. */
export interface Share {
  readonly share: string
  /** Creates it in the stage when its turn comes; without, it is there. */
  readonly make?: string
  readonly columns: readonly SharedColumn[]
  /** Column by which the warehouse looks its own rows up; a server learns how many values it has. */
  readonly joinedBy?: string
}

/** Rows that the stage selects, for a table of the warehouse. */
export interface Fill {
  /** With its schema. */
  readonly table: string
  readonly columns: readonly string[]
  /** What the stage gives for the columns, in their order; DuckDB's SQL on either engine. */
  readonly select: string
}

/** Rows between the stage and the warehouse. */
export interface Parcel {
  /** Settles when the stage may go on to other pages: delivery does not wait for it. */
  readonly packed: Promise<void>
  /** Inserts and makes what it holds, in the order in which it was packed; inside a transaction. */
  deliver(): Promise<void>
  /** Lets go of what was not delivered. */
  discard(): void
}

/** The way between the stage, which is always DuckDB, and the warehouse. */
interface Crossing {
  /** The DuckDB that reads landed pages and holds what they become: the warehouse itself, or one in memory. */
  readonly stage: Engine
  /** Takes rows out of the stage. Where stage and warehouse are one, they stay where they are until delivered. */
  pack(freight: readonly (Fill | Share)[]): Parcel
  /** Makes what the warehouse selects a temporary table of the stage. */
  lend(name: string, columns: readonly SharedColumn[], select: string): Promise<void>
}

export interface Engine extends Crossing {
  readonly name: 'duckdb' | 'postgres'
  /** Where it is, for messages; never with a password. */
  readonly location: string
  /** What a schema is called here, for questions to the catalogue; statements write the plain name. */
  schema(name: SchemaName): string
  /** Rows of one statement; decimals and 64-bit integers come as text, timestamps as ISO 8601 UTC. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** Runs one statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** All or nothing; statements of others wait until it ends. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>
  /** A transaction that no merge of another process overlaps: what it compares stays as it is until it commits. */
  merge<Result>(work: () => Promise<Result>): Promise<Result>
  /** Stages of one's own for a batch of pages; `engine.stage` within `work` is where they are. */
  staging<Result>(work: () => Promise<Result>): Promise<Result>
  /** Nobody else's statement runs while `work` does: temporary tables have one user at a time. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result>
  /** Lets others see that the holder of this name is alive, for as long as this engine is open. */
  announce(name: string): Promise<void>
  /** Whether a holder of this name is alive. */
  isPresent(name: string): Promise<boolean>
  /** Ends the sessions of a holder that stays silent: what they had begun is undone, and others get at its locks. */
  evict(name: string): Promise<void>
  /** Where processes on one key share its requests; a file has one process, and none. */
  shareRequests?(key: SharedKey): Promise<KeyRequests>
  readonly ledger: Kysely<Ledger>
  close(): Promise<void>
}
