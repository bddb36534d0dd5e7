/** A few records whose marts can be worked out by hand: one project of one company, on 2 November 2026. */
import type { Engine } from '../../src/warehouse/engine.ts'

const today = '2026-11-02'
export const now = '2026-11-02T02:30:00.000Z'
const yesterday = '2026-11-01T02:30:00.000Z'

type Row = Readonly<Record<string, string | number | boolean | null>>

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
  is_stub: false,
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

const permission = (user: string, name: string, more: Row): Row => ({
  user_permission_key: `${user} ${name} ${more.is_permitted}`,
  company_id: 'c1',
  user_id: user,
  project_id: 'p1',
  permission_id: name,
  ...more,
})

const setting = (path: string, value: boolean): Row => ({
  company_setting_key: path,
  company_id: 'c1',
  setting_path: path,
  value_boolean: value,
})

const paper = (ordinal: number, more: Row): Row => ({
  assignment_document_key: `d${ordinal}`,
  assignment_id: 'a1',
  document_ordinal: ordinal,
  name: `Document ${ordinal}`,
  is_required: true,
  has_attachment: true,
  ...more,
})

const result = (check: string, run: number, rows: number): Row => ({
  run_id: `run-${run}`,
  check_name: check,
  subject: rows > 0 ? 'star.fact_timesheet' : '',
  severity: check === 'keys_unique' ? 'error' : 'warn',
  failed_rows: rows,
  sample_keys: '',
  checked_at: `2026-11-0${run}T03:00:00Z`,
})

const invoice = (id: string, more: Row): Row => ({
  invoice_id: id,
  reference: `INV-${id}`,
  status: 'pending',
  company_id: 'c1',
  agency_id: 'g1',
  msp_id: '-1',
  ...more,
})

