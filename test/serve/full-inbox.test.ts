/** An inbox that is full: events are refused, counted and reported, and none that was acknowledged is lost. */
import { expect, test } from 'vitest'
import { inboxFindings } from '../../src/app/checkup/warehouse.ts'
import { eventLine } from '../../src/cli/reports/status-lines.ts'
import { readEventFigures, storedEvents } from '../../src/state/inbox/figures.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

const still = { quietMs: 600_000, latestMs: 600_000 }
const bounds = { events: 1000, bytes: 200_000 }

/** 60 kB of a type that this program does not know. */
const large = (id: string) => signed(eventBody(id, 'worker_vanished', { note: 'x'.repeat(60_000) }))

describeOnEngines(
  'events of unknown types',
  bench => {
    test('are stored in part and up to half of the room; then senders get 503, and events about records 202', async () => {
      const warehouse = await bench.warehouse()
      const running = await served(warehouse, { intervals: still, inboxBounds: bounds })
      const statuses: number[] = []
      for (let index = 0; index < 60; index += 1)
        statuses.push(await post(running.url, large(`evt_${index}`)))
      // 100,000 bytes for bodies of 2,048 and rows of 300.
      expect(statuses.filter(status => status === 202)).toHaveLength(42)
      expect(statuses.slice(42)).toEqual(Array.from({ length: 18 }, () => 503))
      const health = async () => {
        const answer = await fetch(running.health)
        return { status: answer.status, body: (await answer.json()) as { events: object; inbox: object } }
      }
      await expect.poll(health).toMatchObject({
        status: 503,
        body: {
          status: 'events cannot be stored',
          events: { refused: { full: 18 } },
          inbox: { stored: { events: 42, bytes: 98_616 }, max: bounds },
        },
      })
      expect(await post(running.url, large('evt_0'))).toBe(202)
      expect(await post(running.url, signed(eventBody('evt_real')))).toBe(202)
      await running.stop()
      expect(await storedEvents(warehouse.engine)).toEqual({ events: 43, bytes: 98_916 })

      // The next process knows what is stored before it takes more.
      const next = await served(warehouse, { intervals: still, inboxBounds: bounds })
      expect(await post(next.url, large('evt_late'))).toBe(503)
      await next.stop()

      const figures = await readEventFigures(warehouse.engine, '2026-01-01T00:00:00Z')
      if (!figures) throw new Error('there are figures of events')
      const line = eventLine(figures, Date.now(), bounds)
      expect(line).toContain('the inbox has 43 of 1,000 events, in 1 of 1 MB')
      expect(line).toContain('19 deliveries refused (full 19)')
      const findings = await inboxFindings(warehouse.engine, { bounds, logged: 0 })
      expect(findings.map(({ state, found }) => [state, found])).toEqual([
        ['warn', 'the inbox has 43 of 1,000 events, in 1 of 1 MB; muster serve refuses what does not fit'],
      ])
      expect(
        await inboxFindings(warehouse.engine, { bounds: { events: 1000, bytes: 1e9 }, logged: 0 }),
      ).toEqual([])
    })
  },
  'all',
)
