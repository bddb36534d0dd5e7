/** Keeps a DuckDB warehouse open while one simulated process after the other uses it. */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { originals } from './ports.ts'

/** Detaches a stage. Its files are already deleted, so DuckDB cannot write it and throws after detaching. */
async function detach(connection: DuckDBConnection, name: string): Promise<void> {
  try {
    await originals.run.call(connection, `detach ${name}`)
  } catch (error) {
    if (!String(error).includes(`Detached database '${name}'`)) throw error
  }
}

export class OpenWarehouse {
  #instance: DuckDBInstance | undefined
  /** Whether an earlier process attached the warehouse. */
  #isAttached = false

  #isExpected = false

  /** The next instance that a process opens is the warehouse. */
  expect(): void {
    this.#isExpected = true
  }

  isNext(): boolean {
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
   * Rewrites a statement that attaches or detaches the warehouse. The first attach disables the log; later ones do nothing,
   * and neither does a detach, because the warehouse stays attached.
   */
  rewriteAttach(sql: string): string {
    if (sql === 'detach warehouse') return 'select 1'
    if (!/^attach .* as warehouse /.test(sql)) return sql
    if (this.#isAttached) return 'select 1'
    this.#isAttached = true
    return sql.replace(/\)$/, ", recovery_mode 'no_wal_writes')")
  }

  /** Detaches the stages that a killed process left behind, and keeps the warehouse. */
  async detachStages(): Promise<void> {
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