const records: Readonly<Record<string, readonly Row[]>> = {
  'star.dim_company': [
    {
      company_id: 'c1',
      is_stub: false,
      weekend_day: 'sunday',
      user_inactivity_months: 3,
      source_updated_at: now,
    },
    { company_id: 'c2', is_stub: true },
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
    sheet('3', {
      assignment_id: 'unread',
      week_ending_date: '2026-10-25',
      approved_at: '2026-10-26T10:00:00Z',
      net_hours: 0,
      pay_total: 0,
      charge_total: 0,
    }),
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
      charge_value: 800,
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
    assignment('a5', { charge_rate: 10, charge_value: 500, purchase_order_id: 'k1', status: 'cancelled' }),
  ],
  'star.dim_rate': [
    card('general', 11, { source_updated_at: '2026-06-01T00:00:00Z' }),
    card('agency', 12, { agency_id: 'g1' }),
    card('project', 13, { project_id: 'p1' }),
    card('other project', 1, { project_id: 'p9' }),
    card('gone', 1, { project_id: 'p1', agency_id: 'g1', is_deleted: true }),
  ],
  'star.fact_invoice': [
    invoice('i1', {
      status: 'confirmed',
      due_date: '2026-10-01',
      subtotal: 500,
      vat: 100,
      total: 600,
      cis: 20,
      final_total: 580,
    }),
    invoice('i2', {
      due_date: '2026-09-30',
      subtotal: 200,
      vat: 40,
      total: 240,
      cis: 0,
      final_total: 240,
      credit_notes: 55,
      net_value: 145,
    }),
    invoice('i3', { subtotal: 10, vat: 2, total: 12, cis: 0, final_total: 12 }),
    invoice('i4', {
      due_date: today,
      subtotal: 1,
      vat: 0,
      total: 1,
      cis: 0,
      final_total: 1,
      is_deleted: true,
    }),
  ],
  'star.bridge_invoice_timesheet': [
    { invoice_timesheet_key: 'j1', invoice_id: 'i1', timesheet_id: '1' },
    // Nobody will pay an invoice that is gone.
    { invoice_timesheet_key: 'j2', invoice_id: 'i4', timesheet_id: '2' },
  ],
  'star.fact_credit_note': [
    {
      credit_note_id: 'n1',
      invoice_id: 'i2',
      company_id: 'c1',
      status: 'processed',
      subtotal: 40,
      vat: 8,
      total: 48,
      cis: 0,
      final_total: 48,
    },
    {
      credit_note_id: 'n2',
      invoice_id: 'i2',
      company_id: 'c1',
      status: 'raised',
      subtotal: 5,
      vat: 1,
      total: 6,
      cis: 0,
      final_total: 6,
    },
  ],
  'star.dim_purchase_order': [
    {
      purchase_order_id: 'po1',
      reference: 'PO-1',
      company_id: 'c1',
      value: 1000,
      end_date: '2026-12-31',
      purchase_order_reference_key: 'k1',
      is_stub: false,
    },
    {
      purchase_order_id: 'k1',
      reference: 'PO-1',
      company_id: 'c1',
      purchase_order_reference_key: 'k1',
      is_stub: true,
    },
    {
      purchase_order_id: 'k2',
      reference: 'PO-2',
      company_id: 'c1',
      purchase_order_reference_key: 'k2',
      is_stub: true,
    },
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
    expense('e2', { category: 'Mileage', expense_date: '2026-10-21', value: 12, cost_code_id: 'cc2' }),
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
  'star.dim_company_setting': [
    setting('assignmentRequirements.kid.required', true),
    setting('assignmentRequirements.sds.required', false),
    setting('assignmentRequirements.confirm.company', false),
    setting('assignmentRequirements.confirm.supplier', true),
  ],
  'star.fact_assignment_document': [
    paper(1, { expires_at: '2026-11-20T12:00:00Z' }),
    paper(2, { expires_at: '2026-11-01T12:00:00Z' }),
    paper(3, { has_attachment: false }),
    paper(4, { expires_at: '2027-06-01T12:00:00Z' }),
    paper(5, { has_attachment: false, is_required: false }),
  ],
  'star.fact_competency_requirement': [
    {
      competency_requirement_key: 'q',
      competency_entry_key: 'a1',
      entity: 'assignment',
      rule: 'mandatory',
      qualification_id: '-1',
    },
  ],
  'star.dim_user': [
    { user_id: 'u1', is_active: true, is_stub: false },
    { user_id: 'u2', is_active: true, is_stub: false },
    { user_id: 'u3', is_active: false, is_stub: false },
  ],
  'star.bridge_user_access': [
    { user_access_key: 'm1', company_id: 'c1', user_id: 'u1', status: 'Active' },
    { user_access_key: 'm2', company_id: 'c1', user_id: 'u2', status: 'Inactive' },
  ],
  'star.fact_user_permission': [
    permission('u1', 'approve', { is_permitted: true }),
    permission('u1', 'amend', { is_permitted: false }),
    permission('u2', 'approve', { is_permitted: false }),
    // Listed twice: what one of them permits is permitted.
    permission('u2', 'approve', { is_permitted: true }),
    permission('u3', 'approve', { is_permitted: true }),
  ],
  'ops.check_result': [
    result('keys_unique', 1, 7),
    result('keys_unique', 2, 0),
    result('timelog_hours', 2, 3),
  ],
}

function literal(value: Row[string]): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** The records stand in star as a sync would leave them, but for when and by whom they were read. */
export async function tellStory(engine: Engine): Promise<void> {
  for (const [table, rows] of Object.entries(records)) {
    for (const row of rows) {
      const all: Row =
        table === 'ops.check_result'
          ? row
          : { is_deleted: false, first_loaded_at: yesterday, loaded_at: yesterday, ...row }
      const values = Object.values(all).map(literal).join(', ')
      await engine.run(`insert into ${table} (${Object.keys(all).join(', ')}) values (${values})`)
    }
  }
  await engine.run(
    `insert into ops.watermark (resource, remembered_total, backfilled_at, run_id, moved_at)
     values ('timesheets', 8, '${now}', 'run-1', '${now}'), ('companies', 1, '${now}', 'run-1', '${now}')`,
  )
}
