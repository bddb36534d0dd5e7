/** Sessions beside those of the product: of the owner, or of a user who may connect and nothing else. */
import pg from 'pg'
import { onServer } from '../../support/postgres-database.ts'
import type { Warehouse } from '../../support/warehouse-fixture.ts'

const guest = `guest_${process.pid}`
let isMade = false

/** Keeps the session until `end`. */
export async function session(warehouse: Warehouse, user?: string): Promise<pg.Client> {
  const url = new URL(warehouse.address)
  if (user !== undefined) Object.assign(url, { username: user, password: 'for this test' })
  const client = new pg.Client({ connectionString: url.href, application_name: 'a client' })
  await client.connect()
  return client
}

/** The role stays as long as the server of the tests. */
export async function guestSession(warehouse: Warehouse): Promise<pg.Client> {
  if (!isMade) {
    await onServer(`drop role if exists ${guest}`)
    await onServer(`create role ${guest} login password 'for this test'`)
  }
  isMade = true
  return session(warehouse, guest)
}
