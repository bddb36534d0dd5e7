/** Invoices between suppliers, managed service providers and clients. */
import {
  dayWrittenIn,
  derived,
  fileUrl,
  flag,
  freeText,
  id,
  json,
  keyOf,
  money,
  named,
  number,
  ofRoot,
  oneOf,
  ordinal,
  personal,
  quantity,
  text,
  timestamp,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes } from '../fields/shared-columns.ts'
import { bridge, each, fact } from '../fields/table.ts'

const projects = bridge('invoice_project', 'One row per project that an invoice covers.', {
  invoice_project_key: keyOf('invoice_id', 'project_ordinal'),
  invoice_id: ofRoot('invoice_id'),
  project_ordinal: ordinal(),
  project_id: named('', 'project'),
})

const timesheets = bridge('invoice_timesheet', 'One row per timesheet that an invoice covers.', {
  invoice_timesheet_key: keyOf('invoice_id', 'timesheet_ordinal'),
  invoice_id: ofRoot('invoice_id'),
  timesheet_ordinal: ordinal(),
  timesheet_id: text('id', 'Id of the timesheet.'),
  timesheet_reference: text('reference', 'Reference of the timesheet.'),
})

export const invoices = resource({
  name: 'invoices',
  entity: 'invoice',
  description: 'Invoices with the projects and timesheets they cover.',
  path: '/invoices',
  read: { strategy: 'scan', createdBetween: { dateField: 'createdAt' } },
  updatedAt: 'updatedAt',
  table: fact('invoice', 'One row per invoice.', {
    invoice_id: id('id', 'Id of the invoice.'),
    reference: text('reference', 'Reference.'),
    status: oneOf('status', ['pending', 'confirmed'], 'State.'),
    invoice_type: oneOf(
      'invoiceType',
      ['supplierToClient', 'supplierToMsp', 'mspToClient'],
      'Parties of the invoice, such as supplierToClient.',
    ),
    msp_invoice_type: oneOf('mspInvoiceType', ['receivable', 'payable'], "Seen from the provider's side."),
    company_id: named('company', 'company'),
    agency_id: named('agency', 'agency'),
    msp_id: named('msp', 'msp'),
    week_ending_at: timestamp('weekEnding', 'End of the week it covers.'),
    week_ending_date: dayWrittenIn('week_ending_at', 'Last day of the week it covers.'),
    due_at: timestamp('due', 'When payment is due.'),
    due_date: dayWrittenIn('due_at', 'Day when payment is due.'),
    confirmed_at: timestamp('confirmedDate', 'When it was confirmed or paid.'),
    confirmed_by: personal(json('confirmedBy', 'Who confirmed it; the contract does not show the keys.')),
    payment_json: json('payment', 'Payment; the contract does not show the keys.'),
    reason: freeText('reason', 'Reason of an ad hoc invoice.'),
    comments: freeText('comments', 'Comments on an ad hoc invoice.'),
    is_vat_to_be_applied: flag('vatToBeApplied', 'Ad hoc invoices: VAT asked for before other VAT rules.'),
    gross_hours: quantity('values.grossHours', 'Hours before breaks.'),
    net_hours: quantity('values.netHours', 'Hours after breaks.'),
    subtotal: money('values.subtotal', 'Amount before VAT.'),
    vat: money('values.vat', 'VAT.'),
    total: money('values.total', 'Amount with VAT.'),
    cis: money('values.cis', 'Construction Industry Scheme deduction.'),
    cis_rate: number('values.cisRate', 'Rate of that deduction, as the service gives it.'),
    vat_rate: number('values.vatRate', 'Rate of VAT, as the service gives it.'),
    final_total: money('values.finalTotal', 'Amount after deductions.'),
    expenses: money('values.expenses', 'Expenses on it.'),
    credit_notes: money('values.creditNotes', 'Sum of its credit notes.'),
    net_value: money('values.netValue', 'Amount after credit notes.'),
    invoice_url: fileUrl('files.invoice', 'Address of the document, without its query string.'),
    timesheet_snapshot_url: fileUrl(
      'files.timesheetSnapshot',
      'Address of the timesheets, without its query string.',
    ),
    has_invoice_file: derived('boolean', 'invoice_url is not null', 'Whether there is a document.'),
    has_snapshot_file: derived(
      'boolean',
      'timesheet_snapshot_url is not null',
      'Whether there is a timesheet document.',
    ),
    ...changeTimes,
    projects: each('projects', projects),
    timesheets: each('timesheets', timesheets),
  }),
})
