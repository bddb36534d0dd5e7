/** A scan of changes that is not proved: what it read is stored, the watermark stays, and the next run reads the rest. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { plainMakers, plainRecords } from './plain-records.ts'

const count = 450
const request = { resources: ['timesheets'] }

describeOnEngines('a scan that is refused', bench => {
  test('keeps the rows that it read and the watermark, says what it lacks, and is made good by the next run', async () => {
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: count }),
      rateLimitPerMinute: 100_000,
    })
    const warehouse = await bench.warehouse()
    const rows = async (query: string) => warehouse.engine.rows<Record<string, unknown>>(query)
    const watermark = async () => (await rows('select watermark from ops.watermark'))[0]?.watermark
    const changed = async () =>
      Number((await rows(`select count(*) as n from star.fact_timesheet where status = 'rejected'`))[0]?.n)
    expect((await syncOnce(sandbox, warehouse, { request })).failure).toBeUndefined()
    const before = await watermark()
    expect(before).toBeTruthy()
    for (let n = 0; n < count; n += 1) {
      const updatedAt = new Date(Date.parse(String(before)) + (n + 1) * 3_600_000).toISOString()
      sandbox.world.upsert('timesheets', { ...plainMakers.timesheets(n), status: 'rejected', updatedAt })
    }
    sandbox.setQuirks({ timesheets: { 'cut-pages': 150 } })
    const { failure, resources } = await syncOnce(sandbox, warehouse, { request })
    expect(failure?.exitCode ?? 1).toBe(1)
    expect(failure?.message).toMatch(/^timesheets \(saw \d+ of \d+\) incomplete: /)
    expect(resources[0]).toMatchObject({ resource: 'timesheets', state: 'incomplete' })
    const read = await changed()
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(count)
    expect(await watermark()).toBe(before)
    const [scan] = await rows(
      `select state, distinct_ids as seen, expected_ids as expected, attempt from ops.scan
       where kind = 'incremental' order by started_at desc limit 1`,
    )
    expect(scan?.state).toBe('refused')
    expect(Number(scan?.seen)).toBeLessThan(Number(scan?.expected))
    expect(Number(scan?.attempt)).toBeLessThanOrEqual(14)
    sandbox.setQuirks()
    expect((await syncOnce(sandbox, warehouse, { request })).failure).toBeUndefined()
    expect(await changed()).toBe(count)
    expect(await watermark()).not.toBe(before)
  })
})
