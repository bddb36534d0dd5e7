/** What the ledger says of a service that shows no payments, and of one that tells of them by events alone. */
import { describe, expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

type Row = Readonly<Record<string, string | number | boolean | null>>

const invoice = (id: string, more: Row): Row => ({
  invoice_id: id,
  reference: id,
  company_id: 'c1',
  agency_id: 'g1',
  msp_id: '-1',
  invoice_type: 'supplierToClient',
  week_ending_date: '2026-10-04',
  due_date: '2026-10-31',
  subtotal: 100,
  vat: 20,
  total: 120,
  cis: 0,
  final_total: 120,
  ...more,
})

const invoices: readonly Row[] = [
  invoice('confirmed', { status: 'confirmed', payment_json: '{}' }),
  invoice('pending', { status: 'pending' }),
]

const credit: Row = {
  credit_note_id: 'n',
  invoice_id: 'confirmed',
  company_id: 'c1',
  status: 'processed',
  subtotal: 10,
  vat: 2,
  total: 12,
  cis: 0,
  final_total: 12,
}

const columns = `payment_seen, has_payment, paid_on, is_outstanding, due_bucket,
  cast(outstanding_value as double) as outstanding, cast(unpaid_value as double) as unpaid`

async function ledger(): Promise<Record<string, unknown[]>> {
  await put(made(), 'fact_invoice', invoices)
  await put(made(), 'fact_credit_note', [credit])
  await buildAt(made(), 'invoice_ledger')
  const rows = await made().rows<Record<string, unknown>>(
    `select document_key, ${columns} from mart.invoice_ledger order by document_key`,
  )
  return Object.fromEntries(rows.map(({ document_key: key, ...row }) => [String(key), Object.values(row)]))
}

describe('an invoice', () => {
  test('that is confirmed is neither open nor settled where no payment is ever shown', async () => {
    expect(await ledger()).toEqual({
      'credit_note|n': [false, null, null, null, 'not known', null, null],
      'invoice|confirmed': [false, null, null, null, 'not known', null, null],
      'invoice|pending': [false, null, null, true, '1-30', 120, null],
    })
  })

  test('is settled where an event announced its payment, and open otherwise', async () => {
    // In London the day after has begun.
    await made().run(
      `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count,
         signature_ok, state, loaded_at)
       values ('e1', 'invoice_paid', 'invoice', 'pending', '2026-09-30T23:30:00Z', '2026-10-01T00:00:00Z', 1, true, 'done',
         '2026-10-01T00:00:00Z')`,
    )
    expect(await ledger()).toEqual({
      'credit_note|n': [false, null, null, true, '1-30', -12, null],
      'invoice|confirmed': [true, false, null, true, '1-30', 120, 120],
      'invoice|pending': [true, true, '2026-10-01', false, 'settled', 0, 0],
    })
  })
})
