/** What a warehouse engine can do: run SQL, keep a transaction, and speak Kysely for the ledger. */
import type { Kysely } from 'kysely'
import type { Ledger } from './ledger/schema.ts'

export type Value = string | number | boolean | null

export interface Engine {
  readonly name: 'duckdb' | 'postgres'
  /** Where it is, for messages; never with a password. */
  readonly location: string
  /** Rows of one statement; decimals and 64-bit integers come as text, timestamps as ISO 8601 UTC. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** Runs one statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** All or nothing; statements of others wait until it ends. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>
  /** Nobody else's statement runs while `work` does: temporary tables have one user at a time. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result>
  readonly ledger: Kysely<Ledger>
  close(): Promise<void>
}
