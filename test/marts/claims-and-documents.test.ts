/** Receipts, credit notes, the tax months of deductions, approvals and trades, by hand. */
import { expect, test } from 'vitest'
import { buildAt, day, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

/** An approved claim of £10 for fuel. */
const approvedClaim = (id: string, more: Readonly<Record<string, string | number>> = {}) => ({
  expense_id: id,
  status: 'approved',
  company_id: 'c',
  project_id: 'p',
  category: 'Fuel',
  worker_id: 'w',
  expense_date: '2026-10-20',
  value: 10,
  ...more,
})

/** The receipt of a claim, with its file. */
const receiptFor = (id: string, more = {}) => ({
  expense_receipt_key: id,
  expense_id: id,
  has_file: true,
  ...more,
})

/** An invoice with deductions for tax; `paid` is its payment, as the service writes it. */
const confirmedInvoice = (id: string, paid: string | null) => ({
  invoice_id: id,
  status: 'confirmed',
  company_id: 'c',
  agency_id: 'a',
  subtotal: 100,
  total: 120,
  cis: 20,
  final_total: 100,
  credit_notes: 5,
  confirmed_at: '2026-04-01T10:00:00Z',
  payment_json: paid,
})

/** A timesheet that a user approved at noon on 28 October. */
const approvedTimesheet = (id: string, more: Readonly<Record<string, string>>) => ({
  timesheet_id: id,
  status: 'approved',
  company_id: 'c',
  week_ending_date: '2026-10-25',
  approved_at: '2026-10-28T12:00:00Z',
  approved_by_user_id: 'u',
  ...more,
})

test('a claim is without a receipt when it shows no file of one', async () => {
  await put(made(), 'fact_expense', [
    approvedClaim('with'),
    approvedClaim('without', { value: 25 }),
    approvedClaim('no file', { value: 7 }),
    approvedClaim('removed', { value: 3, status: 'pending' }),
  ])
  await put(made(), 'fact_expense_receipt', [
    receiptFor('with'),
    { ...receiptFor('with'), expense_receipt_key: 'second' },
    receiptFor('no file', { has_file: false }),
    receiptFor('removed', { is_deleted: true }),
  ])
  await buildAt(made(), 'expense_summary')
  expect(
    await made().rows(
      `select cast(claims as integer) as claims, cast(claims_without_receipt as integer) as without, no_receipt_ratio as share,
         cast(approved_without_receipt_value as double) as money from mart.expense_summary`,
    ),
  ).toEqual([{ claims: 4, without: 3, share: 0.75, money: 32 }])
})

test('a deduction belongs to the tax month of its payment, from the 6th to the 5th; credits are a share of their basis', async () => {
  await put(made(), 'fact_invoice', [
    confirmedInvoice('fifth', '{"paymentDate":"2026-05-05"}'),
    confirmedInvoice('sixth', '{"paymentDate":"2026-05-06"}'),
    confirmedInvoice('no day', '{"reference":"BACS"}'),
    confirmedInvoice('unpaid', null),
  ])
  await buildAt(made(), 'invoice_ledger')
  expect(
    await made().rows(
      `select invoice_id as id, cast(cis_tax_month_start_date as text) as month, credit_note_ratio as credited
       from mart.invoice_ledger where perspective = 'client' order by 1`,
    ),
  ).toEqual([
    { id: 'fifth', month: '2026-04-06', credited: 0.05 },
    { id: 'no day', month: '2026-03-06', credited: 0.05 },
    { id: 'sixth', month: '2026-05-06', credited: 0.05 },
    { id: 'unpaid', month: null, credited: 0.05 },
  ])
})

test('approval takes the hours since the submission, and none where only the approval shows it', async () => {
  await put(made(), 'fact_timesheet', [
    approvedTimesheet('submitted first', {}),
    approvedTimesheet('approved only', {}),
  ])
  await made().run(
    `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count,
       signature_ok, state, loaded_at)
     values ('e', 'timesheet_approval_requested', 'timesheet', 'submitted first', '2026-10-26T06:30:00Z', '2026-10-26T06:30:01Z', 1, true,
       'done', '2026-10-26T06:30:01Z')`,
  )
  await buildAt(made(), 'timesheet_cycle')
  expect(
    await made().rows(
      `select timesheet_id as id, cast(approval_hours as double) as hours, approved_by_user_id as approver
       from mart.timesheet_cycle order by 1`,
    ),
  ).toEqual([
    { id: 'approved only', hours: null, approver: 'u' },
    { id: 'submitted first', hours: 53.5, approver: 'u' },
  ])
})

test('an outlier of its trade lies beyond the quartiles of the trade, whatever other trades take', async () => {
  const days = [...[1, 2, 3, 4, 40].map(count => ['joiner', count] as const), ['mason', 40] as const]
  await put(
    made(),
    'fact_requisition',
    days.map(([trade, count]) => ({
      requisition_id: `${trade} ${count}`,
      reference: `${trade} ${count}`,
      status: 'approved',
      company_id: 'c',
      project_id: 'p',
      trade_id: trade,
      approved_at: '2026-06-01T09:00:00Z',
    })),
  )
  await put(
    made(),
    'fact_requisition_agency',
    days.map(([trade, count]) => ({
      requisition_agency_key: `${trade} ${count}`,
      requisition_id: `${trade} ${count}`,
      agency_id: 'a',
      agency_ordinal: 0,
      accepted_at: `${day('2026-06-01', count)}T09:00:00Z`,
    })),
  )
  await buildAt(made(), 'time_to_fill_detail')
  expect(
    await made().rows(
      `select requisition_id as id from mart.time_to_fill_detail where is_outlier_trade order by 1`,
    ),
  ).toEqual([{ id: 'joiner 40' }])
  expect(await made().rows('select count(*)::int as n from mart.time_to_fill_detail')).toEqual([{ n: 6 }])
})
