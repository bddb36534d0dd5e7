/** A process that was stopped and wakes up after another has taken over writes nothing, and says so in one line. */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { currentLeases, releaseLease, renewLease, takeLease } from '../../../src/state/runs/leases.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { muster } from '../../support/captured-world.ts'
import { thorough } from '../../support/long-suite.ts'
import { type Dump, tables } from '../../support/warehouse-dump.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { Barrier } from './barrier.ts'
import { type HoldingSandbox, openHoldingSandbox } from './delayed-page.ts'
import { environment, type SyncPlace, startSync } from './sync-process.ts'

const made = useEngines()
const records = plainRecords({ timesheets: 900, invoices: 500 })
let sandbox: HoldingSandbox
let undisturbed: Dump

beforeAll(async () => {
  sandbox = await openHoldingSandbox({ records, rateLimitPerDay: 1_000_000 })
})

const place = (warehouse: Warehouse, machine = 'one'): SyncPlace => ({
  url: sandbox.url,
  warehouse: warehouse.address,
  landing: join(warehouse.landing, machine),
})

const expire = (warehouse: Warehouse): Promise<number> =>
  warehouse.engine.run(`update ops.lease set expires_at = clock_timestamp() - interval '1 second'`)

const status = async (warehouse: Warehouse): Promise<string> =>
  (await muster('status', { env: environment(place(warehouse)), clock: systemClock })).out

/** The ledger of what is read, without the leases and runs themselves. */
async function standing(warehouse: Warehouse): Promise<unknown> {
  const { engine } = warehouse
  return [
    await tables(engine),
    await engine.rows('select * from ops.watermark order by resource'),
    await engine.rows('select * from ops.scan order by scan_id'),
  ]
}

async function whole(): Promise<Dump> {
  if (!undisturbed) {
    const warehouse = await made.postgres()
    await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
    undisturbed = await tables(warehouse.engine)
  }
  return undisturbed
}

test.runIf(thorough)(
  'a process stopped between two pages loses its lease when that is over, and writes nothing any more',
  async () => {
    const expected = await whole()
    const warehouse = await made.postgres()
    const page = sandbox.hold('3')
    const first = startSync(place(warehouse), 'timesheets')
    await page.asked
    first.signal('SIGSTOP')
    const refused = await startSync(place(warehouse, 'two'), 'timesheets').ended
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(
      /^muster: timesheets failed: timesheets is being synced by \S+-\w{4}.*wait.*\n$/,
    )
    expect(await status(warehouse)).toMatch(
      /\ntimesheets is being synced by \S+-\w{4} since 20[-\dT:]+Z; lease until 20[-\dT:]+Z\n/,
    )
    await expire(warehouse)
    expect(await startSync(place(warehouse, 'two'), 'timesheets').ended).toEqual({ code: 0, err: '' })
    const before = await standing(warehouse)
    page.release()
    first.signal('SIGCONT')
    const { code, err } = await first.ended
    expect([code, err]).toEqual([1, expect.stringMatching(/^muster: [^\n]*taken over timesheets[^\n]*\n$/)])
    expect(await standing(warehouse)).toEqual(before)
    expect(await tables(warehouse.engine)).toEqual(expected)
    const runs = await warehouse.engine.rows('select state from ops.run order by started_at')
    expect(runs).toEqual([{ state: 'failed' }, { state: 'failed' }, { state: 'done' }])
  },
  60_000,
)

test.runIf(thorough)(
  'a process stopped in the middle of its transaction does not keep the others waiting',
  async () => {
    const expected = await whole()
    const warehouse = await made.postgres()
    const barrier = await Barrier.put(warehouse.address)
    await barrier.close()
    const first = startSync(place(warehouse), 'timesheets')
    const pid = await barrier.waiting()
    first.signal('SIGSTOP')
    await barrier.open()
    const waits = `select wait_event from pg_stat_activity where pid = ${pid}`
    await expect.poll(() => barrier.rows(waits), { timeout: 10_000 }).toEqual([{ wait_event: 'ClientRead' }])
    await expire(warehouse)
    expect(await startSync(place(warehouse, 'two'), 'timesheets').ended).toEqual({ code: 0, err: '' })
    const before = await standing(warehouse)
    first.signal('SIGCONT')
    const { code, err } = await first.ended
    expect([code, err]).toEqual([1, expect.stringMatching(/^muster: [^\n]*taken over timesheets[^\n]*\n$/)])
    expect(await standing(warehouse)).toEqual(before)
    expect(await tables(warehouse.engine)).toEqual(expected)
    await barrier.remove()
  },
  60_000,
)

