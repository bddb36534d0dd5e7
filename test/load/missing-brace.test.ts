/** A record whose closing brace is missing takes what follows it along: the total shows it, and nothing counts as whole. */
import { expect, test } from 'vitest'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const at = '2026-03-01T08:00:00.000Z'
const sheet = (id: string): string => JSON.stringify({ id, createdAt: at, updatedAt: at })

describeOnEngines('a page in which a brace is missing', bench => {
  test('shows one record instead of those behind it, and leaves the list incomplete', async () => {
    const warehouse = await bench.warehouse()
    const torn = `{"id":"t1","worker":{"id":"w1","createdAt":"${at}","updatedAt":"${at}"}`
    const before = Array.from({ length: 30 }, (_, index) => sheet(`a${index}`))
    const behind = Array.from({ length: 5 }, (_, index) => sheet(`z${index}`))
    const list = await oneList('/timesheets', [...before, torn, ...behind])
    const request = { resources: ['timesheets'] }
    const { failure } = await syncOnce(list, warehouse, { request })
    expect(failure?.message).toMatch(/^timesheets .*incomplete/)
    const rows = (query: string) => warehouse.engine.rows(query)
    const stored = async () =>
      (await rows('select count(*)::integer as n from star.fact_timesheet')) as { n: number }[]
    expect(await stored()).toEqual([{ n: 30 }])
    list.records = [...before, sheet('t1'), ...behind]
    expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
    expect(await stored()).toEqual([{ n: 36 }])
  })
})
