/** The scorecard of suppliers, by hand. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'
import { at, recruit } from './recruit.ts'

const made = useHandMade()
const rows = (sql: string) => made().rows<Record<string, unknown>>(sql)

test('mart.supplier_scorecard: each figure in its month, each ratio with both of its parts', async () => {
  await recruit(made(), [
    { id: 'x', stages: ['submitted', 'interviewed', 'offerMade'] },
    { id: 'y', stages: ['submitted'] },
  ])
  await made().run(
    `update star.fact_requisition_agency set accepted_at = '${at(-1)}', received_to_accepted_days = 1`,
  )
  // Not released to it, and not answered by it.
  await put(made(), 'fact_requisition_agency', [
    {
      requisition_agency_key: 'rb',
      requisition_id: 'r',
      agency_id: 'b',
      company_id: 'c',
      requisition_approved_at: at(-3),
      offered: 3,
      assigned: 0,
      submissions_count: 0,
    },
  ])
  const engagement = {
    company_id: 'c',
    project_id: 'p',
    agency_id: 'a',
    trade_id: 't',
    region_id: '-1',
    sector_id: '-1',
    rate_type: 'paye',
    pay_type: 'hourly',
  }
  await put(made(), 'fact_assignment', [
    {
      assignment_id: 'm',
      ...engagement,
      status: 'ended',
      start_date: '2026-05-11',
      end_date: '2026-07-31',
      ended_at: '2026-06-10T09:00:00Z',
      charge_rate: 33,
    },
    {
      assignment_id: 'n',
      ...engagement,
      status: 'completed',
      start_date: '2026-05-18',
      end_date: '2026-06-26',
      completed_date: '2026-06-26',
    },
  ])
  await put(made(), 'fact_assignment', [
    { assignment_id: 'to come', ...engagement, status: 'confirmed', start_date: '2026-11-03' },
  ])
  await put(made(), 'bridge_assignment_link', [
    { assignment_link_key: 'l', assignment_id: 'm', kind: 'replaced_by', linked_id: 'n' },
  ])
  await put(made(), 'dim_rate', [
    {
      rate_id: 'card',
      trade_id: 't',
      company_id: 'c',
      region_id: '-1',
      sector_id: '-1',
      project_id: '-1',
      agency_id: '-1',
      hourly_paye_charge: 30,
      hourly_paye_pay: 20,
      is_inferred: false,
    },
  ])
  const sheet = {
    status: 'approved',
    worker_id: 'w',
    company_id: 'c',
    project_id: 'p',
    agency_id: 'a',
    assignment_id: 'm',
    rate_type: 'paye',
  }
  await put(made(), 'fact_timesheet', [
    {
      timesheet_id: '1',
      ...sheet,
      week_ending_date: '2026-06-07',
      net_hours: 40,
      charge_total: 1320,
      rate_wd_charge: 33,
      // Half past eleven in the evening of the third day, in London.
      approved_at: '2026-06-10T22:30:00Z',
    },
    {
      timesheet_id: '2',
      ...sheet,
      week_ending_date: '2026-06-14',
      net_hours: 10,
      charge_total: 300,
      rate_wd_charge: 30,
      approved_at: '2026-06-18T09:00:00Z',
    },
    { timesheet_id: '3', ...sheet, week_ending_date: '2026-06-14', net_hours: 40, status: 'cancelled' },
    { timesheet_id: '4', ...sheet, week_ending_date: '2026-06-14', status: 'absent' },
    // Whether it was submitted in time is not known.
    { timesheet_id: '5', ...sheet, week_ending_date: '2026-06-14', approved_at: '2026-06-20T09:00:00Z' },
  ])
  await made().run(
    `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count,
       signature_ok, state, loaded_at)
     values ('e1', 'timesheet_approval_requested', 'timesheet', '2', '2026-06-17T23:30:00Z', now(), 1, true, 'done', now())`,
  )
  await buildAt(made(), 'supplier_scorecard')
  const [may, work, ...others] = await rows(`select * from mart.supplier_scorecard order by month_start_date`)
  expect(others).toEqual([])
  expect(may).toMatchObject({
    ...{
      month_start_date: '2026-05-01',
      received: 1,
      accepted: 1,
      response_ratio: 1,
      median_hours_to_accept: '24.0000',
    },
    ...{ offered: 3, filled: 2, fill_ratio: 2 / 3, submissions: 2, submissions_per_requisition: 2 },
    ...{ tracked: 2, interviewed: 1, offers_made: 1, interview_ratio: 0.5, offer_ratio: 1 },
    ...{
      started: 2,
      replaced: 1,
      replacement_ratio: 0.5,
      finished: 0,
      early_end_ratio: null,
      timesheets: 0,
      on_time_ratio: null,
    },
  })
  expect(work).toMatchObject({
    ...{
      month_start_date: '2026-06-01',
      received: 0,
      response_ratio: null,
      median_hours_to_accept: null,
      started: 0,
    },
    ...{
      finished: 2,
      ended_early: 1,
      early_end_ratio: 0.5,
      timesheets: 3,
      timesheets_timed: 2,
      timesheets_on_time: 1,
      on_time_ratio: 0.5,
    },
    ...{
      net_hours: '50.0000',
      spend: '1620.0000',
      carded_hours: '50.0000',
      carded_charge: '1620.0000',
      card_charge: '1500.0000',
    },
    charge_to_card_ratio: 1.08,
  })
})
