/** Change signals: found in star as changes of related records, counted against what fetches find, and used to choose. */
import { expect, test } from 'vitest'
import { coverageLines } from '../../src/cli/reports/status-lines.ts'
import { byIdResources, findResource } from '../../src/contract/catalogue.ts'
import { changeSignals } from '../../src/contract/derived/change-signals.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { type Coverage, readCoverage } from '../../src/state/by-id/coverage.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import { countSignals, signalCounts } from '../../src/state/by-id/signal-counts.ts'
import { storedIds } from '../../src/state/by-id/stored-ids.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const begin = Date.parse('2026-11-02T10:00:00.000Z')
const dayMs = 86_400_000
const day = (days: number): string => new Date(begin + days * dayMs).toISOString()

const company = { id: 'c1', name: 'Company 1' }
const record = (id: string, updatedAt: string) => ({ id, company, createdAt: day(-20), updatedAt })
const assignment = (n: number, updatedAt: string) => record(`a${n}`, updatedAt)
const timesheet = (n: number, updatedAt: string) => ({
  ...record(`t${n}`, updatedAt),
  assignment: { id: `a${n}` },
})

/** Four timesheets, each with its assignment, and a warehouse that syncs both on a given day. */
async function openTimesheetsOfAssignments(bench: Bench) {
  const ids = [1, 2, 3, 4]
  const sandbox = await openSandbox({
    records: {
      companies: [record('c1', day(-20))],
      timesheets: ids.map(n => timesheet(n, day(-20))),
      assignments: ids.map(n => assignment(n, day(-20))),
    },
  })
  const warehouse = await bench.warehouse()
  const clock = { days: 0, now: () => begin + clock.days * dayMs, sleep: async () => undefined }
  return {
    sandbox,
    engine: warehouse.engine,
    /** The paths that it requests. */
    sync: async (days: number, limits = {}): Promise<string[]> => {
      clock.days = days
      const before = sandbox.requests.length
      const request = { resources: ['timesheets', 'assignments'], limits }
      const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
      expect(failure, `the sync of day ${days}`).toBeUndefined()
      return sandbox.requests.slice(before).map(({ path }) => path)
    },
  }
}

const ofTimesheets = 'star.fact_timesheet.assignment_id'

const countsOfTimesheets = async (engine: Engine) =>
  (await signalCounts(engine, 'assignments')).find(({ signal }) => signal === ofTimesheets)

/** Ids that a signal marks as changed since they were fetched. */
async function signalledIds(engine: Engine, resource: Resource, at: string): Promise<string[]> {
  const signalled: string[] = []
  for await (const one of storedIds(engine, { resource, at, fetchedBefore: at }))
    if (one.signals.length > 0) signalled.push(one.id)
  return signalled
}

test('change signals, each declared where the column is', () => {
  const declared = changeSignals.map(({ name, of, pairs }) => `${name} > ${of} by ${pairs.join(' and ')}`)
  expect(declared.sort()).toEqual([
    'star.bridge_assignment_link.linked_id > assignments by linked_id,assignment_id',
    'star.bridge_assignment_link.linked_id > requisitions by linked_id,requisition_id',
    'star.fact_assignment.purchase_order_id > purchase-orders by purchase_order_id,purchase_order_reference_key',
    'star.fact_assignment.requisition_id > requisitions by requisition_id,requisition_id',
    'star.fact_competency_entry.trade_id > trades by trade_id,trade_id',
    'star.fact_credit_note.invoice_id > credit-notes by invoice_id,invoice_id',
    'star.fact_recruitment_metric_row.requisition_reference > requisitions by requisition_reference,reference and company_id,company_id',
    'star.fact_timesheet.assignment_id > assignments by assignment_id,assignment_id',
  ])
  expect(changeSignals.every(({ share }) => share > 0 && share < 1)).toBe(true)
})

test('status shows the share of changes that events announce, where enough of them were found', () => {
  const nothing = { stored: 0, known: 0, withoutId: 0 }
  const events = [
    { resource: 'assignments', found: 200, announced: 150 },
    { resource: 'rates', found: 3, announced: 3 },
    { resource: 'trades', found: 80, announced: 0 },
  ]
  const coverage = {
    ids: [],
    requisitions: nothing,
    creditNotes: { stored: '0.00', onInvoices: '0.00' },
    events,
  }
  expect(coverageLines(coverage)).toEqual(['changes announced by an event: assignments 75%'])
})

describeOnEngines('change signals', bench => {
  test('a timesheet that changed has its assignment read first, and what is found is learnt', async () => {
    const { sandbox, engine, sync } = await openTimesheetsOfAssignments(bench)
    const resource = findResource('assignments') as Resource
    await sync(0)
    // The second is announced and did not change, the third changed without a signal, an event announces the fourth.
    for (const n of [1, 2]) sandbox.world.upsert('timesheets', timesheet(n, day(1)))
    for (const n of [1, 3, 4])
      sandbox.world.upsert('assignments', { ...assignment(n, day(1)), reference: 'changed' })
    await signal(engine, [{ resource: 'assignments', recordId: 'a4', source: 'event', at: day(1) }])

    // One of them asks whether the list can be filtered by the time of change: a record can show that now.
    const requested = await sync(2, { maxRequests: 6 })
    expect(requested.sort(), 'requests of the second sync').toEqual([
      ...['a1', 'a2', 'a4'].map(id => `/assignments/${id}`),
      '/me',
      '/timesheets',
      '/timesheets',
    ])
    expect(await signalledIds(engine, resource, day(3)), 'signals left after it').toEqual([])
    const learnt = await countsOfTimesheets(engine)
    expect(learnt, 'counts after it').toMatchObject({ signalled: 2, unchanged: 1, quietChanges: 1 })
    expect(learnt?.unchangedExpected).toBeGreaterThan(1)
    expect(learnt?.unchangedExpected).toBeLessThan(2)
    const { events } = (await readCoverage(engine)) as Coverage
    expect(events, 'changes that events announced').toEqual([
      { resource: 'assignments', found: 2, announced: 1 },
    ])

    // Ninety days later half of it counts, beside one more read that found nothing.
    const at = day(92)
    const expected = { kind: '', rate: 0.1, fresh: 0.9, signals: [ofTimesheets] }
    const fetch = { recordId: 'a2', askedAt: at, fetchedAt: at, runId: 'another', expected }
    await countSignals(engine, resource, { fetches: [fetch], at })
    expect(await countsOfTimesheets(engine), 'counts ninety days later').toMatchObject({
      signalled: 2,
      unchanged: 1.5,
      quietChanges: 0.5,
    })
    // An event shows that there was a change in two days, and not that changes come within hours.
    const [evidence] = await engine.rows<{ days: number }>(
      `select exposure_days as days from ops.discovered where record_id = 'a4'`,
    )
    expect(Number(evidence?.days), 'exposure of the announced one').toBeGreaterThan(21.5)
  })

  test('are looked for of every resource', async () => {
    const { engine } = await bench.warehouse()
    for (const resource of byIdResources)
      for await (const one of storedIds(engine, { resource, at: day(0), fetchedBefore: day(0) }))
        expect(one).toBeUndefined()
  })
})
