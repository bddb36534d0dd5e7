/** Created days that are read again because somebody asked for it: cut off and gone on with, or begun anew. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { plainRecords } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const between = { from: '2025-01-01', to: '2025-12-31' }
const day = 86_400_000

describeOnEngines('days that are read again', bench => {
  test('are gone on with by the same command, for two days; a later one begins anew', async () => {
    const sandbox = await openSandbox({ records: plainRecords({ timesheets: 900 }), ...roomy })
    const warehouse = await bench.warehouse()
    let offset = 0
    const clock = { now: () => Date.now() + offset, sleep: async () => undefined }
    const read = async (limits = {}, days = between) => {
      const before = sandbox.requests.length
      const request = { resources: ['timesheets'], between: days, limits }
      await syncOnce(sandbox, warehouse, { request, effects: { clock } })
      return sandbox.requests.slice(before).flatMap(({ path, query }) => (path === '/me' ? [] : [query.page]))
    }
    const states = async () =>
      (await warehouse.engine.rows<{ state: string }>('select state from ops.scan order by scan_id')).map(
        ({ state }) => state,
      )
    expect(await read({ maxRequests: 4 })).toEqual(['1', '5', '4'])
    offset = day
    expect(await read()).toEqual(['3', '2', '1'])
    expect(await read({ maxRequests: 3 })).toEqual(['1', '5'])
    offset = 4 * day
    expect(await read({ maxRequests: 3 })).toEqual(['1', '5'])
    expect(await states()).toEqual(['accepted', 'refused', 'scanning'])
    expect(await read({}, { from: '2025-01-06', to: '2025-01-06' })).toEqual(['1', '2', '1'])
    expect(await read()).toEqual(['4', '3', '2', '1'])
    expect(await states()).toEqual(['accepted', 'refused', 'accepted', 'accepted'])
  })
})
