/** A record that changes without another time of change: what finds it, and what does not. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'
import { openSwept } from './sweeping.ts'

describeOnEngines('a change without another updatedAt', bench => {
  test('is found by a backfill, by no sweep, and by a sync on a page that it reads anyway', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 450 }) })
    const warehouse = await bench.warehouse()
    const only = { request: { resources: ['timesheets'] } }
    await service.sync(warehouse, only)
    const [early, late] = ['t9', 't449'] as const
    for (const id of [early, late])
      service.world.upsert('timesheets', { ...service.world.get('timesheets', id), status: 'cancelled' })
    const found = async () =>
      (
        await warehouse.engine.rows<{ id: string }>(
          `select timesheet_id as id from star.fact_timesheet where status = 'cancelled' order by 1`,
        )
      ).map(({ id }) => id)
    await service.sync(warehouse, only)
    await service.sweep(warehouse, only)
    await service.sync(warehouse, only)
    expect(await found()).toEqual([late])
    const between = { from: '2025-01-01', to: '2025-12-31' }
    await service.sync(warehouse, { request: { ...only.request, command: 'backfill', between } })
    expect(await found()).toEqual([late, early])
  })
})
