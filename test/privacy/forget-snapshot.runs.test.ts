/** A session that still sees what `forget` has overwritten keeps it in the files of the server: then nothing is said to be gone. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { useEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { guestSession } from '../warehouse/postgres/guest-session.ts'
import { filesWith } from './server-files.ts'

const made = useEngines()

const inFiles = async (warehouse: Warehouse, name: string): Promise<string[]> => {
  await warehouse.open()
  return filesWith(warehouse.engine, [name]).finally(() => warehouse.close())
}

test('a guest with an old snapshot is named, and forget is run again once it is gone', async () => {
  const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
  const warehouse = await made.postgres()
  const { command } = await commandsOn(warehouse, sandbox)
  expect((await command('sync --quiet')).code).toBe(0)
  await warehouse.open()
  const [person] = await warehouse.engine.rows<{ id: string; name: string }>(
    `select worker_id as id, name from pii.worker w
     where (select count(*) from pii.worker o where o.name = w.name) = 1 order by 1 limit 1`,
  )
  await warehouse.close()
  const { id = '', name = '' } = person ?? {}
  const guest = await guestSession(warehouse)
  await guest.query('begin isolation level repeatable read')
  await guest.query('select 1')
  const held = await command(`forget worker ${id} --yes`)
  expect(held).toMatchObject({
    code: 75,
    err: expect.stringMatching(
      /^muster: a session can still see the old versions of rows: process \d+ of user guest_\d+, a client/m,
    ),
  })
  expect(await inFiles(warehouse, name)).not.toEqual([])
  await guest.end()
  expect((await command(`forget worker ${id} --yes`)).code).toBe(0)
  expect(await inFiles(warehouse, name)).toEqual([])
})
