/** Inferred members: the newest record that names one decides, in whatever order records are read. */
import { expect, test } from 'vitest'
import { thorough } from '../support/long-suite.ts'
import { oneList } from '../support/one-list.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T09:00:00.000Z`

describeOnEngines('references', bench => {
  test('the attributes of an inferred member do not depend on the order of reading', async () => {
    const named = (id: string, name: string | null, at: string) => ({
      id,
      createdAt: day(1),
      worker: { id: 'w1', name },
      updatedAt: at,
    })
    const records = [
      named('t1', 'First', day(1)),
      named('t2', 'Second', day(2)),
      named('t3', null, day(3)),
      named('t4', 'Tied', day(2)),
    ]
    const dumps: unknown[] = []
    for (const order of [[0, 1, 2, 3], [3, 2, 1, 0], ...(thorough ? [[2, 0, 3, 1]] : [])]) {
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets')
      for (const index of order) {
        list.records = [JSON.stringify(records[index])]
        await syncOnce(list, warehouse, { request: { resources: ['timesheets'] } })
      }
      const dump = await tables(warehouse.engine, ['star.dim_worker', 'pii.worker'])
      dumps.push(dump)
      expect(JSON.stringify(dump)).toContain('Tied')
    }
    for (const dump of dumps) expect(dump).toEqual(dumps[0])
  })
})
