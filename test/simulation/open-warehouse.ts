/** A warehouse that DuckDB holds open for one process after the other. */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { originals } from './ports.ts'

/** The files of a stage are unlinked while it is used, so that it cannot be written as it goes. */
async function detach(connection: DuckDBConnection, name: string): Promise<void> {
  try {
    await originals.run.call(connection, `detach ${name}`)
  } catch (error) {
    if (!String(error).includes(`Detached database '${name}'`)) throw error
  }
}

export class OpenWarehouse {
  #instance: DuckDBInstance | undefined
  /** Whether the warehouse was attached by a process before. */
  #isAttached = false

  #isExpected = false

  /** The instance that a process opens next is that of the warehouse. */
  expect(): void {
    this.#isExpected = true
  }

  takesNext(): boolean {
    const isExpected = this.#isExpected
    this.#isExpected = false
    return isExpected
  }

  get instance(): DuckDBInstance | undefined {
    return this.#instance
  }

  keep(instance: DuckDBInstance): void {
    this.#instance = instance
  }

  /**
   * In place of a statement of a process that attaches the warehouse: it is there already, or comes without a log. One that
   * detaches it, to attach it anew, leaves it there.
   */
  attaching(sql: string): string {
    if (sql === 'detach warehouse') return 'select 1'
    if (!/^attach .* as warehouse /.test(sql)) return sql
    if (this.#isAttached) return 'select 1'
    this.#isAttached = true
    return sql.replace(/\)$/, ", recovery_mode 'no_wal_writes')")
  }

  /** Leaves the warehouse, and nothing of where a process that is no more kept its batches. */
  async tidy(): Promise<void> {
    await this.#alone(async connection => {
      const read = await originals.run.call(connection, 'select database_name from duckdb_databases()')
      const names = (await read.getRows()).map(([name]) => String(name))
      this.#isAttached = names.includes('warehouse')
      for (const name of names.filter(name => name.startsWith('stage'))) await detach(connection, name)
    })
  }

  async close(): Promise<void> {
    await this.#alone(connection => originals.run.call(connection, 'pragma disable_checkpoint_on_shutdown'))
    this.#instance?.closeSync()
  }

  async #alone(work: (connection: DuckDBConnection) => Promise<unknown>): Promise<void> {
    if (!this.#instance) return
    const connection = await originals.connect.call(this.#instance)
    await work(connection)
    connection.closeSync()
  }
}
