/** Created days that are read again on request: interrupted and resumed, or started again. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const between = { from: '2025-01-01', to: '2025-12-31' }
const day = 86_400_000

/** Syncs that read the days again, and the pages that each asks for; `wait` lets days pass. */
async function openDaysReadAgain(bench: Bench) {
  const sandbox = await openSandbox({ records: plainRecords({ timesheets: 900 }), ...roomy })
  const warehouse = await bench.warehouse()
  let offset = 0
  const clock = { now: () => Date.now() + offset, sleep: async () => undefined }
  return {
    wait: (days: number): void => {
      offset += days * day
    },
    read: async (limits = {}, days = between) => {
      const before = sandbox.requests.length
      const request = { resources: ['timesheets'], between: days, limits }
      await syncOnce(sandbox, warehouse, { request, effects: { clock } })
      return sandbox.requests.slice(before).flatMap(({ path, query }) => (path === '/me' ? [] : [query.page]))
    },
    states: async () =>
      (await warehouse.engine.rows<{ state: string }>('select state from ops.scan order by scan_id')).map(
        ({ state }) => state,
      ),
  }
}

describeOnEngines('days that are read again', bench => {
  test('are resumed by the same command for two days; a later one starts again', async () => {
    const { read, states, wait } = await openDaysReadAgain(bench)

    expect(await read({ maxRequests: 4 }), 'the first run is interrupted').toEqual(['1', '5', '4'])
    wait(1)
    expect(await read(), 'a day later it is resumed').toEqual(['3', '2', '1'])
    expect(await read({ maxRequests: 3 }), 'once accepted it starts again').toEqual(['1', '5'])
    wait(3)
    expect(await read({ maxRequests: 3 }), 'after three days it starts again').toEqual(['1', '5'])
    expect(await states(), 'the scan of three days ago is given up').toEqual([
      'accepted',
      'refused',
      'scanning',
    ])
    const oneDay = { from: '2025-01-06', to: '2025-01-06' }
    expect(await read({}, oneDay), 'another day is read by itself').toEqual(['1', '2', '1'])
    expect(await read(), 'the open scan is resumed').toEqual(['4', '3', '2', '1'])
    expect(await states(), 'after the last run').toEqual(['accepted', 'refused', 'accepted', 'accepted'])
  })
})
