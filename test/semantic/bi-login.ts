/** The login that `muster roles` makes for BI tools, on the server of the tests. */
import pg from 'pg'
import { expect } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { onServer } from '../support/postgres-database.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'
import { placeOfServer } from './places.ts'

const roles = ['owner', 'loader', 'reader', 'bi', 'privacy']
const password = 'for this test'

export interface BiLogin {
  readonly place: ReturnType<typeof placeOfServer>
  /** Rows of one statement, as this login sees them. */
  rows<Row extends object>(sql: string): Promise<Row[]>
  remove(): Promise<void>
}

/** Call it when the marts are built: what it may read is granted on what there is. */
export async function biLogin(warehouse: Warehouse, prefix = `bi${process.pid}_`): Promise<BiLogin> {
  const done = await muster(`roles --prefix ${prefix}`, {
    clock: systemClock,
    cwd: temporaryFolder(),
    env: {
      MUSTER_BASE_URL: 'http://localhost:1',
      MUSTER_API_KEY: 'unused',
      MUSTER_WAREHOUSE: warehouse.address,
    },
  })
  expect(done).toMatchObject({ code: 0 })
  await onServer(`alter role ${prefix}bi password '${password}'`)
  const url = new URL(warehouse.address)
  url.username = `${prefix}bi`
  url.password = password
  return {
    place: placeOfServer({ address: url.href }),
    async rows<Row extends object>(sql: string) {
      const client = new pg.Client({ connectionString: url.href })
      await client.connect()
      try {
        return (await client.query(sql)).rows as Row[]
      } finally {
        await client.end()
      }
    },
    async remove() {
      for (const role of roles) {
        await onServer(`drop owned by ${prefix}${role}`, url.pathname.slice(1))
        await onServer(`drop role if exists ${prefix}${role}`)
      }
    },
  }
}
