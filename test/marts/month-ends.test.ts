/** The accrual of a month end is kept by the first build after it, and stays when records change. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { copyWarehouse } from '../../src/publish/copy.ts'
import { fileSource } from '../../src/publish/copy-ends.ts'
import { startRun, updateRun } from '../../src/state/runs/runs.ts'
import { queryAsOf } from '../../src/warehouse/as-of.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { tellStory } from './story.ts'

async function readAndBuild({ engine }: Warehouse, at: string): Promise<void> {
  await startRun(engine, { runId: at, command: 'sync', arguments: '', startedAt: at, version: 'test' })
  await updateRun(engine, at, { state: 'done', finished_at: at, records_read: 1, rows_changed: 1 })
  const { marts } = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(at) + 1000, sleep: async () => undefined },
      rng: seededRng(Date.parse(at)),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: ['accrual_month_end'], all: false },
  )
  expect(marts.filter(({ state }) => state === 'failed')).toEqual([])
}

const sheet = (id: string, more: object) => ({
  timesheet_id: id,
  reference: id,
  status: 'approved',
  worker_id: 'w',
  company_id: 'c',
  project_id: 'p',
  site_id: 's',
  agency_id: 'a',
  week_ending_date: '2026-10-25',
  approved_at: '2026-10-27T10:00:00Z',
  net_hours: 40,
  charge_total: 1000,
  ...more,
})

const monthEnd = ({ engine }: Warehouse, day: string) =>
  engine.rows(
    `select accrual_state as state, cast(recorded_value as text) as kept, cast(accrued_value as text) as now,
       cast(later_change_value as text) as later
     from mart.accrual_month_end where month_end_date = '${day}' order by accrual_state`,
  )

const octoberAsKept = [
  { state: 'approved', kept: '1000.0000', now: '1000.0000', later: '0.0000' },
  { state: 'claims', kept: '30.0000', now: '30.0000', later: '0.0000' },
  // Approved in November, and the pending one.
  { state: 'unapproved', kept: '700.0000', now: '700.0000', later: '0.0000' },
]

describeOnEngines(
  'month ends',
  ({ warehouse: fresh }) => {
    let warehouse: Warehouse
    beforeEach(async () => {
      warehouse = await fresh()
      await tellStory(warehouse.engine, {
        'star.fact_timesheet': [
          sheet('approved', {}),
          sheet('approved later', { charge_total: 200, approved_at: '2026-11-02T09:00:00Z' }),
          sheet('waits', { charge_total: 500, status: 'pending_approval', approved_at: null }),
          sheet('of november', { charge_total: 9, week_ending_date: '2026-11-01' }),
          sheet('billed in october', { charge_total: 8 }),
        ],
        'star.fact_invoice': [
          { invoice_id: 'i', invoice_type: 'supplierToClient', created_at: '2026-10-30T12:00:00Z' },
        ],
        'star.bridge_invoice_timesheet': [
          { invoice_timesheet_key: 'k', invoice_id: 'i', timesheet_id: 'billed in october' },
        ],
        'star.fact_expense': [
          {
            ...{ expense_id: 'e', status: 'approved', approved_at: '2026-10-28T09:00:00Z', value: 30 },
            ...{ company_id: 'c', project_id: 'p', agency_id: 'a', expense_date: '2026-10-20' },
          },
          { expense_id: 'f', status: 'pending', value: 7, company_id: 'c', expense_date: '2026-10-20' },
        ],
      })
    })
    afterEach(() => warehouse.close())

    test('are kept once the month is over and was read, and no later record changes them', async () => {
      await readAndBuild(warehouse, '2026-10-31T20:00:00Z')
      expect(await monthEnd(warehouse, '2026-10-31')).toEqual([])
      await readAndBuild(warehouse, '2026-11-03T02:00:00Z')
      expect(await monthEnd(warehouse, '2026-10-31')).toEqual(octoberAsKept)

      const { engine } = warehouse
      await engine.run(`update star.fact_timesheet set charge_total = 1100 where timesheet_id = 'approved'`)
      await engine.run(`update star.fact_timesheet set status = 'cancelled' where timesheet_id = 'waits'`)
      await readAndBuild(warehouse, '2026-11-10T02:00:00Z')
      const [approved, claims, unapproved] = octoberAsKept
      const changed = [
        { ...approved, now: '1100.0000', later: '100.0000' },
        claims,
        { ...unapproved, now: '200.0000', later: '-500.0000' },
      ]
      expect(await monthEnd(warehouse, '2026-10-31')).toEqual(changed)
      await readAndBuild(warehouse, '2026-12-01T02:00:00Z')
      expect(await monthEnd(warehouse, '2026-10-31')).toEqual(changed)
      expect((await monthEnd(warehouse, '2026-11-30')).map(row => Object.values(row)[1])).toEqual([
        '1309.0000',
        '30.0000',
      ])
    })

    test('are what the records as of that day add up to, whatever was corrected later', async () => {
      await readAndBuild(warehouse, '2026-11-03T02:00:00Z')
      const { engine } = warehouse
      const corrected = `timesheet_id in ('approved', 'waits')`
      await engine.run(
        `insert into history.fact_timesheet (timesheet_id, status, week_ending_date, approved_at, charge_total, is_deleted, valid_from, valid_to)
         select timesheet_id, status, week_ending_date, approved_at, charge_total, is_deleted, timestamptz '2026-10-27T10:00:00Z',
           timestamptz '2026-11-06T10:00:00Z' from star.fact_timesheet where ${corrected}`,
      )
      await engine.run(
        `update star.fact_timesheet set charge_total = 1100, status = 'approved', valid_from = timestamptz '2026-11-06T10:00:00Z'
         where ${corrected}`,
      )
      const owed = queryAsOf(
        `select case when t.status = 'approved' and t.approved_at <= '2026-10-31T23:59:59Z' then 'approved' else 'unapproved' end as state,
           cast(sum(t.charge_total) as text) as kept
         from asof.fact_timesheet as t
         where not t.is_deleted and t.week_ending_date <= '2026-10-31'
           and t.timesheet_id not in (select b.timesheet_id from asof.bridge_invoice_timesheet as b)
         group by 1 order by 1`,
        { day: '2026-10-31', zone: 'Europe/London' },
      )
      const kept = octoberAsKept.filter(({ state }) => state !== 'claims')
      expect(await engine.rows(owed)).toEqual(kept.map(({ state, kept }) => ({ state, kept })))
    })

    test('wait for lists that were not read completely', async () => {
      await warehouse.engine.run(
        `insert into ops.unread (resource, record_id, noted_at) values ('invoices', 'x', '2026-11-01T00:00:00Z')`,
      )
      await readAndBuild(warehouse, '2026-11-03T02:00:00Z')
      expect((await monthEnd(warehouse, '2026-10-31')).map(row => Object.values(row)[1])).toEqual([
        null,
        null,
        null,
      ])
    })
  },
  'all',
)

describeOnEngines('copies of month ends', ({ warehouse: fresh }) => {
  test('have the kept figures', async () => {
    const [from, into] = [await fresh(), await fresh()]
    await from.engine.run(
      `insert into ops.accrual_month_end values ('2026-09-30', 'c', 'p', 'a', 'claims', 1, 0, 12.5, '2026-10-01T02:00:00Z')`,
    )
    await from.close()
    const source = await fileSource(from.address.slice('duckdb:'.length), into.engine)
    await copyWarehouse(source, into.engine, () => undefined)
    await source.close()
    await readAndBuild(into, '2026-10-05T02:00:00Z')
    expect((await monthEnd(into, '2026-09-30')).map(row => Object.values(row).slice(0, 2))).toEqual([
      ['claims', '12.5000'],
    ])
  })
})
