/** An upgrade that is killed leaves the old warehouse whole, and the next one does it. */
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { schemaVersion } from '../../src/state/upgrades.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { start } from '../cli/built.ts'
import { temporaryFolder } from '../cli/captured-world.ts'
import { earlierWarehouse, on, structure } from '../fixtures/earlier-warehouse.ts'

const upgrade = (address: string, cwd: string) =>
  start('upgrade', {
    cwd,
    env: {
      MUSTER_BASE_URL: 'http://127.0.0.1:9/api',
      MUSTER_API_KEY: 'nobody-asks',
      MUSTER_WAREHOUSE: address,
    },
  })

const stored = async (engine: Engine) => ({
  structure: await structure(engine),
  rows: await engine.rows('select count(*)::integer as n, max(row_hash) as last from star.fact_timesheet'),
  recorded: await engine.rows('select name, checksum from ops.migration order by 1'),
})

const filesBeside = (address: string): string[] => readdirSync(dirname(address.replace('duckdb:', '')))

/** Milliseconds after the copy has appeared; the last ones are after the rename on a fast machine. */
test('a file is the old one or the new one, at whatever moment', async () => {
  const cwd = temporaryFolder()
  let [old, upgraded] = [0, 0]
  for (const ms of [0, 150, 500, 1_200]) {
    const address = await earlierWarehouse(1, 'duckdb', cwd)
    const before = await on(address, stored)
    const built = upgrade(address, cwd)
    await expect
      .poll(() => filesBeside(address).some(name => name.includes('.rewritten')), {
        timeout: 30_000,
        interval: 2,
      })
      .toBe(true)
    await new Promise(resolve => setTimeout(resolve, ms))
    built.signal('SIGKILL')
    await built.ended
    const after = await on(address, stored)
    const isOld = after.recorded.every(row => !('name' in row && row.name === 'schema'))
    if (isOld) expect(after).toEqual(before)
    else expect(after.rows).toEqual(before.rows)
    if (isOld) old += 1
    else upgraded += 1
    const rest = await upgrade(address, cwd).ended
    expect(rest, rest.err).toMatchObject({ code: 0 })
    expect((await on(address, stored)).recorded).toContainEqual({
      name: 'schema',
      checksum: `${schemaVersion}`,
    })
    expect(filesBeside(address).filter(name => name.includes('.rewritten'))).toEqual([])
  }
  expect(old, `${upgraded} were through`).toBeGreaterThan(1)
})

test('a database is as it was', async () => {
  const cwd = temporaryFolder()
  const address = await earlierWarehouse(1, 'postgres', cwd)
  const before = await on(address, stored)
  const built = upgrade(address, cwd)
  const other = new Client({ connectionString: address })
  await other.connect()
  // The last table that the upgrade changes: all others are changed by then, in its transaction.
  await other.query(
    'begin; lock table ops.discovered in access share mode; lock table ops.schema_drift in share mode',
  )
  const waiting = `select 1 from pg_locks l join pg_database d on d.oid = l.database
    where not l.granted and d.datname = current_database()`
  await expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1)
  built.signal('SIGKILL')
  await built.ended
  await other.query('rollback')
  await other.end()
  expect(await on(address, stored)).toEqual(before)
  const rest = await upgrade(address, cwd).ended
  expect(rest, rest.err).toMatchObject({ code: 0 })
  expect((await on(address, stored)).recorded).toContainEqual({
    name: 'schema',
    checksum: `${schemaVersion}`,
  })
})
