/** Demand and those who meet it, by hand: approvals, open requisitions, and who is on site. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'
import { at } from './recruit.ts'

const made = useHandMade()
const rows = (sql: string) => made().rows<Record<string, unknown>>(sql)

/** A stage of the approval of a requisition, still to be approved. */
const approvalStage = (
  requisition: string,
  ordinal: number,
  more: Record<string, string | boolean | null>,
) => ({
  requisition_approval_stage_key: `${requisition}${ordinal}`,
  requisition_id: requisition,
  stage_ordinal: ordinal,
  stage: ordinal,
  requisition_created_at: at(-10),
  is_approved: false,
  ...more,
})

/** An approved requisition of which two of three workers are still to be assigned. */
const openRequisition = (id: string, more: Record<string, string | number | null>) => ({
  requisition_id: id,
  reference: `R-${id}`,
  company_id: 'c',
  status: 'approved',
  quantity: 3,
  open_quantity: 2,
  assigned_total: 1,
  created_at: '2026-10-20T23:30:00Z',
  ...more,
})

/** A row of the recruitment metrics that counts a requisition. */
const metricRow = (reference: string, occurrence: number) => ({
  recruitment_metric_row_key: `${reference}${occurrence}`,
  company_id: 'c',
  requisition_reference: reference,
})

/** A confirmed assignment of a worker of its own, between two dates. */
const confirmedAssignment = (id: string, [start, end]: readonly (string | null)[], more = {}) => ({
  assignment_id: id,
  company_id: 'c',
  project_id: 'p',
  trade_id: 't',
  agency_id: 'a',
  rate_type: 'paye',
  status: 'confirmed',
  worker_id: id,
  start_date: start ?? null,
  end_date: end ?? null,
  ...more,
})

/** An approved timesheet of the week to 7 June. */
const approvedTimesheet = (id: string, [worker, hours]: readonly [string, number], more = {}) => ({
  timesheet_id: id,
  worker_id: worker,
  net_hours: hours,
  status: 'approved',
  company_id: 'c',
  project_id: 'p',
  agency_id: 'a',
  assignment_id: 'stays',
  rate_type: 'paye',
  week_ending_date: '2026-06-07',
  ...more,
})

test('mart.approval_cycle: a stage waits from the one before it, until it is approved or until now', async () => {
  await made().run(`insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read,
      rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
    values ('s', 'sync', '', 'done', '${at(0)}', '${at(0)}', 1, 0, 1, 1, 0, 0, 0, 0, 'test')`)
  await put(made(), 'fact_requisition', [
    { requisition_id: 'r', status: 'raised' },
    { requisition_id: 'q', status: 'rejected' },
  ])
  await put(made(), 'fact_requisition_approval_stage', [
    approvalStage('r', 1, { is_approved: true, approved_at: at(-9.5) }),
    approvalStage('r', 2, { prior_approved_at: at(-9.5) }),
    approvalStage('r', 3, {}),
    approvalStage('q', 1, { is_approved: true, approved_at: null }),
    approvalStage('q', 2, {}),
  ])
  await buildAt(made(), 'approval_cycle')
  expect(
    await rows(`select requisition_approval_stage_key as stage, is_approved as done, is_pending as pending, hours_waiting as hours
      from mart.approval_cycle order by 1`),
  ).toEqual([
    { stage: 'q1', done: true, pending: false, hours: null },
    { stage: 'q2', done: false, pending: false, hours: null },
    { stage: 'r1', done: true, pending: false, hours: 12 },
    { stage: 'r2', done: false, pending: true, hours: 228 },
    { stage: 'r3', done: false, pending: false, hours: null },
  ])
})

