/** Which events a read has answered: those that came before it began, of what it read, and no others. */
import { expect, test } from 'vitest'
import { drainInbox } from '../../src/events/drain.ts'
import { expireInbox, settle } from '../../src/state/inbox/settle.ts'
import { recordAccess } from '../../src/state/requests/key-state.ts'
import { recordResource, startRun, updateRun } from '../../src/state/runs/runs.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const at = (minute: number): string => `2026-11-21T10:${String(minute).padStart(2, '0')}:00.000Z`

async function receive(
  engine: Engine,
  [id, entity, minute]: readonly [string, string, number],
): Promise<void> {
  await engine.run(
    `insert into ops.inbox (event_id, type, entity, record_id, received_at, deliveries, state)
     values ($1, $2, $3, 'r1', $4, 1, 'new')`,
    [id, `${entity}_amended`, entity, at(minute)],
  )
}

const figures = {
  requests: 1,
  records_read: 1,
  rows_inserted: 0,
  rows_changed: 1,
  rows_removed: 0,
  records_touched: 0,
  records_unchanged: 0,
  quarantined: 0,
}

interface Scan {
  readonly resource: string
  readonly minute: number
  readonly state?: 'done' | 'failed'
  readonly command?: string
}

async function scan(
  engine: Engine,
  { resource, minute, state = 'done', command = 'sync' }: Scan,
): Promise<void> {
  const runId = `${command} ${resource} ${minute} ${state}`
  await startRun(engine, { runId, command, arguments: '', startedAt: at(minute), version: 'test' })
  await recordResource(engine, { run_id: runId, resource, state, ...figures, note: null })
  await updateRun(engine, runId, { state: 'done', finished_at: at(minute + 1) })
}

async function results(engine: Engine): Promise<Record<string, string | null>> {
  const rows = await engine.rows<{ event_id: string; fetch_result: string | null }>(
    'select event_id, fetch_result from star.fact_webhook_event order by event_id',
  )
  return Object.fromEntries(rows.map(row => [row.event_id, row.fetch_result]))
}

describeOnEngines('an event is settled', bench => {
  test('by a scan of its list that began after it came, and ended', async () => {
    const { engine } = await bench.warehouse()
    await receive(engine, ['before', 'timesheet', 5])
    await receive(engine, ['during', 'timesheet', 11])
    await receive(engine, ['other', 'invoice', 5])
    await drainInbox(engine, { id: 'd1', at: at(12) })
    // It was under way when the second event came: the page with its record may have been read before.
    await scan(engine, { resource: 'timesheets', minute: 10 })
    await scan(engine, { resource: 'invoices', minute: 10, state: 'failed' })
    await scan(engine, { resource: 'invoices', minute: 11, command: 'backfill' })
    expect(await settle(engine, at(20))).toMatchObject({ events: 2, oldest: at(5) })
    expect(await results(engine)).toEqual({ before: 'listed', during: null, other: null })
    await scan(engine, { resource: 'timesheets', minute: 30, command: 'serve' })
    expect(await settle(engine, at(31))).toMatchObject({ events: 1, lists: [], byId: [] })
    expect(await results(engine)).toEqual({ before: 'listed', during: 'listed', other: null })
  })

  test('by an answer about its record, and not by one that was asked for before', async () => {
    const { engine } = await bench.warehouse()
    await receive(engine, ['one', 'trade', 5])
    await drainInbox(engine, { id: 'd1', at: at(6) })
    const answered = (minute: number, signals: number, state: string) =>
      engine.run(`update ops.discovered set checked_at = $1, signals = $2, state = $3`, [
        at(minute),
        signals,
        state,
      ])
    await answered(4, 0, 'stored')
    expect(await settle(engine, at(7))).toMatchObject({ events: 1, byId: ['trades'], records: 1 })
    // Answered later, but asked for before the signal, which is still there.
    await answered(8, 1, 'stored')
    expect(await settle(engine, at(9))).toMatchObject({ events: 1 })
    await answered(10, 0, 'missing')
    expect(await settle(engine, at(11))).toEqual({
      events: 0,
      records: 0,
      lists: [],
      byId: [],
      oldest: null,
    })
    expect(await results(engine)).toEqual({ one: 'not found' })
  })

  test('by the answer that the key may not read such records at all', async () => {
    const { engine } = await bench.warehouse()
    await receive(engine, ['one', 'rate', 5])
    await drainInbox(engine, { id: 'd1', at: at(6) })
    await recordAccess(engine, {
      ...{ resource: 'rates', key_kind: 'agency', way: 'not at all' },
      state: 'not for this kind of key',
      reason: 'agency keys cannot read it',
      checked_at: at(7),
    })
    await settle(engine, at(8))
    expect(await results(engine)).toEqual({ one: 'refused' })
  })

  test('by an earlier refusal: for an hour, or as long as nothing asks before the next sync', async () => {
    const { engine } = await bench.warehouse()
    const refused = (resource: string, state: 'refused' | 'not for this kind of key') =>
      recordAccess(engine, {
        ...{ resource, key_kind: 'agency', way: 'list', state },
        ...{ reason: 'because', checked_at: '2026-11-21T08:30:00.000Z' },
      })
    await refused('purchase-orders', 'not for this kind of key')
    await refused('invoices', 'refused')
    await refused('rates', 'refused')
    await refused('timesheets', 'refused')
    // This list was read whole once: an event scans it, and finds out whether it is still refused.
    await engine.run(
      `insert into ops.watermark (resource, watermark, moved_at, run_id)
       values ('timesheets', '2026-11-20T00:00:00Z', '2026-11-20T00:00:00Z', 'r1')`,
    )
    for (const entity of ['purchase_order', 'invoice', 'rate', 'timesheet'])
      await receive(engine, [entity, entity, 5])
    await drainInbox(engine, { id: 'd1', at: at(6) })
    expect(await settle(engine, at(7))).toMatchObject({ events: 2, lists: ['timesheets'], byId: ['rates'] })
    expect(await results(engine)).toEqual({
      invoice: 'refused',
      purchase_order: 'refused',
      rate: null,
      timesheet: null,
    })
    await engine.run(`update ops.key_access set checked_at = '2026-11-21T09:30:00.000Z'`)
    expect(await settle(engine, at(8))).toMatchObject({ events: 0 })
  })

  test('and forgotten by the inbox when it is old, while one that waits is kept', async () => {
    const { engine } = await bench.warehouse()
    await receive(engine, ['old', 'timesheet', 1])
    await receive(engine, ['waiting', 'invoice', 1])
    await drainInbox(engine, { id: 'd1', at: at(2) })
    await scan(engine, { resource: 'timesheets', minute: 3 })
    await settle(engine, at(5))
    expect(await expireInbox(engine, at(6))).toBe(1)
    expect(await engine.rows('select event_id from ops.inbox')).toEqual([{ event_id: 'waiting' }])
    expect(Object.keys(await results(engine))).toEqual(['old', 'waiting'])
  })
})
