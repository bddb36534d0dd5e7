/** Who may merely connect keeps no merge waiting and no dead process alive; a merge that does not end is named; erasing waits. */
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { blockErasures } from '../../../src/state/privacy.ts'
import { takeLease } from '../../../src/state/runs/leases.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { muster, temporaryFolder } from '../../support/captured-world.ts'
import { thorough } from '../../support/long-suite.ts'
import { oneList } from '../../support/one-list.ts'
import { onServer } from '../../support/postgres-database.ts'
import { syncOnce, useEngines } from '../../support/warehouse-fixture.ts'
import { guestSession, session } from './guest-session.ts'

const made = useEngines()
test('a guest takes every advisory lock that ever meant something, and merges go on', async () => {
  const warehouse = await made.postgres()
  const client = await guestSession(warehouse)
  for (const prefix of ['', 'acme_'])
    await client.query(`select pg_advisory_lock(hashtextextended('muster merge ${prefix}', 0))`)
  const lock = client.query('begin; lock table ops.migration in exclusive mode')
  await expect(lock).rejects.toThrow('permission denied')
  await client.query('rollback')
  const merged = warehouse.engine.merge(async engine => engine.run('delete from ops.watermark'))
  await expect(merged).resolves.toBe(0)
  await client.end()
})

test('a lock of a guest does not make a dead holder look alive, nor keep a live one from showing that it is', async () => {
  const { engine, ...warehouse } = await made.postgres()
  const client = await guestSession({ ...warehouse, engine })
  await client.query(`select pg_advisory_lock(hashtextextended('muster holder somebody', 0))`)
  expect(await engine.isPresent('somebody')).toBe(false)
  await engine.announce('somebody')
  await takeLease(engine, { resource: 'timesheets', holder: 'nobody', ms: 60_000 })
  await client.query(`select pg_advisory_lock_shared(hashtextextended('muster holder nobody', 0))`)
  const lease = await takeLease(engine, { resource: 'timesheets', holder: 'another', ms: 60_000 })
  expect(lease.epoch).toBe(2)
  await client.end()
})

test('a merge that waits too long for another one names the holder of the lock and asks to run it later', async () => {
  const warehouse = await made.postgres()
  const client = await session(warehouse)
  await client.query('begin; lock table ops.migration in exclusive mode')
  const address = { url: warehouse.address, shown: 'postgres://shown' }
  const impatient = await openPostgres(address, { scratch: `${warehouse.landing}.tmp`, patience: 1 })
  const [{ pid, user }] = (await client.query('select pg_backend_pid() as pid, current_user::text as user'))
    .rows
  const failure = await impatient.merge(async () => undefined).catch(error => error)
  expect(failure.exitCode).toBe(75)
  expect(failure.message).toMatch(
    new RegExp(
      `^another session has been merging into this warehouse for more than 1 s: process ${pid} of user ${user}, a client, since 20[-\\dT:.]+Z \\(postgres://shown\\): run again when it is done, or end it with select pg_terminate_backend\\(${pid}\\); what was committed is kept$`,
    ),
  )
  await client.query('rollback')
  await expect(impatient.merge(async () => 'merged')).resolves.toBe('merged')
  await impatient.close()
  await client.end()
})

test('a sync that meets the lock of merges, or leases of another process, is to be run later', async () => {
  const warehouse = await made.postgres()
  const list = await oneList('/timesheets', [
    { id: 't1', createdAt: '2026-03-01T09:00:00.000Z', updatedAt: '2026-03-01T09:00:00.000Z' },
  ])
  const client = await session(warehouse)
  const address = { url: warehouse.address, shown: 'postgres://shown' }
  const impatient = await openPostgres(address, { scratch: `${warehouse.landing}.tmp`, patience: 1 })
  const request = { resources: ['timesheets'] }
  await client.query('begin; lock table ops.migration in exclusive mode')
  const { failure } = await syncOnce(list, { ...warehouse, engine: impatient }, { request })
  expect(failure).toMatchObject({ exitCode: 75 })
  expect(failure?.message).toContain('timesheets failed: another session has been merging')
  await client.query('rollback')
  await client.end()
  await impatient.announce('another')
  await takeLease(warehouse.engine, { resource: 'timesheets', holder: 'another', ms: 60_000 })
  const second = await syncOnce(list, warehouse, { request })
  expect(second.failure).toMatchObject({ exitCode: 75 })
  expect(second.failure?.message).toContain('timesheets is being synced by another')
  await impatient.close()
})

test.runIf(thorough)('two processes that make the tables of one database at the same moment', async () => {
  const warehouse = await made.postgres()
  await onServer(
    'drop schema star cascade; drop schema mart cascade; drop schema history cascade; drop schema pii cascade; drop schema ops cascade',
    new URL(warehouse.address).pathname.slice(1),
  )
  const env = {
    MUSTER_BASE_URL: 'http://127.0.0.1:1',
    MUSTER_API_KEY: 'sandbox-company-key',
    MUSTER_WAREHOUSE: warehouse.address,
  }
  const both = ['one', 'two'].map(machine =>
    muster('check', { clock: systemClock, cwd: temporaryFolder(), env: { ...env, MUSTER_LANDING: machine } }),
  )
  const ended = await Promise.all(both)
  expect(ended.map(({ code, err }) => ({ code, err }))).toEqual([
    { code: 0, err: '' },
    { code: 0, err: '' },
  ])
})

test('nobody is erased while a transaction copies personal data', async () => {
  const warehouse = await made.postgres()
  const client = await session(warehouse)
  await warehouse.engine.transaction(async engine => {
    await blockErasures(engine)
    await client.query('begin')
    const lock = client.query('lock table ops.forgotten in access exclusive mode nowait')
    await expect(lock).rejects.toThrow('could not obtain lock')
    await client.query('rollback')
  })
  await client.end()
})
