/** Invoices of that work, their credit notes, and the purchase orders it is on. */
import { type Row, type Story, today } from './story.ts'

const invoice = (id: string, more: Row): Row => ({
  invoice_id: id,
  reference: `INV-${id}`,
  status: 'pending',
  company_id: 'c1',
  agency_id: 'g1',
  msp_id: '-1',
  ...more,
})

export const billing: Story = {
  'star.fact_invoice': [
    invoice('i1', {
      status: 'confirmed',
      invoice_type: 'supplierToClient',
      due_date: '2026-10-01',
      subtotal: 500,
      vat: 100,
      total: 600,
      cis: 20,
      final_total: 580,
    }),
    invoice('i2', {
      invoice_type: 'supplierToMsp',
      due_date: '2026-09-30',
      subtotal: 200,
      vat: 40,
      total: 240,
      cis: 0,
      final_total: 240,
      credit_notes: 55,
      net_value: 145,
    }),
    invoice('i3', { invoice_type: 'mspToClient', subtotal: 10, vat: 2, total: 12, cis: 0, final_total: 12 }),
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
    // A supplier bills the provider for both of these, and the provider the client for one.
    { invoice_timesheet_key: 'j3', invoice_id: 'i2', timesheet_id: '7' },
    { invoice_timesheet_key: 'j4', invoice_id: 'i2', timesheet_id: '8' },
    { invoice_timesheet_key: 'j5', invoice_id: 'i3', timesheet_id: '8' },
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
}