test('mart.open_demand: requisitions that still ask for workers, their age and notice, and the share of hours on hold', async () => {
  await put(made(), 'fact_requisition', [
    openRequisition('soon', {
      approved_at: at(0),
      approved_date: '2026-10-30',
      planned_start_date: '2026-11-09',
    }),
    openRequisition('later', {
      status: 'raised',
      planned_start_date: '2026-11-10',
      planned_end_date: '2026-11-02',
    }),
    openRequisition('full', { open_quantity: 0 }),
    openRequisition('gone', { status: 'cancelled' }),
    openRequisition('elsewhere', {
      company_id: 'd',
      planned_start_date: '2026-10-01',
      planned_end_date: '2026-11-01',
    }),
  ])
  await put(made(), 'dim_company_setting', [
    { company_setting_key: 's1', company_id: 'c', setting_path: 'leadTimeWarning.days', value_number: 7 },
    {
      company_setting_key: 's2',
      company_id: 'c',
      setting_path: 'leadTimeWarning.enabled',
      value_boolean: true,
    },
  ])
  await put(made(), 'fact_recruitment_metric_row', [
    metricRow('R-soon', 1),
    metricRow('R-soon', 2),
    metricRow('R-unknown', 1),
  ])
  await buildAt(made(), 'open_demand', '2026-11-02')
  expect(
    await rows(`select requisition_id as id, open_quantity as open, days_open as age, days_to_start as notice, is_inside_lead_time as late,
      is_expired as expired, live_open_quantity as live, company_requisitions_stored as stored, company_requisitions_counted as counted from mart.open_demand order by 1`),
  ).toEqual([
    {
      id: 'elsewhere',
      open: '2.0000',
      age: 12,
      notice: -32,
      late: false,
      expired: true,
      live: '0.0000',
      stored: 0,
      counted: 0,
    },
    {
      id: 'later',
      open: '2.0000',
      age: 12,
      notice: 8,
      late: false,
      expired: false,
      live: '2.0000',
      stored: 1,
      counted: 2,
    },
    {
      id: 'soon',
      open: '2.0000',
      age: 3,
      notice: 7,
      late: true,
      expired: false,
      live: '2.0000',
      stored: 1,
      counted: 2,
    },
  ])
})

test('mart.headcount_weekly: who began before, begins, leaves and stays', async () => {
  await put(made(), 'fact_assignment', [
    confirmedAssignment('stays', ['2026-01-05', null]),
    confirmedAssignment('leaves', ['2026-05-31', '2026-06-07']),
    // A second assignment of a worker who is there.
    confirmedAssignment('begins', ['2026-06-01', '2026-06-08'], { worker_id: 'stays' }),
    confirmedAssignment('one week', ['2026-06-01', '2026-06-05']),
    confirmedAssignment('before', ['2026-05-01', '2026-05-31']),
    confirmedAssignment('after', ['2026-06-08', '2026-07-01']),
    confirmedAssignment('cut short', ['2026-05-01', '2026-12-31'], {
      status: 'ended',
      ended_at: '2026-06-02T09:00:00Z',
    }),
    // Their first end was undone.
    confirmedAssignment('reinstated', ['2026-05-01', '2026-12-31'], {
      ended_at: '2026-05-20T09:00:00Z',
      completed_date: '2026-05-21',
    }),
    confirmedAssignment('backwards', ['2026-06-03', '2026-01-01']),
    confirmedAssignment('called off', ['2026-06-01', '2026-06-30'], { status: 'cancelled' }),
    confirmedAssignment('elsewhere', ['2026-06-01', '2026-06-30'], { company_id: 'd' }),
  ])
  await put(made(), 'fact_timesheet', [
    approvedTimesheet('1', ['w', 30]),
    approvedTimesheet('2', ['w', 10]),
    approvedTimesheet('3', ['v', 20]),
    approvedTimesheet('4', ['u', 0]),
    approvedTimesheet('5', ['x', 40], { status: 'pending' }),
    approvedTimesheet('6', ['x', 8], { assignment_id: 'unheard of', rate_type: null }),
  ])
  await buildAt(made(), 'headcount_weekly')
  expect(
    await rows(`select trade_id as trade, rate_type as type, assignments as n, active_start as s, assignments_begun as plus,
      assignments_ended as minus, active_end as e, workers as w, opening_workers as o, starters, leavers, closing_workers as c,
      worked_headcount as heads, fte from mart.headcount_weekly where week_ending_date = '2026-06-07' and company_id = 'c' order by 1`),
  ).toEqual([
    {
      ...{ trade: '-1', type: 'unknown', n: 0, s: 0, plus: 0, minus: 0, e: 0, heads: 1, fte: 0.2 },
      ...{ w: 0, o: 0, starters: 0, leavers: 0, c: 0 },
    },
    {
      ...{ trade: 't', type: 'paye', n: 7, s: 4, plus: 3, minus: 4, e: 3, heads: 2, fte: 1.5 },
      ...{ w: 6, o: 5, starters: 2, leavers: 4, c: 3 },
    },
  ])
  expect(
    await rows(`select count(*) as weeks, min(week_ending_date) as first, max(week_ending_date) as last
      from mart.headcount_weekly where company_id = 'c' and trade_id = 't'`),
  ).toEqual([{ weeks: 44, first: '2026-01-11', last: '2026-11-08' }])
})
