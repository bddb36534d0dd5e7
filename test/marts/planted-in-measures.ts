/** Errors planted in marts about programmes, payment and people, as a faulty statement would leave them. */
import { first } from './planted-in-marts.ts'
import type { Planted } from './planting.ts'

export const plantedInMeasures: readonly Planted[] = [
  {
    check: 'mart_attendance_totals',
    subject: 'mart.attendance_weekly',
    rows: 1,
    statements: [
      `update mart.attendance_weekly set timesheets = timesheets + 1 where company_id || project_id || agency_id || cast(week_ending_date as text) = (select min(company_id || project_id || agency_id || cast(week_ending_date as text)) from mart.attendance_weekly)`,
    ],
  },
  {
    check: 'mart_card_coverage_totals',
    subject: 'mart.rate_card_coverage',
    rows: 1,
    statements: [`update mart.rate_card_coverage set net_hours = net_hours + 0.5 where reason = 'on a card'`],
  },
  {
    check: 'mart_concentration_totals',
    subject: 'mart.spend_concentration',
    rows: 1,
    statements: [`update mart.spend_concentration set spend = spend + 1 where managed_spend > 0`],
  },
  {
    check: 'mart_fill_totals',
    subject: 'mart.programme_fill',
    rows: 1,
    statements: [`update mart.programme_fill set seats = seats + 1`],
  },
  {
    check: 'mart_forecast_adds_up',
    subject: 'mart.purchase_order_forecast',
    rows: 1,
    statements: [
      `update mart.purchase_order_forecast set variance_value = variance_value + 1 where ${first('purchase_order_forecast', 'purchase_order_reference_key')}`,
    ],
  },
  {
    check: 'mart_lost_totals',
    subject: 'mart.lost_placements',
    rows: 1,
    statements: [`delete from mart.lost_placements where loss = 'worker rejected'`],
  },
  {
    check: 'mart_margin_totals',
    subject: 'mart.agency_margin',
    rows: 1,
    statements: [
      `update mart.agency_margin set charge_value = charge_value + 0.01 where work_kind = 'hours'`,
    ],
  },
  {
    check: 'mart_match_rows',
    subject: 'mart.invoice_match',
    rows: 1,
    statements: [`delete from mart.invoice_match where ${first('invoice_match', 'invoice_id')}`],
  },
  {
    check: 'mart_payment_totals',
    subject: 'mart.payment_ageing',
    statements: [`update mart.payment_ageing set not_due_value = not_due_value + 1`],
  },
  {
    check: 'mart_retention_falls',
    subject: 'mart.retention_curve',
    statements: [`update mart.retention_curve set retained = workers + 1 where weeks = 4`],
  },
  {
    check: 'mart_workforce_flow',
    subject: 'mart.workforce_flow',
    statements: [`update mart.workforce_flow set leavers = leavers + 1 where starters > 0`],
  },
  {
    check: 'mart_currencies',
    subject: 'mart.labour_spend_weekly',
    statements: [`update mart.labour_spend_weekly set currency = 'XXX'`],
  },
  {
    check: 'currencies_known',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [
      `update ops.company_currency set currency = 'unknown' where company_id = (select min(company_id) from star.fact_timesheet where status = 'approved')`,
      `update star.fact_timesheet set company_id = 'another' where timesheet_id = (select max(timesheet_id) from star.fact_timesheet where status = 'approved')`,
    ],
  },
  {
    check: 'mart_month_end_unchanged',
    subject: 'mart.accrual_month_end',
    rows: 1,
    statements: [
      `update mart.accrual_month_end set recorded_value = recorded_value + 1 where recorded_records > 0`,
    ],
  },
  {
    check: 'mart_placement_counts',
    subject: 'mart.time_to_fill',
    rows: 1,
    statements: [`update mart.time_to_fill set time_to_start_count = raw_count + 1 where group_by = 'all'`],
  },
]
