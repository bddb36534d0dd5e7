/** What events lead to: a list scanned once, a record read once, and the newer state in star. */
import { expect, test } from 'vitest'
import type { CollectionName } from '../../src/sandbox/world.ts'
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'
import { asked, patient, settled } from './settled.ts'

const roomy = { scale: 0.01, rateLimitPerDay: 1_000_000, rateLimitPerMinute: 100_000 }

const firstIds = (sandbox: OpenSandbox, collection: CollectionName, count: number): string[] =>
  sandbox.world
    .all(collection)
    .slice(0, count)
    .map(({ id }) => String(id))

describeOnEngines('events', bench => {
  test('about timesheets scan their list once, and star has the newer state', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    expect(
      (await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', 'invoices'] } })).failure,
    ).toBeUndefined()
    const running = await served(warehouse, { baseUrl: sandbox.url, intervals: patient })
    const before = sandbox.requests.length
    const ids = firstIds(sandbox, 'timesheets', 30)
    for (const id of ids) {
      const record = sandbox.world.get('timesheets', id)
      sandbox.world.upsert('timesheets', {
        ...record,
        status: 'approved',
        updatedAt: new Date().toISOString(),
      })
    }
    const sent = ids.map((id, index) =>
      post(running.url, signed(eventBody(`evt_${index}`, 'timesheet_approved', { timesheet: { id } }))),
    )
    expect(await Promise.all(sent)).toEqual(ids.map(() => 202))
    await settled(warehouse, running, ids.length)
    // Its last page, known from the sync, then downwards; the other lists are left alone.
    const requests = asked(sandbox.requests.slice(before))
    expect(Object.keys(requests)).toEqual(['/timesheets'])
    expect(requests['/timesheets']).toBeLessThanOrEqual(3)
    const [row] = await warehouse.engine.rows<{ n: number }>(
      `select count(*) as n from star.fact_timesheet where status = 'approved'
       and timesheet_id in (${ids.map(id => `'${id}'`).join(', ')})`,
    )
    expect(Number(row?.n)).toBe(ids.length)
    const facts = await warehouse.engine.rows<{ state: string; fetch_result: string; n: number }>(
      'select state, fetch_result, count(*) as n from star.fact_webhook_event group by 1, 2',
    )
    expect(facts).toEqual([{ state: 'done', fetch_result: 'listed', n: ids.length }])
    const [run] = await warehouse.engine.rows(
      `select command, arguments, state from ops.run where command = 'serve'`,
    )
    expect(run).toEqual({ command: 'serve', arguments: 'timesheets', state: 'done' })
    expect(running.log.filter(line => line.includes('why'))).toEqual([])
  })

  test('about records read by id cost one request a record, however many they are', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    const running = await served(warehouse, { baseUrl: sandbox.url, intervals: patient })
    const subjects = [
      ...firstIds(sandbox, 'trades', 8).map(id => ['trade_amended', { trade: { id } }] as const),
      ...firstIds(sandbox, 'assignments', 8).map(id => ['assignment_ended', { assignment: { id } }] as const),
      ...firstIds(sandbox, 'creditNotes', 8).map(id => ['credit_note_created', { note: { id } }] as const),
      ['purchase_order_deleted', { purchaseOrder: { id: 'gone1' } }] as const,
    ]
    const deliveries = Array.from({ length: 8 * subjects.length }, (_, index) => {
      const [type, data] = subjects[index % subjects.length] ?? ['trade_amended', {}]
      return signed(eventBody(`evt_${index}`, type, data))
    })
    for (let from = 0; from < deliveries.length; from += 50)
      await Promise.all(deliveries.slice(from, from + 50).map(delivery => post(running.url, delivery)))
    await settled(warehouse, running, deliveries.length)
    const requests = asked(sandbox.requests)
    expect(Object.values(requests)).toEqual(subjects.map(() => 1))
    const results = await warehouse.engine.rows<{ fetch_result: string; records: number }>(
      `select fetch_result, count(distinct record_id) as records from star.fact_webhook_event
       where state = 'done' group by 1 order by 1`,
    )
    expect(results.map(row => ({ ...row, records: Number(row.records) }))).toEqual([
      { fetch_result: 'not found', records: 1 },
      { fetch_result: 'read', records: subjects.length - 1 },
    ])
    const [held] = await warehouse.engine.rows<{ notes: number; trades: number }>(
      `select (select count(*) from star.fact_credit_note) as notes,
         (select count(*) from star.dim_trade where not is_inferred and trade_id <> '-1') as trades`,
    )
    const about = (type: string): number => subjects.filter(subject => subject[0] === type).length
    expect([Number(held?.notes), Number(held?.trades)]).toEqual([
      about('credit_note_created'),
      about('trade_amended'),
    ])
    expect(about('credit_note_created')).toBeGreaterThan(0)
    const evidence = await warehouse.engine.rows(`select source from ops.evidence where kind = 'event'`)
    expect(evidence).toHaveLength(deliveries.length / subjects.length)
  })
})
