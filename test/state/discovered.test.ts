/** Discovery of ids of records without a list: found in star or signalled, each remembered once. */
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import { edges } from '../../src/contract/derived/discovery.ts'
import { discover, FetchedPages, remember, signal, unsearchedRows } from '../../src/state/by-id/discovered.ts'
import { ledger } from '../../src/state/ledger.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { readById } from '../support/records-by-id.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const at = '2026-11-02T10:00:00.000Z'
const later = '2026-11-02T11:00:00.000Z'

const known = (engine: Engine) =>
  ledger(engine)
    .selectFrom('ops.discovered')
    .select(['resource', 'record_id', 'source', 'state'])
    .orderBy('resource')
    .orderBy('record_id')
    .execute()

function load(warehouse: Warehouse, name: string, records: readonly object[]) {
  const resource = findResource(name)
  if (!resource) throw new Error(name)
  return readById(warehouse, resource, records)
}

test('columns that name ids of records without a list', () => {
  const told = edges.company.map(({ table, column, resource }) => `${table}.${column} > ${resource}`)
  expect(told).toEqual(
    expect.arrayContaining([
      'fact_timesheet.assignment_id > assignments',
      'fact_assignment.requisition_id > requisitions',
      'fact_assignment.trade_id > trades',
      'bridge_assignment_link.linked_id > assignments',
      'bridge_assignment_link.linked_id > requisitions',
      'fact_requisition.trade_id > trades',
      'fact_competency_entry.trade_id > trades',
      'bridge_po_trade.trade_id > trades',
      'bridge_trade_rate.rate_id > rates',
    ]),
  )
  // What stands for a purchase order there is a hash of its reference.
  expect(told.filter(edge => edge.endsWith('purchase-orders'))).toEqual([])
})

test('an agency key reads sites by the ids that records name, a company key by their list', () => {
  const ofSites = (kind: 'agency' | 'company') =>
    edges[kind].filter(({ resource }) => resource === 'sites').map(({ table }) => table)
  expect(ofSites('agency')).toEqual(expect.arrayContaining(['fact_timesheet', 'fact_assignment']))
  expect(ofSites('company')).toEqual([])
  expect(edges.agency.filter(({ resource }) => resource !== 'sites')).toEqual(edges.company)
})

