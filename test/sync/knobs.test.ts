/** Whatever reading of the contract the service has, the same records arrive. */
import { expect, test } from 'vitest'
import type { Knobs } from '../../src/sandbox/knobs.ts'
import type { Records } from '../../src/sandbox/world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, type Dump, describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { current } from './faulty-sync.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }

/** One timesheet and one expense an hour for five days: some stand at every midnight there is. */
const hourly: Records = plainRecords({ timesheets: 120, expenses: 120 }, { minutesApart: 60 })
const request = { resources: ['key', 'timesheets', 'expenses'] }

/** A first sync, then changes at every hour of two days, each seen by a sync of its own day, then the last one. */
async function followed(bench: Bench, knobs: Partial<Knobs>): Promise<Dump> {
  const sandbox = await openSandbox({ records: hourly, ...roomy, knobs })
  const warehouse = await bench.warehouse()
  await syncOnce(sandbox, warehouse, { request })
  for (let hour = 120; hour < 168; hour += 1) {
    const updatedAt = timeOf(hour, { minutesApart: 60 })
    for (const name of ['timesheets', 'expenses'] as const)
      sandbox.world.upsert(name, { ...plainMakers[name](hour - 100), status: 'approved', updatedAt })
    if (hour % 16 === 0) await syncOnce(sandbox, warehouse, { request })
  }
  const last = await syncOnce(sandbox, warehouse, { request })
  expect(last.failure).toBeUndefined()
  const dump = await current(warehouse)
  await Promise.all([warehouse.close(), sandbox.close()])
  return dump
}

const readings: Partial<Knobs>[] = [
  { from: 'exclusive', to: 'exclusive', 'day-zone': '-12:00' },
  { from: 'exclusive', to: 'midnight', 'day-zone': '+14:00' },
  { to: 'exclusive', 'day-zone': 'Pacific/Auckland', 'rate-window': 'sliding' },
]

describeOnEngines('a sync loses nothing', bench => {
  test.each(readings)('when days are walked again, with %j', async knobs => {
    const sandbox = await openSandbox({ records: hourly, ...roomy, knobs })
    const warehouse = await bench.warehouse()
    const between = { from: '2026-01-06', to: '2026-01-08' }
    const outcome = await syncOnce(sandbox, warehouse, { request: { ...request, between } })
    expect(outcome.failure).toBeUndefined()
    const rows = await warehouse.engine.rows<{ n: number }>(
      `select count(*)::integer as n from star.fact_timesheet where created_at >= '2026-01-06' and created_at < '2026-01-09'`,
    )
    expect(rows).toEqual([{ n: 72 }])
  })

  test('whatever the day filters mean', async () => {
    const plain = await followed(bench, {})
    for (const knobs of readings)
      expect({ knobs, dump: await followed(bench, knobs) }).toEqual({ knobs, dump: plain })
  })
})
