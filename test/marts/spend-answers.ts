/** What work, papers and access of the stories amount to. */
import type { Answer } from './answers.ts'

const [weekOne, weekTwo] = ['2026-10-18', '2026-10-25']

export const spendAnswers: Readonly<Record<string, Answer>> = {
  labour_spend_weekly: {
    columns:
      'week_ending_date, trade_id, timesheets, workers, net_hours, pay_value, charge_value, margin_value, expense_value, cost_value, cost_per_hour',
    rows: [
      [weekOne, 't1', 2, 2, 50, 510, 630, 120, 20, 650, 13],
      [weekOne, 't2', 1, 1, 5, 50, 65, 15, 0, 65, 13],
      [weekTwo, '-1', 2, 1, 0, 0, 0, 0, 0, 0, null],
    ],
  },
  overtime_uplift: {
    columns:
      'week_ending_date, hour_type, is_premium, pay_value, charge_value, week_pay_value, week_charge_value, pay_share, charge_share',
    rows: [
      [weekOne, 'saturday', true, 100, 125, 560, 695, 100 / 560, 125 / 695],
      [weekOne, 'weekday', false, 460, 570, 560, 695, 460 / 560, 570 / 695],
    ],
  },
  rate_compliance: {
    columns:
      'assignment_id, card_reach, rate_id, card_charge_rate, charge_variance, is_above_card, timesheets, timesheets_above_card, above_card_hours, highest_timesheet_charge_rate',
    rows: [
      ['a1', 'project', 'project', 13, -0.5, false, 1, 0, 0, 12.5],
      ['a3', 'agency', 'agency', 12, 0.5, true, 1, 1, 10, 12.5],
      ['a4', 'none', null, null, null, null, 0, null, null, null],
      ['a5', 'project', 'project', 13, -3, false, 0, 0, 0, null],
    ],
  },
  timesheet_cycle: {
    columns:
      'timesheet_id, week_end_to_created_days, week_end_to_approval_days, waiting_days, is_late, versions, status_changes',
    rows: [
      ['1', 0, 2, null, false, 3, 2],
      ['2', -1, 4, null, true, 2, 0],
      ['3', null, 1, null, false, null, 0],
      ['4', null, null, 8, true, null, 0],
      ['5', null, null, null, null, null, 0],
      ['7', null, 2, null, false, null, 0],
      ['8', null, 1, null, false, null, 0],
    ],
  },
  unbilled_accrual: {
    columns:
      'record_id, accrual_state, timesheet_id, is_billed_to_msp, accrued_charge_value, accrued_expense_value, accrued_value, age_days, age_band',
    rows: [
      ['2', 'approved', '2', false, 130, 0, 130, 15, '15-28'],
      ['3', 'approved', '3', false, 0, 0, 0, 8, '8-14'],
      // Pending, of a week that has ended.
      ['4', 'unapproved', '4', false, 90, 0, 90, 8, '8-14'],
      ['7', 'approved', '7', true, 65, 0, 65, 15, '15-28'],
      ['e2', 'claims', null, false, 0, 12, 12, 8, '8-14'],
      // In no week.
      ['e4', 'claims', null, false, 0, 7, 7, null, null],
    ],
  },
  purchase_order_burn: {
    columns:
      'purchase_order_reference_key, purchase_order_id, is_read, assignments, assignments_without_weeks, company_assignments_known, company_assignments_stored, order_value, committed_if_charged_weekly_value, spent_value, remaining_value, uncommitted_if_charged_weekly_value, remaining_share, weekly_spend_value, projected_exhaustion_date, is_overspent, runs_out_before_end',
    rows: [
      ['k1', 'po1', true, 1, 0, 4, 3, 1000, 800, 500, 500, 200, 0.5, 62.5, '2026-12-28', false, true],
      ['k2', 'k2', false, 1, 1, 4, 3, null, 0, 195, null, null, null, 24.375, null, null, null],
    ],
  },
  compliance_register: {
    columns: 'obligation_type, compliance_key, is_required, is_present, days_to_expiry, expiry_band, state',
    rows: [
      ['confirmation', 'a1|confirmation|', true, true, null, null, 'present'],
      ['document', 'a1|document|1', true, true, 18, '30 days', 'expiring'],
      ['document', 'a1|document|2', true, true, -1, 'expired', 'expired'],
      ['document', 'a1|document|3', true, false, null, null, 'missing'],
      ['document', 'a1|document|4', true, true, 211, 'later', 'present'],
      ['document', 'a1|document|5', false, false, null, null, 'not required'],
      ['kid', 'a1|kid|', true, false, null, null, 'missing'],
      ['qualification', 'a1|qualification|q', true, null, null, null, 'not known'],
      ['sdc', 'a1|sdc|', null, true, null, null, 'present'],
      ['sds', 'a1|sds|', false, false, null, null, 'not required'],
    ],
  },
  cost_code_spend: {
    columns:
      'week_ending_date, cost_code_id, hours, charge_value, piece_units, piece_charge_value, expense_value, project_hours, hours_share',
    rows: [
      [weekOne, '-1', 25, 320, 0, 0, 0, 55, 25 / 55],
      [weekOne, 'cc1', 30, 375, 0, 0, 20, 55, 30 / 55],
      [weekOne, 'cc2', 0, 0, 5, 60, 0, 55, 0],
      [weekTwo, 'cc2', 0, 0, 0, 0, 12, 0, null],
    ],
  },
  expense_summary: {
    columns:
      'week_ending_date, category, category_group, claims, workers, claims_without_timesheet, approved_value, pending_value, rejected_value, approved_wra_value, approved_lodging_value, invoiced_value',
    rows: [
      [weekOne, 'Accommodation', 'lodging', 1, 1, 0, 20, 0, 0, 20, 20, 20],
      [weekTwo, 'Mileage', 'travel', 2, 2, 2, 12, 5, 0, 0, 0, 0],
    ],
  },
  access_review: {
    columns:
      'user_id, permission_id, is_permitted, is_account_active, days_since_activity, is_inactive_but_permitted, is_dormant_but_permitted',
    rows: [
      ['u1', 'amend', false, true, 13, false, false],
      ['u1', 'approve', true, true, 13, false, false],
      ['u2', 'approve', true, true, null, true, true],
      ['u3', 'approve', true, false, null, true, true],
    ],
  },
  data_health: {
    columns:
      'resource, row_count, live_rows, inferred_rows, deleted_rows, expected_rows, coverage_share, compared_figures, unexplained_figures, reconciliation_status, failed_checks, failed_error_checks, failed_rows',
    where: `resource in ('assignments', 'companies', 'credit-notes', 'purchase-orders', 'requisitions', 'timesheets', 'users')`,
    rows: [
      // One that a timesheet names is not read; one that another names is gone, and not missing.
      ['assignments', 5, 4, 0, 1, 5, 0.8, 0, 0, 'short', 0, 0, 0],
      ['companies', 2, 1, 1, 0, 1, 1, 0, 0, 'equal', 0, 0, 0],
      ['credit-notes', 4, 4, 0, 0, null, null, 2, 1, 'differs', 0, 0, 0],
      ['purchase-orders', 3, 1, 2, 0, 2, 0.5, 0, 0, 'short', 0, 0, 0],
      ['requisitions', 0, 0, 0, 0, 0, null, 2, 0, 'equal', 0, 0, 0],
      ['timesheets', 8, 7, 0, 1, 8, 0.875, 2, 1, 'short', 2, 0, 5],
      ['users', 3, 3, 0, 0, null, null, 0, 0, 'not known', 0, 0, 0],
    ],
  },
}
