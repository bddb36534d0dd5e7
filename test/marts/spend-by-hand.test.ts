/** What spending, invoices, papers and access amount to, on records few enough to work it out by hand. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { everyCheck, martGate } from '../../src/marts/checks/gate.ts'
import { readMarts } from '../../src/marts/mart.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { billing } from './billing-story.ts'
import { health } from './health-story.ts'
import { papers } from './papers-story.ts'
import { spending } from './spend-story.ts'
import { now, tellStory } from './story.ts'

type Cell = string | number | boolean | null

interface Answer {
  readonly columns: string
  /** Which rows, when not all. */
  readonly where?: string
  readonly rows: readonly (readonly Cell[])[]
}

const [weekOne, weekTwo] = ['2026-10-18', '2026-10-25']

/** By mart; rows are sorted by their first two columns. */
const answers: Readonly<Record<string, Answer>> = {
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
      ['5', null, null, null, false, null, 0],
      ['7', null, 2, null, false, null, 0],
      ['8', null, 1, null, false, null, 0],
    ],
  },
  unbilled_accrual: {
    columns:
      'timesheet_id, is_billed_to_msp, accrued_charge_value, accrued_expense_value, accrued_value, age_days, age_band',
    rows: [
      ['2', false, 130, 0, 130, 15, '15-28'],
      ['3', false, 0, 0, 0, 8, '8-14'],
      ['7', true, 65, 0, 65, 15, '15-28'],
    ],
  },
  invoice_ledger: {
    columns:
      'document_key, is_billed_to_msp, is_confirmed, has_payment, paid_on, days_to_pay, is_outstanding, days_overdue, due_bucket, subtotal_value, final_value, outstanding_value, unpaid_value, credit_notes_value, credit_notes_basis, credit_notes_held_value, credit_notes_gap_value',
    rows: [
      // It takes from its invoice, which is open, although it is processed.
      [
        'credit_note|n1',
        true,
        true,
        false,
        null,
        null,
        true,
        33,
        '31-60',
        -40,
        -48,
        -48,
        -48,
        null,
        null,
        null,
        null,
      ],
      [
        'credit_note|n2',
        true,
        false,
        false,
        null,
        null,
        true,
        33,
        '31-60',
        -5,
        -6,
        -6,
        -6,
        null,
        null,
        null,
        null,
      ],
      [
        'credit_note|n3',
        false,
        true,
        false,
        null,
        null,
        true,
        2,
        '1-30',
        -20,
        -24,
        -24,
        -24,
        null,
        null,
        null,
        null,
      ],
      [
        'credit_note|n4',
        false,
        true,
        true,
        '2026-10-09',
        null,
        false,
        null,
        'settled',
        0,
        0,
        0,
        0,
        null,
        null,
        null,
        null,
      ],
      [
        'invoice|i1',
        false,
        true,
        true,
        '2026-09-28',
        22,
        false,
        null,
        'settled',
        500,
        580,
        0,
        0,
        0,
        'with VAT',
        0,
        0,
      ],
      [
        'invoice|i2',
        true,
        false,
        false,
        null,
        null,
        true,
        33,
        '31-60',
        200,
        240,
        240,
        240,
        55,
        'with VAT',
        54,
        1,
      ],
      [
        'invoice|i3',
        false,
        false,
        false,
        null,
        null,
        true,
        null,
        'no due date',
        10,
        12,
        12,
        12,
        0,
        'with VAT',
        0,
        0,
      ],
      [
        'invoice|i5',
        false,
        true,
        false,
        null,
        null,
        true,
        2,
        '1-30',
        300,
        360,
        360,
        360,
        24,
        'with VAT',
        24,
        0,
      ],
    ],
  },
  purchase_order_burn: {
    columns:
      'purchase_order_reference_key, purchase_order_id, is_read, assignments, assignments_without_weeks, company_assignments_known, company_assignments_held, order_value, committed_if_charged_weekly_value, spent_value, remaining_value, uncommitted_if_charged_weekly_value, remaining_share, weekly_spend_value, projected_exhaustion_date, is_overspent, runs_out_before_end',
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
      'resource, row_count, live_rows, stub_rows, deleted_rows, expected_rows, coverage_share, compared_figures, unexplained_figures, reconciliation_status, failed_checks, failed_error_checks, failed_rows',
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

/** Decimals and counts come as text. */
function cellOf(value: unknown): Cell {
  if (typeof value === 'string' && /^-?\d+\.\d+$/.test(value)) return Number(value)
  return typeof value === 'bigint' ? Number(value) : (value as Cell)
}

async function rowsOf(engine: Engine, name: string, { columns, where = 'true' }: Answer): Promise<Cell[][]> {
  const rows = await engine.rows(`select ${columns} from mart.${name} where ${where} order by 1, 2`)
  return rows.map(row => Object.values(row).map(cellOf))
}

const asNumbers = ({ rows }: Answer) =>
  rows.map(row => row.map(cell => (typeof cell === 'number' ? expect.toSatisfy(isNear(cell)) : cell)))

const isNear = (wanted: number) => (got: unknown) => Math.abs(Number(got) - wanted) < 1e-9 && got !== null

describeOnEngines('marts of spending, papers and access', bench => {
  test('are what one works out by hand', async () => {
    const { engine } = await bench.warehouse()
    for (const story of [spending, billing, papers, health]) await tellStory(engine, story)
    const marts = readMarts()
    const clock = { now: () => Date.parse(now), sleep: async () => undefined }
    const { marts: built } = await buildMarts(
      {
        engine,
        clock,
        rng: seededRng(1),
        signal: new AbortController().signal,
        version: 'test',
        gate: martGate(everyCheck(marts), clock),
        onMart: () => undefined,
      },
      { marts, names: Object.keys(answers), all: false },
    )
    expect(
      built.filter(({ state }) => state !== 'built').map(({ name, message }) => [name, message]),
    ).toEqual([])
    const got: Record<string, unknown> = {}
    const wanted: Record<string, unknown> = {}
    for (const [name, answer] of Object.entries(answers)) {
      got[name] = await rowsOf(engine, name, answer)
      wanted[name] = asNumbers(answer)
    }
    expect(got).toEqual(wanted)
  })
})
