/** A managed company's amount stands on two documents; each party's view has it once. */
import { describe, expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

type Row = Readonly<Record<string, string | number | boolean | null>>

const invoice = (id: string, type: string | null, more: Row = {}): Row => ({
  invoice_id: id,
  reference: id,
  company_id: 'c1',
  agency_id: type === 'mspToClient' ? '-1' : 'g1',
  msp_id: '-1',
  invoice_type: type,
  status: 'confirmed',
  week_ending_date: '2026-10-04',
  due_date: '2026-10-31',
  created_at: '2026-10-05T09:00:00Z',
  ...more,
})

/** The agency bills the provider 100, which bills the company 110; another company is billed 40 directly. */
const chain: readonly Row[] = [
  invoice('agency', 'supplierToMsp', { final_total: 100 }),
  invoice('provider', 'mspToClient', { final_total: 110 }),
  invoice('direct', 'supplierToClient', {
    final_total: 40,
    company_id: 'c2',
    payment_json: '{"paymentDate":"2026-10-20"}',
  }),
  invoice('ad hoc', null, { final_total: 5, company_id: 'c2' }),
]

const note = (id: string, of: string, type: string | null): Row => ({
  credit_note_id: id,
  invoice_id: of,
  company_id: 'c1',
  status: 'raised',
  credit_note_type: type,
  final_total: 10,
})

async function byPerspective(mart: string, figures: string, where = 'true'): Promise<unknown[][]> {
  const rows = await made().rows<Record<string, unknown>>(
    `select perspective, ${figures} from mart.${mart} where ${where} group by perspective order by perspective`,
  )
  return rows.map(row => Object.values(row))
}

describe('each perspective', () => {
  test('has every amount of the ledger that its party owes or is owed, once', async () => {
    await put(made(), 'fact_invoice', chain)
    // The contract leaves the types of credit notes open: one of another kind is of the type of its invoice.
    await put(made(), 'fact_credit_note', [
      note('n1', 'agency', null),
      note('n2', 'provider', 'mspToClient'),
      note('n3', 'agency', 'full'),
    ])
    await buildAt(made(), 'invoice_ledger')
    expect(
      await byPerspective(
        'invoice_ledger',
        'cast(sum(final_value) as double) as total, count(distinct document_key)::int as n, count(*)::int as m',
      ),
    ).toEqual([
      ['client', 110 + 40 + 5 - 10, 4, 4],
      ['provider', 100 - 10 - 10, 3, 3],
      ['supplier', 100 + 40 + 5 - 10 - 10, 5, 5],
    ])
  })

  test('has what was issued, what is open and, apart, what is pending at the end of a month', async () => {
    await put(made(), 'fact_invoice', [
      ...chain,
      invoice('paid by the client', 'mspToClient', {
        final_total: 7,
        payment_json: '{"paymentDate":"2026-10-20"}',
      }),
      invoice('waits', 'supplierToMsp', { final_total: 1000, status: 'pending' }),
      invoice('waits too', 'supplierToClient', { final_total: 500, company_id: 'c2', status: 'pending' }),
      invoice('paid, not confirmed', 'supplierToClient', {
        final_total: 3,
        company_id: 'c2',
        status: 'pending',
        payment_json: '{"paymentDate":"2026-10-21"}',
      }),
    ])
    await buildAt(made(), 'payment_ageing')
    const figure = (name: string): string => `cast(sum(${name}) as double) as ${name}`
    const names = ['issued_value', 'pending_value', 'paid_value', 'open_value']
    expect(
      await byPerspective('payment_ageing', names.map(figure).join(', '), "month_start_date = '2026-10-01'"),
    ).toEqual([
      ['client', 110 + 40 + 5 + 7 + 3, 500, 40 + 7 + 3, 110 + 5],
      // Nothing that the provider owes shows a payment, so what is open is unknown.
      ['provider', 100, 1000, null, null],
      ['supplier', 100 + 40 + 5 + 3, 1000 + 500, 40 + 3, 5],
    ])
  })
})

describe('a payment', () => {
  const paidAt = async (given: string): Promise<unknown> => {
    await put(made(), 'fact_invoice', [
      invoice('i', 'mspToClient', { final_total: 1, payment_json: JSON.stringify({ paymentDate: given }) }),
    ])
    await buildAt(made(), 'invoice_ledger')
    const [row] = await made().rows<Record<string, unknown>>(
      'select cast(paid_on as text) as paid_on, days_to_pay from mart.invoice_ledger',
    )
    return Object.values(row ?? {})
  }

  test.each([
    ['2026-10-05', '2026-10-05', 1],
    ['2026-10-05T00:00:00.000Z', '2026-10-05', 1],
    ['2026-10-05T23:30:00Z', '2026-10-06', 2],
    ['2026-10-05T23:30:00.123456+00:00', '2026-10-06', 2],
    ['2026-10-06 00:30:00+02:00', '2026-10-05', 1],
    ['2026-10-05T22:59', '2026-10-05', 1],
    ['2026-10-05 at noon', '2026-10-05', 1],
    ['2026-10-05T25:61:00Z', '2026-10-05', 1],
    ['2026-02-30T10:00:00Z', null, null],
    ['soon', null, null],
  ])('given as %s was made on %s in London', async (given, day, days) => {
    expect(await paidAt(given)).toEqual([day, days])
  })
})

describe('the subtotal of an invoice', () => {
  const sheet = (id: string, charge: number): Row => ({
    timesheet_id: id,
    company_id: 'c1',
    status: 'approved',
    charge_total: charge,
  })
  const billed = (id: string, subtotal: number, expenses: number): Row =>
    invoice(id, 'supplierToClient', { subtotal, expenses })
  const names = (id: string, timesheet = id): Row => ({
    invoice_timesheet_key: `${id} ${timesheet}`,
    invoice_id: id,
    timesheet_id: timesheet,
  })

  async function matches(invoices: readonly Row[], charge: number): Promise<unknown> {
    await put(made(), 'fact_invoice', invoices)
    const ids = invoices.map(one => String(one.invoice_id))
    await put(
      made(),
      'fact_timesheet',
      ids.map(id => sheet(id, charge)),
    )
    await put(
      made(),
      'bridge_invoice_timesheet',
      ids.map(id => names(id)),
    )
    await buildAt(made(), 'invoice_match')
    const rows = await made().rows<Record<string, unknown>>(
      `select invoice_id, expense_basis, cast(invoice_value as double) as v, cast(difference_value as double) as d, match_state
       from mart.invoice_match where perspective = 'client' order by invoice_id`,
    )
    return rows.map(row => Object.values(row))
  }

  test('includes expenses where most invoices fit their timesheets so, and no invoice is then billed more by them', async () => {
    const invoices = [billed('a', 120, 20), billed('b', 130, 30), billed('c', 150, 30), billed('d', 100, 0)]
    expect(await matches(invoices, 100)).toEqual([
      ['a', 'with expenses', 100, 0, 'matched'],
      ['b', 'with expenses', 100, 0, 'matched'],
      ['c', 'with expenses', 120, 20, 'billed more'],
      ['d', 'with expenses', 100, 0, 'matched'],
    ])
  })

  test('is without expenses where the invoice itself shows so', async () => {
    const invoices = [billed('a', 120, 20), billed('b', 130, 30), billed('c', 100, 30)]
    expect(await matches(invoices, 100)).toEqual([
      ['a', 'with expenses', 100, 0, 'matched'],
      ['b', 'with expenses', 100, 0, 'matched'],
      ['c', 'without expenses', 100, 0, 'matched'],
    ])
  })

  test('has no known basis where none fits', async () => {
    expect(await matches([billed('a', 150, 20)], 100)).toEqual([['a', 'not known', 150, 50, 'billed more']])
  })
})

describe('a claim of a managed company', () => {
  const claim = (id: string, invoiceId: string | null, timesheet: string | null): Row => ({
    expense_id: id,
    company_id: 'c1',
    status: 'approved',
    approved_at: '2026-09-30T09:00:00Z',
    expense_date: '2026-09-28',
    value: 10,
    invoice_id: invoiceId,
    timesheet_id: timesheet,
  })

  test('is billed once the provider bills its timesheet, and not by the bill of the agency alone', async () => {
    await put(made(), 'fact_invoice', [
      invoice('agency', 'supplierToMsp', { final_total: 100 }),
      invoice('late agency', 'supplierToMsp', { final_total: 10, created_at: '2026-11-01T09:00:00Z' }),
      invoice('provider', 'mspToClient', { final_total: 110, created_at: '2026-10-06T09:00:00Z' }),
    ])
    await put(made(), 'bridge_invoice_timesheet', [
      { invoice_timesheet_key: '1', invoice_id: 'agency', timesheet_id: 't1' },
      { invoice_timesheet_key: '2', invoice_id: 'agency', timesheet_id: 't2' },
      { invoice_timesheet_key: '3', invoice_id: 'provider', timesheet_id: 't1' },
    ])
    await put(made(), 'fact_expense', [
      claim('passed on', 'agency', 't1'),
      claim('passed on later', 'late agency', 't1'),
      claim('with the provider', 'agency', 't2'),
      claim('without a timesheet', 'agency', null),
      claim('on no invoice', null, 't1'),
    ])
    await buildAt(made(), 'unbilled_accrual')
    const rows = await made().rows<Record<string, unknown>>(
      `select record_id, is_billed_to_msp from mart.unbilled_accrual order by record_id`,
    )
    expect(rows.map(row => Object.values(row))).toEqual([
      ['on no invoice', false],
      ['with the provider', true],
      ['without a timesheet', true],
    ])
  })
})
