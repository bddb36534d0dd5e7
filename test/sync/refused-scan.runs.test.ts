/** A scan of changes that is not proved: what it read is stored, the watermark stays, and the next run reads the rest. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords } from './plain-records.ts'

const count = 450
const request = { resources: ['timesheets'] }

/** A list of timesheets in the sandbox and the warehouse, and what the warehouse has stored of it. */
async function openTimesheets(bench: Bench) {
  const sandbox = await openSandbox({
    records: plainRecords({ timesheets: count }),
    rateLimitPerMinute: 100_000,
    quirks: {},
  })
  const warehouse = await bench.warehouse()
  const rows = (query: string) => warehouse.engine.rows<Record<string, unknown>>(query)
  return {
    sandbox,
    sync: () => syncOnce(sandbox, warehouse, { request }),
    watermark: async () => (await rows('select watermark from ops.watermark'))[0]?.watermark,
    rejected: async () =>
      Number((await rows(`select count(*) as n from star.fact_timesheet where status = 'rejected'`))[0]?.n),
    lastScan: async () =>
      (
        await rows(
          `select state, distinct_ids as seen, expected_ids as expected, attempt from ops.scan
           where kind = 'incremental' order by started_at desc limit 1`,
        )
      )[0],
    rejectAllAfter: (time: string): void => {
      for (let n = 0; n < count; n += 1) {
        const updatedAt = new Date(Date.parse(time) + (n + 1) * 3_600_000).toISOString()
        sandbox.world.upsert('timesheets', { ...plainMakers.timesheets(n), status: 'rejected', updatedAt })
      }
    },
  }
}

describeOnEngines('a scan that is refused', bench => {
  test('keeps its rows and the watermark, reports its shortfall, and is completed by the next run', async () => {
    const { sandbox, sync, watermark, rejected, lastScan, rejectAllAfter } = await openTimesheets(bench)
    expect((await sync()).failure, 'the first sync').toBeUndefined()
    const before = await watermark()
    expect(before, 'the first watermark').toBeTruthy()

    rejectAllAfter(String(before))
    sandbox.setQuirks({ timesheets: { 'cut-pages': 150 } })
    const { failure, resources } = await sync()
    expect(failure?.exitCode ?? 1).toBe(1)
    expect(failure?.message).toMatch(/^timesheets \(saw \d+ of \d+\) incomplete: /)
    expect(resources[0]).toMatchObject({ resource: 'timesheets', state: 'incomplete' })
    const stored = await rejected()
    expect(stored, 'rows of the refused scan').toBeGreaterThan(0)
    expect(stored, 'rows of the refused scan').toBeLessThan(count)
    expect(await watermark(), 'the watermark after the refused scan').toBe(before)
    const scan = await lastScan()
    expect(scan?.state).toBe('refused')
    expect(Number(scan?.seen)).toBeLessThan(Number(scan?.expected))
    expect(Number(scan?.attempt)).toBeLessThanOrEqual(14)

    sandbox.setQuirks()
    expect((await sync()).failure, 'the next sync').toBeUndefined()
    expect(await rejected(), 'rows after the next sync').toBe(count)
    expect(await watermark(), 'the watermark after the next sync').not.toBe(before)
  })
})