describeOnEngines('discovery', bench => {
  test('finds each id once in the columns that refer to it, and rates with their trade', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const replacement = { replacedBy: { id: 'a2' }, requisition: { id: 'r2' } }
    await load(warehouse, 'assignments', [
      { id: 'a1', trade: { id: 't1', name: 'Joiner' }, requisition: { id: 'r1' }, replacement },
      { id: 'a9', trade: { id: 't1' }, requisition: { id: '..:me' }, clone: { original: { id: 'a1' } } },
    ])
    await load(warehouse, 'trades', [{ id: 't1', rates: [{ id: 'ra1' }, { id: 'ra2' }] }])
    expect(await discover(engine, { at, edges: edges.company })).toBe(8)
    expect(await discover(engine, { at: later, edges: edges.company })).toBe(0)
    const links = 'star.bridge_assignment_link.linked_id'
    const requisition = 'star.fact_assignment.requisition_id'
    const rate = 'star.bridge_trade_rate.rate_id'
    expect(await known(engine)).toEqual([
      { resource: 'assignments', record_id: 'a1', source: links, state: 'never fetched' },
      { resource: 'assignments', record_id: 'a2', source: links, state: 'never fetched' },
      { resource: 'rates', record_id: 'ra1', source: rate, state: 'stored' },
      { resource: 'rates', record_id: 'ra2', source: rate, state: 'stored' },
      {
        resource: 'requisitions',
        record_id: expect.stringMatching(/^md5 [\da-f]{32}$/),
        source: requisition,
        state: 'refused',
      },
      { resource: 'requisitions', record_id: 'r1', source: requisition, state: 'never fetched' },
      { resource: 'requisitions', record_id: 'r2', source: links, state: 'never fetched' },
      {
        resource: 'trades',
        record_id: 't1',
        source: 'star.fact_assignment.trade_id',
        state: 'never fetched',
      },
    ])
  })

  test('can be limited to the rows of some pages and to one column', async () => {
    const warehouse = await bench.warehouse()
    const of = (runId: string, fetchedAt = '2026-11-02T09:00:00.000Z') => {
      const fetched = new FetchedPages()
      fetched.add({ runId, fetchedAt: later })
      fetched.add({ runId, fetchedAt })
      return fetched
    }
    await load(warehouse, 'assignments', [{ id: 'a1', trade: { id: 't1' }, requisition: { id: 'r1' } }])
    expect(await discover(warehouse.engine, { at, fetched: of('run-2'), edges: edges.company })).toBe(0)
    expect(await discover(warehouse.engine, { at, fetched: of('run-1', later), edges: edges.company })).toBe(
      0,
    )
    const trades = edges.company.filter(({ resource }) => resource === 'trades')
    expect(await discover(warehouse.engine, { at, fetched: of('run-1'), edges: trades })).toBe(1)
    expect(await discover(warehouse.engine, { at, fetched: of('run-1'), edges: edges.company })).toBe(1)
  })

  test('is of the rows of a run alone where others of its version and kind of key have noted theirs', async () => {
    const { engine } = await bench.warehouse()
    const run = (id: string, { changed = 0, version = '2', found = false, kind = 'company' } = {}) =>
      engine.run(
        `insert into ops.run (run_id, command, arguments, state, started_at, retries, requests, records_read, rows_inserted,
           rows_changed, rows_removed, records_unchanged, quarantined, program_version, discovered_at)
         values ('${id}', 'sync', '', 'done', cast('${at}' as timestamptz), 0, 0, 0, 0, ${changed}, 0, 0, 0, '${version}',
           ${found ? `cast('${at}' as timestamptz)` : 'null'});
         insert into ops.key_scope values ('${id}', 's', 'k', '${kind}', '[]', '[]', '[]', cast('${at}' as timestamptz))`,
      )
    const of = (runId: string, kind: 'company' | 'agency' = 'company') =>
      unsearchedRows(engine, { runId, kind })
    await run('r1', { changed: 1 })
    expect(await of('r1')).toBe('any')
    await run('r0', { changed: 1, found: true })
    expect(await of('r1')).toBe('of this run')
    await run('r2')
    expect(await of('r2')).toBe('any')
    await engine.run(`update ops.run set discovered_at = started_at where run_id = 'r1'`)
    expect(await of('r2')).toBe('none')
    await run('r3', { version: '3' })
    expect(await of('r3')).toBe('any')
    expect(await of('r2', 'agency')).toBe('any')
    await engine.run(`update ops.run set command = 'replay' where run_id = 'r3'`)
    expect(await of('r2')).toBe('any')
  })

  test('signals of one record are one row, and a missing record is asked for again', async () => {
    const { engine } = await bench.warehouse()
    const heard = (recordId: string, when = at) => ({
      resource: 'credit-notes',
      recordId,
      source: 'event credit_note_created',
      at: when,
    })
    await signal(engine, [heard('c1'), heard('c1', later), heard('c1'), heard('c2'), heard('no id')])
    await engine.run(
      `update ops.discovered set state = 'missing', retry_after = '2026-12-24' where record_id = 'c2'`,
    )
    await signal(engine, [heard('c2', later), heard('c1'), heard('no id', later)])
    const rows = await engine.rows(
      `select record_id, state, signals, signalled_at, retry_after from ops.discovered order by record_id`,
    )
    expect(rows.map(row => ({ ...row, signals: Number((row as { signals: number }).signals) }))).toEqual([
      { record_id: 'c1', state: 'never fetched', signals: 4, signalled_at: later, retry_after: null },
      { record_id: 'c2', state: 'missing', signals: 2, signalled_at: later, retry_after: later },
      {
        record_id: expect.stringMatching(/^md5 /),
        state: 'refused',
        signals: 2,
        signalled_at: later,
        retry_after: null,
      },
    ])
  })

  test('a list of thousands with duplicates, twice', async () => {
    const { engine } = await bench.warehouse()
    const seen = Array.from({ length: 1_200 }, (_, index) => ({
      resource: 'requisitions',
      recordId: `r${index % 1_100}`,
      source: 'ids.csv',
      at,
    }))
    expect(await remember(engine, seen)).toBe(1_100)
    expect(await remember(engine, seen)).toBe(0)
  })
})
