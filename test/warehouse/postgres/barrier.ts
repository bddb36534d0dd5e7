/** A barrier in a table: while it is closed, an insert into it waits in the middle of its transaction. */
import pg from 'pg'
import { expect } from 'vitest'

const key = 7_700_001

export class Barrier {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /** Open at first; `table` with its schema. */
  static async put(url: string, table = 'star.fact_timesheet'): Promise<Barrier> {
    const client = new pg.Client({ connectionString: url })
    // A test that fails leaves it open until its database is dropped, which ends it: that is no failure of its own.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(`create function public.wait_at_barrier() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(${key}); return null; end'`)
    await client.query(`create trigger barrier before insert on ${table}
      for each statement execute function public.wait_at_barrier()`)
    return new Barrier(client)
  }

  async close(): Promise<void> {
    await this.#client.query(`select pg_advisory_lock(${key})`)
  }

  async open(): Promise<void> {
    await this.#client.query(`select pg_advisory_unlock(${key})`)
  }

  /** The backend of whoever waits here, once somebody does. */
  async waiting(): Promise<number> {
    const find = async (): Promise<number | undefined> =>
      (
        await this.rows<{ pid: number }>(
          `select pid from pg_locks where locktype = 'advisory' and objid = ${key} and not granted
           and database = (select oid from pg_database where datname = current_database())`,
        )
      )[0]?.pid
    await expect.poll(find, { timeout: 15_000 }).toBeDefined()
    return (await find()) ?? 0
  }

  /** A statement of somebody else. */
  async rows<Row extends object>(sql: string): Promise<Row[]> {
    return (await this.#client.query(sql)).rows as Row[]
  }

  async remove(): Promise<void> {
    await this.#client.end()
  }
}
