/** Changes of state by day, from versions written by hand. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const engine = useHandMade()

test('each change of state counts on the day on which it happened, in the reporting zone', async () => {
  const warehouse = engine()
  const shared = { company_id: 'c1', project_id: 'p1', agency_id: 'a1' }
  await put(warehouse, 'fact_timesheet', [
    { timesheet_id: 't1', ...shared, status: 'approved', source_updated_at: '2026-06-03T23:30:00Z' },
    { timesheet_id: 't2', ...shared, status: 'pending', source_updated_at: '2026-06-01T10:00:00Z' },
  ])
  await warehouse.run(
    `insert into history.fact_timesheet (timesheet_id, company_id, project_id, agency_id, status, valid_from, valid_to) values
     ('t1', 'c1', 'p1', 'a1', 'pending', timestamptz '2026-06-01T08:00:00Z', timestamptz '2026-06-02T08:00:00Z'),
     ('t1', 'c1', 'p1', 'a1', 'pending', timestamptz '2026-06-02T08:00:00Z', timestamptz '2026-06-02T12:00:00Z'),
     ('t1', 'c1', 'p1', 'a1', 'pending_approval', timestamptz '2026-06-02T12:00:00Z', timestamptz '2026-06-03T23:30:00Z')`,
  )
  await buildAt(warehouse, 'status_change_daily')
  const rows = await warehouse.rows(
    `select cast(changed_date as text) as day, entity, status_before, status_after, changes, project_id
     from mart.status_change_daily where entity = 'timesheet' order by changed_date`,
  )
  const constant = { entity: 'timesheet', project_id: 'p1' }
  expect(rows.map(row => ({ ...row, changes: Number((row as { changes: string }).changes) }))).toEqual([
    {
      day: '2026-06-02',
      status_before: 'pending',
      status_after: 'pending_approval',
      changes: 1,
      ...constant,
    },
    {
      day: '2026-06-04',
      status_before: 'pending_approval',
      status_after: 'approved',
      changes: 1,
      ...constant,
    },
  ])
  await warehouse.run('delete from history.fact_timesheet')
})
