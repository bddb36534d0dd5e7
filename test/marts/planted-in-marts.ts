/** Errors planted in marts, as a faulty statement would leave them. */
import type { Planted } from './planting.ts'

export const first = (mart: string, key: string): string => `${key} = (select min(${key}) from mart.${mart})`

export const plantedInMarts: readonly Planted[] = [
  {
    check: 'mart_accrual_rows',
    subject: 'mart.unbilled_accrual',
    rows: 1,
    statements: [
      `update mart.unbilled_accrual set timesheet_id = (
         select min(b.timesheet_id) from star.bridge_invoice_timesheet as b
         inner join star.fact_invoice as i on i.invoice_id = b.invoice_id where i.invoice_type = 'supplierToClient')
       where timesheet_id = (select min(timesheet_id) from mart.unbilled_accrual)`,
    ],
  },
  {
    check: 'mart_cost_code_totals',
    subject: 'mart.cost_code_spend',
    rows: 1,
    statements: [`update mart.cost_code_spend set hours = hours + 1 where cost_code_id = '-1'`],
  },
  {
    check: 'mart_expense_totals',
    subject: 'mart.expense_summary',
    rows: 1,
    statements: [`update mart.expense_summary set claims = claims + 1 where category = 'Mileage'`],
  },
  {
    check: 'mart_funnel_narrows',
    subject: 'mart.requisition_funnel',
    rows: 1,
    statements: [
      `update mart.requisition_funnel set interviewed = submitted + 1
       where requisition_id || agency_id = (select min(requisition_id || agency_id) from mart.requisition_funnel)`,
    ],
  },
  {
    check: 'mart_headcount_flow',
    subject: 'mart.headcount_weekly',
    statements: [`update mart.headcount_weekly set leavers = leavers + 1 where starters > 0`],
  },
  {
    check: 'mart_health_rows',
    subject: 'mart.data_health',
    rows: 1,
    statements: [`update mart.data_health set live_rows = live_rows + 1 where resource = 'timesheets'`],
  },
  {
    check: 'mart_labour_totals',
    subject: 'mart.labour_spend_weekly',
    rows: 1,
    statements: [`update mart.labour_spend_weekly set net_hours = net_hours + 0.25 where rate_type = 'cis'`],
  },
  {
    check: 'mart_ledger_totals',
    subject: 'mart.invoice_ledger',
    rows: 1,
    statements: [
      `delete from mart.invoice_ledger where document_key = (select min(document_key) from mart.invoice_ledger)`,
    ],
  },
  {
    check: 'mart_worker_week_totals',
    subject: 'mart.worker_week',
    rows: 1,
    statements: [
      `delete from mart.worker_week where worker_id = (select min(worker_id) from mart.worker_week)`,
    ],
  },
  {
    check: 'personal_data_in_mart',
    subject: 'mart.invoice_ledger',
    rows: 1,
    statements: [
      `update mart.invoice_ledger set reference = 'ask 07700 900123'
       where document_key || perspective = (select min(document_key || perspective) from mart.invoice_ledger)`,
    ],
  },
  {
    check: 'mart_approval_rows',
    subject: 'mart.approval_cycle',
    rows: 3,
    statements: [
      `delete from mart.approval_cycle where ${first('approval_cycle', 'requisition_approval_stage_key')}`,
      `update mart.approval_cycle set is_pending = true where requisition_id in (
        select requisition_id from mart.approval_cycle group by requisition_id having count(*) = 2 order by 1 limit 2)`,
    ],
  },
  {
    check: 'mart_demand_rows',
    subject: 'mart.open_demand',
    rows: 2,
    statements: [
      `update mart.open_demand set open_quantity = open_quantity + 1 where ${first('open_demand', 'requisition_id')}`,
      `delete from mart.open_demand where requisition_id = (select max(requisition_id) from mart.open_demand)`,
    ],
  },
  {
    check: 'mart_funnel_totals',
    subject: 'mart.requisition_funnel',
    rows: 1,
    statements: [
      `update mart.requisition_funnel set submissions = submissions + 1
       where requisition_id || agency_id = (select min(requisition_id || agency_id) from mart.requisition_funnel)`,
    ],
  },
  {
    check: 'mart_headcount_hours',
    subject: 'mart.headcount_weekly',
    rows: 1,
    statements: [`update mart.headcount_weekly set net_hours = net_hours + 0.25 where rate_type = 'cis'`],
  },
  {
    check: 'mart_premium_totals',
    subject: 'mart.overtime_uplift',
    rows: 1,
    statements: [
      `update mart.overtime_uplift set pay_value = pay_value + 1, week_pay_value = week_pay_value + 1 where hour_type = 'saturday'`,
    ],
  },
  {
    check: 'mart_scorecard_parts',
    subject: 'mart.supplier_scorecard',
    statements: [`update mart.supplier_scorecard set accepted = received + 1 where received > 0`],
  },
  {
    check: 'mart_scorecard_totals',
    subject: 'mart.supplier_scorecard',
    rows: 1,
    statements: [
      `update mart.supplier_scorecard set spend = spend + 0.01 where ${first('supplier_scorecard', 'agency_id')}`,
    ],
  },
  {
    check: 'mart_stage_flow',
    subject: 'mart.stage_duration',
    statements: [`update mart.stage_duration set open_now = open_now + 1 where stage = 'submitted'`],
  },
  {
    check: 'mart_stage_totals',
    subject: 'mart.stage_duration',
    rows: 1,
    statements: [`delete from mart.stage_duration where stage = 'assigned'`],
  },
  {
    check: 'mart_tenure_totals',
    subject: 'mart.assignment_tenure',
    rows: 1,
    statements: [`delete from mart.assignment_tenure where ${first('assignment_tenure', 'worker_id')}`],
  },
]
