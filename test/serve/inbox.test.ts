/** From a signed delivery to its rows in the warehouse, on both engines. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

describeOnEngines(
  'an event that was answered 202',
  bench => {
    test('is a row when the process has stopped, once, with its deliveries', async () => {
      const warehouse = await bench.warehouse()
      const running = await served(warehouse, { intervals: { quietMs: 60_000, latestMs: 60_000 } })
      const once = signed(eventBody('evt_1', 'trade_amended', { trade: { id: 'tr1' } }))
      expect(await post(running.url, once)).toBe(202)
      expect(await post(running.url, once)).toBe(202)
      await wait(200)
      expect(
        await post(running.url, signed(eventBody('evt_1', 'trade_amended', { trade: { id: 'tr1' } }))),
      ).toBe(202)
      expect(
        await post(running.url, signed(eventBody('evt_2', 'trade_exploded', { trade: { id: 'tr1' } }))),
      ).toBe(202)
      expect(
        await post(running.url, signed(eventBody('evt_3', 'trade_amended', { trade: { id: '../me' } }))),
      ).toBe(202)
      expect(await post(running.url, signed(eventBody('evt_4', 'test')))).toBe(202)
      expect(await post(running.url, signed(eventBody('evt_5', 'timesheet_deleted')))).toBe(202)
      expect(await post(running.url, signed(eventBody('evt_6', 'jane.doe-07700', {})))).toBe(202)
      await running.stop()
      // Published as well: what is no word of a service is in ops.inbox only.
      for (const [table, type] of [
        ['star.fact_webhook_event', '(other)'],
        ['ops.inbox', 'jane.doe-07700'],
      ])
        expect(await warehouse.engine.rows(`select type from ${table} where event_id = 'evt_6'`)).toEqual([
          { type },
        ])
      expect(
        await warehouse.engine.rows(
          `select event_id, entity, record_id, delivered_count as n, state, fetch_result as result
         from star.fact_webhook_event where event_id <> 'evt_6' order by event_id`,
        ),
      ).toEqual([
        { event_id: 'evt_1', entity: 'trade', record_id: 'tr1', n: 3, state: 'signalled', result: null },
        { event_id: 'evt_2', entity: null, record_id: null, n: 1, state: 'unknown', result: null },
        { event_id: 'evt_3', entity: 'trade', record_id: null, n: 1, state: 'unreadable', result: null },
        { event_id: 'evt_4', entity: null, record_id: null, n: 1, state: 'test', result: null },
        {
          event_id: 'evt_5',
          entity: 'timesheet',
          record_id: 't1',
          n: 1,
          state: 'done',
          result: 'evidence of a deletion',
        },
      ])
      expect(
        await warehouse.engine.rows('select resource, record_id, source, signals from ops.discovered'),
      ).toEqual([{ resource: 'trades', record_id: 'tr1', source: 'event trade_amended', signals: 1 }])
      expect(
        await warehouse.engine.rows('select resource, record_id, kind, source from ops.evidence'),
      ).toEqual([{ resource: 'timesheets', record_id: 't1', kind: 'event', source: 'evt_5' }])
      expect(running.log).toEqual([])
    })

    test('stays in the inbox for inboxDays, which serve keeps to', async () => {
      const warehouse = await bench.warehouse()
      const { engine } = warehouse
      for (const days of [3, 5])
        await engine.run(
          `insert into ops.inbox (event_id, type, received_at, deliveries, state, drained_at, settled_at)
           values ('of ' || $1, 'x', $2, 1, 'done', $2, $2)`,
          [String(days), new Date(Date.now() - days * 86_400_000).toISOString()],
        )
      const running = await served(warehouse, { inboxDays: 4 })
      const ids = () => engine.rows('select event_id as id from ops.inbox')
      await expect.poll(ids, { timeout: 10_000 }).toEqual([{ id: 'of 3' }])
      await running.stop()
    })
  },
  'all',
)
