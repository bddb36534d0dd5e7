/** A service whose day filters mean something else, followed through changes at every hour of the day. */
import { expect } from 'vitest'
import type { ContractOptions } from '../../src/sandbox/options.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import type { Dump } from '../support/warehouse-dump.ts'
import { type Bench, syncOnce } from '../support/warehouse-fixture.ts'
import { current } from './faulty-sync.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'

export const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }

/** One timesheet and one expense an hour for five days: some stand at every midnight there is. */
export const hourly: WorldRecords = plainRecords({ timesheets: 120, expenses: 120 }, { minutesApart: 60 })
export const request = { resources: ['key', 'timesheets', 'expenses'] }

/** A first sync, then changes at every hour of two days, each seen by a sync of its own day, then the last one. */
export async function followed(bench: Bench, options: Partial<ContractOptions>): Promise<Dump> {
  const sandbox = await openSandbox({ records: hourly, ...roomy, options })
  const warehouse = await bench.warehouse()
  await syncOnce(sandbox, warehouse, { request })
  for (let hour = 120; hour < 168; hour += 1) {
    const updatedAt = timeOf(hour, { minutesApart: 60 })
    for (const name of ['timesheets', 'expenses'] as const)
      sandbox.world.upsert(name, { ...plainMakers[name](hour - 100), status: 'approved', updatedAt })
    if (hour === 144) await syncOnce(sandbox, warehouse, { request })
  }
  const last = await syncOnce(sandbox, warehouse, { request })
  expect(last.failure).toBeUndefined()
  const dump = await current(warehouse)
  await Promise.all([warehouse.close(), sandbox.close()])
  return dump
}
