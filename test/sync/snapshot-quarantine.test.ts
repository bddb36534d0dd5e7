/** Rows of a snapshot that could not be loaded: open as long as a reading shows them. */
import { expect, test } from 'vitest'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

describeOnEngines('quarantine of a snapshot', bench => {
  test('is closed when every scope has been read again without it, though it has no id', async () => {
    const warehouse = await bench.warehouse()
    const good = { reqRef: 'R-1', reqCreated: '01/03/2026', timeToOfferDays: 3 }
    const bad = { ...good, reqRef: 'R-2', timeToOfferDays: 'soon' }
    const list = await oneList('/requisitions/recruitment-metrics', [good, bad])
    let day = 0
    const clock = { now: () => Date.UTC(2026, 2, 2 + day), sleep: async () => undefined }
    const open = async () => {
      await syncOnce(list, warehouse, { request: { resources: ['metric-rows'] }, effects: { clock } })
      const rows = await warehouse.engine.rows<{ id: string | null }>(
        'select record_id as id from ops.quarantine where resolved_at is null',
      )
      return rows.map(({ id }) => id)
    }
    expect(await open()).toEqual([null])
    list.records = [JSON.stringify(good)]
    day = 2
    // The older part is read weekly: until then it may still have it.
    expect(await open()).toEqual([null])
    day = 8
    expect(await open()).toEqual([])
  })
})
