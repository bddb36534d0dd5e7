/** What is told of webhooks: each event once, refusals added up over days, and nothing where nothing came. */
import { expect, test } from 'vitest'
import { countedSince, eventLine } from '../../src/cli/reports/status-lines.ts'
import { drainInbox } from '../../src/events/drain.ts'
import { addRefusals } from '../../src/state/inbox/arrivals.ts'
import { readEventFigures } from '../../src/state/inbox/figures.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')

describeOnEngines('the figures of webhooks', bench => {
  test('count what came in thirty days, and what waits however old it is', async () => {
    const { engine } = await bench.warehouse()
    const line = async () => {
      const figures = await readEventFigures(engine, countedSince(NOW))
      return figures && eventLine(figures, NOW, { events: 1000, bytes: 1e9 })
    }
    expect(await line()).toBeUndefined()
    await engine.run(
      `insert into ops.inbox (event_id, type, entity, record_id, received_at, deliveries, state) values
       ('old', 'rate_amended', 'rate', 'r1', '2026-10-01T10:00:00Z', 1, 'new'),
       ('one', 'worker_vanished', null, null, '2026-11-20T10:00:00Z', 2, 'unknown'),
       ('two', 'worker_found', null, null, '2026-11-21T08:00:00Z', 1, 'unknown'),
       ('three', 'worker_vanished', null, null, '2026-11-21T07:00:00Z', 1, 'unknown'),
       ('four', 'rate_amended', 'rate', null, '2026-11-21T09:58:00Z', 1, 'unreadable')`,
    )
    await drainInbox(engine, { id: 'd1', at: '2026-11-21T10:00:00.000Z' })
    const refuse = (day: string, counts: Readonly<Record<string, number>>) =>
      addRefusals(engine, { day, counts: new Map(Object.entries(counts)) })
    await refuse('2026-11-21', {})
    await refuse('2026-10-01', { signature: 7 })
    await refuse('2026-11-20', { signature: 1000, headers: 2 })
    await refuse('2026-11-21', { signature: 30 })
    await refuse('2026-11-21', { signature: 4 })
    expect(await line()).toBe(
      'events: 4 in 30 days, the last 2 minutes ago; 1 wait to be read, the oldest came 51 days ago; ' +
        '3 of unknown types (worker_vanished, worker_found); 1 without a usable id; ' +
        '1,036 deliveries refused (signature 1,034, headers 2)',
    )
  })
})
