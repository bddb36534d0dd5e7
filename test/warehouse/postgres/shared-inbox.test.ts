/** Processes that drain one inbox share its events. */
import { expect, test } from 'vitest'
import { claimEvents } from '../../../src/state/inbox/drain.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { useEngines } from '../../support/warehouse-fixture.ts'

const made = useEngines()
const at = '2026-11-02T09:00:00.000Z'

test('a process takes the events that another has not claimed, without waiting for it', async () => {
  const { engine, address, landing } = await made.postgres()
  await engine.run(
    `insert into ops.inbox (event_id, type, received_at, deliveries, state)
     select 'event ' || n, 'trade_amended', timestamptz '${at}' + n * interval '1 minute', 1, 'new' from generate_series(1, 3) as n`,
  )
  const other = await openPostgres({ url: address, shown: 'the same' }, { scratch: `${landing}.other` })
  await engine.transaction(async connection => {
    await claimEvents(connection, { id: 'one', at }, { limit: 2, finishedTypes: ['trade_deleted'] })
    await other.transaction(async connection => {
      await connection.run(`set local lock_timeout = '2s'`)
      await claimEvents(connection, { id: 'other', at }, { limit: 3, finishedTypes: ['trade_deleted'] })
    })
  })
  await other.close()
  expect(await engine.rows('select event_id, drained_by from ops.inbox order by event_id')).toEqual([
    { event_id: 'event 1', drained_by: 'one' },
    { event_id: 'event 2', drained_by: 'one' },
    { event_id: 'event 3', drained_by: 'other' },
  ])
})
