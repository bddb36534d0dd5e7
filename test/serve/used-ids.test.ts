/** One event id for several records: each of them gets its change signal, and a repetition is only counted. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

const still = { quietMs: 600_000, latestMs: 600_000 }

const about = (record: string, type = 'trade_amended') =>
  signed(eventBody('evt_1', type, { trade: { id: record } }))

describeOnEngines(
  'a second record under a used event id',
  bench => {
    const stored = async (warehouse: Awaited<ReturnType<typeof bench.warehouse>>) => {
      const rows = await warehouse.engine.rows<{ id: string; type: string; record: string; n: number }>(
        `select event_id as id, type, record_id as record, deliveries as n from ops.inbox order by type, record_id`,
      )
      const facts = await warehouse.engine.rows<{ id: string; n: number }>(
        `select event_id as id, delivered_count as n from star.fact_webhook_event order by type, record_id`,
      )
      expect(facts).toEqual(rows.map(({ id, n }) => ({ id, n })))
      return rows.map(({ id, ...row }) => ({ ...row, isFirst: id === 'evt_1' }))
    }

    test('causes its change signal, at the same time, later, after a restart and in another type', async () => {
      const warehouse = await bench.warehouse()
      const first = await served(warehouse, { intervals: still })
      expect(await Promise.all(['a', 'b', 'a'].map(id => post(first.url, about(id))))).toEqual([
        202, 202, 202,
      ])
      await first.stop()
      expect(await stored(warehouse)).toHaveLength(2)
      const second = await served(warehouse, { intervals: still })
      for (const delivery of [about('c'), about('a'), about('b'), about('b'), about('a', 'trade_created')])
        expect(await post(second.url, delivery)).toBe(202)
      await second.stop()
      const rows = await stored(warehouse)
      expect(rows.map(({ type, record, n }) => [type, record, n])).toEqual([
        ['trade_amended', 'a', 3],
        ['trade_amended', 'b', 3],
        ['trade_amended', 'c', 1],
        ['trade_created', 'a', 1],
      ])
      expect(rows.filter(({ isFirst }) => isFirst)).toHaveLength(1)
      expect(
        await warehouse.engine.rows('select record_id as id, signals as n from ops.discovered order by 1'),
      ).toEqual([
        { id: 'a', n: 2 },
        { id: 'b', n: 1 },
        { id: 'c', n: 1 },
      ])
    })

    test('is taken again after the inbox has forgotten it', async () => {
      const warehouse = await bench.warehouse()
      const first = await served(warehouse, { intervals: still })
      expect(await post(first.url, about('a'))).toBe(202)
      await first.stop()
      await warehouse.engine.run('delete from ops.inbox')
      const second = await served(warehouse, { intervals: still })
      expect(await post(second.url, about('a'))).toBe(202)
      await second.stop()
      expect(second.log).toEqual([])
      expect(await warehouse.engine.rows('select record_id as id, signals as n from ops.discovered')).toEqual(
        [{ id: 'a', n: 2 }],
      )
    })
  },
  'all',
)
