/** A service that changes while it is read: after it rests, one more sync makes the warehouse equal to it. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { proveSeed } from './live-seed.ts'

describeOnEngines('a live service', bench => {
  test('seed 1', async () => {
    expect(await proveSeed(bench, 1)).toBeGreaterThan(5)
  })

  test.runIf(thorough)('as people change it, with believable records', async () => {
    const rng = seededRng(4)
    const gone = new Set<string>()
    let isLive = true
    const sandbox = await openSandbox({
      scale: 0.1,
      rateLimitPerDay: 1_000_000,
      onRequest: () => {
        if (!isLive) return
        const nowMs = Date.UTC(2026, 10, 2, 8)
        for (const { kind, id } of mutateWorld(sandbox.world, { rng, nowMs, count: 25, deletions: true }))
          if (kind === 'removed') gone.add(id)
      },
    })
    const warehouse = await bench.warehouse()
    const request = { resources: ['key', 'timesheets', 'expenses'] }
    await syncOnce(sandbox, warehouse, { request })
    await syncOnce(sandbox, warehouse, { request })
    isLive = false
    await syncOnce(sandbox, warehouse, { request })
    for (const name of ['timesheet', 'expense']) {
      const rows = await warehouse.engine.rows<{ id: string; status: string; at: string }>(
        `select ${name}_id as id, status, updated_at as at from star.fact_${name}`,
      )
      const held = rows.filter(({ id }) => !gone.has(id)).map(row => Object.values(row).join(' '))
      const source = sandbox.world
        .all(name === 'timesheet' ? 'timesheets' : 'expenses')
        .map(record => `${record.id} ${record.status} ${record.updatedAt}`)
      expect(held.sort()).toEqual(source.sort())
    }
  })
})