test('a killed process is reported as dead, and its resource is free at once', async () => {
  const expected = await whole()
  const warehouse = await made.postgres()
  const page = sandbox.hold('2')
  const first = startSync(place(warehouse), 'timesheets')
  await page.asked
  first.signal('SIGKILL')
  await first.ended
  page.release()
  await expect
    .poll(() => status(warehouse), { timeout: 10_000 })
    .toMatch(/\ntimesheets was left by \S+, which died without finishing/)
  expect(await status(warehouse)).toMatch(/\nrun \S+ died without finishing/)
  // Nothing it landed is here: another machine goes on from what was committed.
  expect(await startSync(place(warehouse, 'two'), 'timesheets').ended).toEqual({ code: 0, err: '' })
  expect(await tables(warehouse.engine)).toEqual(expected)
  expect(await status(warehouse)).not.toMatch(/is gone|being synced/)
  const runs = await warehouse.engine.rows('select state, message from ops.run order by started_at')
  expect(runs).toEqual([
    { state: 'failed', message: 'the process died without finishing' },
    { state: 'done', message: null },
  ])
}, 60_000)

test.runIf(thorough)(
  'two processes sync different resources at the same time',
  async () => {
    const warehouse = await made.postgres()
    const both = ['timesheets', 'invoices'].map(name => startSync(place(warehouse), name).ended)
    expect(await Promise.all(both)).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ])
    const alone = await made.postgres()
    await syncOnce(sandbox, alone, { request: { resources: ['timesheets', 'invoices'] } })
    expect(await tables(warehouse.engine)).toEqual(await tables(alone.engine))
  },
  60_000,
)

test('a run syncs the other resources when one is leased', async () => {
  const warehouse = await made.postgres()
  await warehouse.engine.announce('somebody')
  await takeLease(warehouse.engine, { resource: 'timesheets', holder: 'somebody', ms: 60_000 })
  const request = { resources: ['timesheets', 'invoices'] }
  const { resources, failure } = await syncOnce(sandbox, warehouse, { request })
  expect(Object.fromEntries(resources.map(({ resource, state }) => [resource, state]))).toEqual({
    timesheets: 'failed',
    invoices: 'done',
  })
  expect(failure?.message).toMatch(/timesheets is being synced by somebody/)
  const told = await warehouse.engine.rows('select resource from ops.run_resource')
  expect(told).toEqual([{ resource: 'invoices' }])
})

test.runIf(thorough)('a lease is renewed while its holder waits for a page', async () => {
  const warehouse = await made.postgres()
  const page = sandbox.hold('1')
  const leaseMs = 900
  const request = { resources: ['timesheets'] }
  const running = syncOnce(sandbox, warehouse, { request, effects: { leaseMs } })
  await page.asked
  await wait(2 * leaseMs)
  const held = await warehouse.engine.rows(
    'select resource from ops.lease where expires_at > clock_timestamp()',
  )
  expect(held).toEqual([{ resource: 'timesheets' }])
  page.release()
  expect((await running).failure).toBeUndefined()
  expect(await currentLeases(warehouse.engine)).toEqual([])
})

describe('a lease', () => {
  const resource = 'timesheets'

  test('goes to one of two that ask at the same moment', async () => {
    const warehouse = await made.postgres()
    const address = { url: warehouse.address, shown: 'here' }
    const other = await openPostgres(address, { scratch: `${warehouse.landing}.tmp` })
    const engines = [warehouse.engine, other]
    await Promise.all(engines.map((engine, index) => engine.announce(`holder ${index}`)))
    for (let round = 0; round < 20; round += 1) {
      const asked = engines.map((engine, index) =>
        takeLease(engine, { resource, holder: `holder ${index}`, ms: 60_000 }),
      )
      const taken = (await Promise.allSettled(asked)).flatMap(one =>
        one.status === 'fulfilled' ? [one.value] : [],
      )
      expect(taken).toHaveLength(1)
      await releaseLease(other, taken[0]!)
    }
    await other.close()
  })

  test('is one row a resource, and one statement of a transaction that writes', async () => {
    const { engine } = await made.postgres()
    await engine.announce('one')
    const leases = await Promise.all(
      ['timesheets', 'invoices'].map(name =>
        takeLease(engine, { resource: name, holder: 'one', ms: 60_000 }),
      ),
    )
    const statements: string[] = []
    const counting = {
      ...engine,
      rows: ((sql: string, values?: never) => {
        statements.push(sql)
        return engine.rows(sql, values)
      }) as typeof engine.rows,
    }
    for (const lease of leases) await renewLease(counting, lease)
    expect(statements).toHaveLength(2)
    expect(await engine.rows('select resource from ops.lease order by 1')).toEqual([
      { resource: 'invoices' },
      { resource: 'timesheets' },
    ])
  })

  test('that was taken over stays lost, also after its next holder has released it', async () => {
    const { engine } = await made.postgres()
    const first = await takeLease(engine, { resource, holder: 'first', ms: 60_000 })
    // Nobody announced the first holder, so it counts as gone.
    const second = await takeLease(engine, { resource, holder: 'second', ms: 60_000 })
    expect(second.epoch).toBe(first.epoch + 1)
    const lost = /another process has taken over timesheets/
    await expect(renewLease(engine, first)).rejects.toThrow(lost)
    await releaseLease(engine, first)
    await renewLease(engine, second)
    await releaseLease(engine, second)
    await expect(renewLease(engine, first)).rejects.toThrow(lost)
  })
})
