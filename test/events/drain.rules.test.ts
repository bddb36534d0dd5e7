/** What becomes of the events in the inbox: change signals, evidence of deletions, or nothing. */
import { beforeEach, describe, expect, test } from 'vitest'
import { drainInbox, finishedTypes, workOf } from '../../src/events/drain.ts'
import type { ClaimedEvent } from '../../src/state/inbox/drain.ts'
import { hour, ledgerBench } from '../support/ledger-bench.ts'

const bench = ledgerBench({ keepsRows: true })

const claimed = (type: string, entity: ClaimedEvent['entity']): ClaimedEvent => ({
  ...{ event_id: 'evt', type, entity, record_id: 'r', received_at: hour(3) },
})

test('an event about a record that is read by id is a signal to read it', () => {
  expect(workOf([claimed('trade_amended', 'trade')])).toEqual({
    signals: [{ resource: 'trades', recordId: 'r', source: 'event trade_amended', at: hour(3) }],
    evidence: [],
  })
})

test('an event of a deletion is evidence, and a signal only where the record is read by id', () => {
  const evidence = { record_id: 'r', kind: 'event', source: 'evt', seen_at: hour(3) }
  expect(workOf([claimed('timesheet_deleted', 'timesheet'), claimed('expense_deleted', 'expense')])).toEqual({
    signals: [],
    evidence: [
      { ...evidence, resource: 'timesheets' },
      { ...evidence, resource: 'expenses' },
    ],
  })
  expect(workOf([claimed('purchase_order_deleted', 'purchase_order')])).toEqual({
    signals: [
      { resource: 'purchase-orders', recordId: 'r', source: 'event purchase_order_deleted', at: hour(3) },
    ],
    evidence: [{ ...evidence, resource: 'purchase-orders' }],
  })
})

test('an event about a record of a list asks for nothing: the next scan reads it', () => {
  expect(workOf([claimed('invoice_paid', 'invoice')])).toEqual({ signals: [], evidence: [] })
  expect(finishedTypes).toEqual(['timesheet_deleted', 'expense_deleted'])
})

describe('a drain', () => {
  const drained = () =>
    bench.rows(
      'select event_id as id, state, drained_by as by, drained_at as at, result from ops.inbox order by 1',
    )
  const arrived = (id: string, type: string, parts: object = {}) =>
    bench.insert('ops.inbox', {
      ...{ event_id: id, type, entity: entities[type], record_id: `r-${id}`, received_at: hour(3) },
      deliveries: 1,
      ...{ state: 'new', ...parts },
    })
  const entities: Readonly<Record<string, string>> = {
    ...{ trade_amended: 'trade', expense_deleted: 'expense', invoice_paid: 'invoice' },
  }
  const at = hour(9)
  beforeEach(async () => {
    for (const table of ['ops.inbox', 'ops.discovered', 'ops.evidence', 'star.fact_webhook_event'])
      await bench.engine.run(`delete from ${table}`)
  })

  test('settles every event by its type, with signals and evidence', async () => {
    await arrived('a', 'trade_amended')
    await arrived('b', 'expense_deleted')
    await arrived('c', 'other', { state: 'unknown' })
    await arrived('d', 'invoice_paid')
    expect(await drainInbox(bench.engine, { id: 'drain', at })).toBe(4)
    const by = { by: 'drain.1', at, result: null }
    expect(await drained()).toEqual([
      { id: 'a', state: 'signalled', ...by },
      { id: 'b', state: 'done', ...by, result: 'evidence of a deletion' },
      { id: 'c', state: 'unknown', ...by },
      { id: 'd', state: 'signalled', ...by },
    ])
    expect(await bench.column('select resource from ops.discovered')).toEqual(['trades'])
    expect(await bench.rows('select resource, record_id as id, source from ops.evidence')).toEqual([
      { resource: 'expenses', id: 'r-b', source: 'b' },
    ])
    expect(await bench.column('select event_id from star.fact_webhook_event order by 1')).toEqual([
      ...['a', 'b', 'c', 'd'],
    ])
  })

  test('leaves events that were drained before', async () => {
    await arrived('a', 'trade_amended', {
      drained_at: hour(4),
      drained_by: 'other',
      state: 'signalled',
    })
    expect(await drainInbox(bench.engine, { id: 'drain', at })).toBe(0)
    expect(await drained()).toMatchObject([{ by: 'other', at: hour(4) }])
    expect(await bench.column('select record_id from ops.discovered')).toEqual([])
  })

  test('goes on until the inbox is empty, 5,000 events together', async () => {
    const many = (from: number, to: number) =>
      bench.engine.run(
        `insert into ops.inbox (event_id, type, entity, record_id, received_at, deliveries, state)
         select 'e' || i, 'invoice_paid', 'invoice', 'r', timestamptz '${hour(3)}', 1, 'new' from range(${from}, ${to}) t(i)`,
      )
    const parts = () =>
      bench.rows(
        'select drained_by as id, cast(count(*) as integer) as n from ops.inbox group by 1 order by 1',
      )
    await many(0, 5000)
    expect(await drainInbox(bench.engine, { id: 'x', at })).toBe(5000)
    expect(await parts()).toEqual([{ id: 'x.1', n: 5000 }])
    await many(5000, 10_001)
    expect(await drainInbox(bench.engine, { id: 'y', at })).toBe(5001)
    expect(await parts()).toEqual([
      { id: 'x.1', n: 5000 },
      { id: 'y.1', n: 5000 },
      { id: 'y.2', n: 1 },
    ])
  })

  test('of some events is undone when they cannot be passed on', async () => {
    await arrived('a', 'trade_amended', { record_id: null })
    await expect(drainInbox(bench.engine, { id: 'drain', at })).rejects.toThrow()
    expect(await drained()).toMatchObject([{ state: 'new', by: null, at: null }])
  })
})
