/** Work, and what it costs, few enough to be worked out by hand: one project of one company. */
import { now, type Row, type Story } from './story.ts'

const place = { company_id: 'c1', project_id: 'p1', site_id: 's1', agency_id: 'g1' }
const cis = { pay_type: 'hourly', rate_type: 'cis' }

/** Plain weekday time unless it says otherwise. */
const sheet = (id: string, more: Row): Row => ({
  timesheet_id: id,
  reference: `TS-${id}`,
  status: 'approved',
  worker_id: 'w1',
  ...place,
  ...cis,
  pay_wd_basic: more.pay_total ?? null,
  charge_wd_basic: more.charge_total ?? null,
  ...more,
})

const assignment = (id: string, more: Row): Row => ({
  assignment_id: id,
  reference: `ASG-${id}`,
  status: 'confirmed',
  worker_id: 'w1',
  trade_id: 't1',
  region_id: '-1',
  sector_id: '-1',
  purchase_order_id: '-1',
  ...place,
  ...cis,
  ...more,
})

const card = (id: string, charge: number, more: Row = {}): Row => ({
  rate_id: id,
  trade_id: 't1',
  company_id: 'c1',
  project_id: '-1',
  agency_id: '-1',
  region_id: '-1',
  sector_id: '-1',
  hourly_cis_pay: charge - 2,
  hourly_cis_charge: charge,
  is_inferred: false,
  source_updated_at: '2026-01-01T00:00:00Z',
  ...more,
})

const expense = (id: string, more: Row): Row => ({
  expense_id: id,
  status: 'approved',
  worker_id: 'w1',
  cost_code_id: '-1',
  company_id: 'c1',
  project_id: 'p1',
  agency_id: 'g1',
  ...more,
})

const nothingWorked = {
  assignment_id: 'unread',
  week_ending_date: '2026-10-25',
  approved_at: '2026-10-26T10:00:00Z',
  net_hours: 0,
  pay_total: 0,
  charge_total: 0,
}

export const spending: Story = {
  'star.dim_company': [
    {
      company_id: 'c1',
      is_inferred: false,
      weekend_day: 'sunday',
      user_inactivity_months: 3,
      source_updated_at: now,
    },
    { company_id: 'c2', is_inferred: true },
  ],
  'star.fact_timesheet': [
    sheet('1', {
      assignment_id: 'a1',
      week_ending_date: '2026-10-18',
      created_at: '2026-10-18T10:00:00Z',
      // Half past midnight of the 20th in London.
      approved_at: '2026-10-19T23:30:00Z',
      approved_by_user_id: 'u1',
      version: 3,
      net_hours: 40,
      pay_total: 400,
      charge_total: 500,
      pay_wd_basic: 300,
      charge_wd_basic: 375,
      pay_saturday: 100,
      charge_saturday: 125,
      expense_value: 20,
      rate_wd_charge: 12.5,
    }),
    sheet('2', {
      assignment_id: 'a3',
      worker_id: 'w2',
      week_ending_date: '2026-10-18',
      created_at: '2026-10-17T10:00:00Z',
      approved_at: '2026-10-22T10:00:00Z',
      version: 2,
      net_hours: 10,
      pay_total: 110,
      charge_total: 130,
      rate_wd_charge: 12.5,
    }),
    // Its assignment is gone, and still tells the trade and the order.
    sheet('7', {
      assignment_id: 'a6',
      week_ending_date: '2026-10-18',
      approved_at: '2026-10-20T10:00:00Z',
      net_hours: 5,
      pay_total: 50,
      charge_total: 65,
    }),
    sheet('3', nothingWorked),
    sheet('8', nothingWorked),
    sheet('4', {
      status: 'pending',
      week_ending_date: '2026-10-25',
      net_hours: 8,
      pay_total: 80,
      charge_total: 90,
    }),
    sheet('5', {
      status: 'cancelled',
      week_ending_date: '2026-10-18',
      net_hours: 8,
      pay_total: 80,
      charge_total: 90,
    }),
    sheet('6', {
      week_ending_date: '2026-10-18',
      net_hours: 8,
      pay_total: 80,
      charge_total: 90,
      is_deleted: true,
    }),
  ],
  'history.fact_timesheet': [
    { timesheet_id: '1', status: 'pending', valid_from: '2026-10-18T10:00:00Z' },
    { timesheet_id: '1', status: 'pending_approval', valid_from: '2026-10-19T10:00:00Z' },
    { timesheet_id: '1', status: 'pending_approval', valid_from: '2026-10-19T11:00:00Z' },
    { timesheet_id: '2', status: 'approved', valid_from: '2026-10-19T11:00:00Z' },
  ],
  'star.fact_timelog': [{ timelog_id: 'l1', timesheet_id: '1', total_hours: 40, charge_total_value: 500 }],
  'star.fact_timelog_cost_code': [
    { timelog_cost_code_key: 'x1', timelog_id: 'l1', timesheet_id: '1', hours: 10, cost_code_id: 'cc1' },
    { timelog_cost_code_key: 'x2', timelog_id: 'l1', timesheet_id: '1', hours: 20, cost_code_id: 'cc1' },
  ],
  'star.fact_piece_rate_line': [
    { piece_rate_line_id: 'b1', timesheet_id: '2', units: 5, charge_value: 60, cost_code_id: 'cc2' },
  ],
  'star.fact_assignment': [
    assignment('a1', {
      charge_rate: 12.5,
      charge_value: 80,
      // 9 weeks and a day.
      start_date: '2026-09-01',
      end_date: '2026-11-03',
      purchase_order_id: 'k1',
      has_kid: false,
      has_sds: false,
      has_sdc_file: true,
      confirmed_at: '2026-09-01T00:00:00Z',
    }),
    assignment('a3', {
      project_id: 'p2',
      charge_rate: 12.5,
      charge_value: 100,
      purchase_order_id: 'k2',
      status: 'completed',
    }),
    assignment('a4', { rate_type: 'psc', charge_rate: 20, status: 'ended' }),
    assignment('a6', { trade_id: 't2', purchase_order_id: 'k2', is_deleted: true }),
    assignment('a5', { charge_rate: 10, charge_value: 500, purchase_order_id: 'k1', status: 'cancelled' }),
  ],
  'star.dim_rate': [
    card('general', 11, { source_updated_at: '2026-06-01T00:00:00Z' }),
    card('agency', 12, { agency_id: 'g1' }),
    card('project', 13, { project_id: 'p1' }),
    card('other project', 1, { project_id: 'p9' }),
    card('gone', 1, { project_id: 'p1', agency_id: 'g1', is_deleted: true }),
  ],
  'star.fact_expense': [
    expense('e1', {
      category: 'Accommodation',
      timesheet_id: '1',
      expense_date: '2026-10-21',
      value: 20,
      wra_daily_amount: 10,
      wra_days_paid: 2,
      invoice_id: 'i1',
      cost_code_id: 'cc1',
    }),
    // A Wednesday, in the week that ends on the Sunday after.
    expense('e2', {
      category: 'Mileage',
      expense_date: '2026-10-21',
      value: 12,
      cost_code_id: 'cc2',
      is_wra_applicable: false,
      wra_daily_amount: 10,
      wra_days_paid: 1,
    }),
    // The last day of a week is in it.
    expense('e3', {
      category: 'Mileage',
      expense_date: '2026-10-25',
      value: 5,
      status: 'pending',
      worker_id: 'w2',
    }),
    expense('e4', { category: 'Mileage', value: 7 }),
  ],
}
