import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { perspectivesOf } from '../perspectives.ts'
import { addDays, byId, dayOf, daysFrom, groupBy, idOf, monthOf, ratio, sum } from '../words.ts'

interface Open {
  readonly isOpen: boolean
  readonly due: string | null
  readonly paid: string | null
  readonly isPaid: boolean
}

/** The 6th on which the UK tax month of a day began. */
const taxMonthOf = (day: string | null): string | null => day && addDays(monthOf(addDays(day, -5)), 5)

function bucketOf({ isOpen, due }: Open, today: string): string {
  if (!isOpen) return 'settled'
  if (due === null) return 'no due date'
  const days = daysFrom(due, today)
  if (days <= 0) return 'current'
  return days <= 30 ? '1-30' : days <= 60 ? '31-60' : days <= 90 ? '61-90' : '90+'
}

/** What an invoice and a credit note show alike; those of a credit note are below 0. */
function documentOf(record: Raw, open: Open, { today, sign }: { today: string; sign: 1 | -1 }): Expected {
  const { values, weekEnding } = record
  const week = dayOf(weekEnding)
  return {
    reference: record.reference,
    status: record.status,
    company_id: idOf(record.company),
    agency_id: idOf(record.agency),
    msp_id: idOf(record.msp),
    week_ending_date: week,
    due_date: open.due,
    confirmed_at: record.confirmedDate ?? null,
    is_confirmed: ['confirmed', 'processed'].includes(record.status),
    payment_seen: true,
    has_payment: open.isPaid,
    paid_on: open.paid,
    cis_tax_month_start_date: open.isPaid ? taxMonthOf(open.paid ?? dayOf(record.confirmedDate)) : null,
    is_outstanding: open.isOpen,
    days_overdue: open.isOpen && open.due ? Math.max(0, daysFrom(open.due, today)) : null,
    days_to_pay: open.paid && week ? daysFrom(week, open.paid) : null,
    due_bucket: bucketOf(open, today),
    subtotal_value: sign * values.subtotal,
    vat_value: sign * values.vat,
    total_value: sign * values.total,
    cis_value: sign * values.cis,
    final_value: sign * values.finalTotal,
    outstanding_value: open.isOpen ? sign * values.finalTotal : 0,
    unpaid_value: open.isPaid ? 0 : sign * values.finalTotal,
  }
}

const paidOn = ({ payment }: Raw): string | null => dayOf(payment?.paymentDate)
const isPaid = ({ payment }: Raw): boolean => payment != null

/** Both kinds of document show payments in this world, and invoices count their credit notes before VAT. */
function invoicesOf({ live, today }: Service): Expected[] {
  const notesOf = groupBy(live.creditNotes, ({ invoice }) => invoice?.id ?? '')
  return live.invoices.map(invoice => {
    const open = {
      isOpen: !isPaid(invoice),
      due: dayOf(invoice.due),
      paid: paidOn(invoice),
      isPaid: isPaid(invoice),
    }
    const held = sum(notesOf.get(invoice.id) ?? [], ({ values }) => values.subtotal)
    return {
      ...documentOf(invoice, open, { today, sign: 1 }),
      document_type: 'invoice',
      invoice_id: invoice.id,
      credit_note_id: null,
      invoice_type: invoice.invoiceType,
      is_billed_to_msp: invoice.invoiceType === 'supplierToMsp',
      expense_value: invoice.values.expenses,
      invoice_net_value: invoice.values.netValue,
      credit_notes_value: invoice.values.creditNotes,
      credit_notes_basis: 'before VAT',
      stored_credit_notes_value: held,
      credit_notes_gap_value: invoice.values.creditNotes - held,
      creditable_value: invoice.values.subtotal,
      credit_note_ratio: ratio(invoice.values.creditNotes, invoice.values.subtotal),
    }
  })
}

function notesOf({ live, today }: Service): Expected[] {
  const invoices = byId(live.invoices)
  return live.creditNotes.map(note => {
    const invoice = invoices.get(note.invoice?.id)
    const open = {
      isOpen: !isPaid(note),
      due: dayOf(invoice?.due),
      paid: paidOn(note),
      isPaid: isPaid(note),
    }
    return {
      ...documentOf(note, open, { today, sign: -1 }),
      document_type: 'credit_note',
      invoice_id: note.invoice?.id ?? null,
      credit_note_id: note.id,
      invoice_type: note.creditNoteType,
      is_billed_to_msp: note.creditNoteType === 'supplierToMsp',
      expense_value: 0,
      invoice_net_value: null,
      credit_notes_value: null,
      credit_notes_basis: null,
      stored_credit_notes_value: null,
      credit_notes_gap_value: null,
      creditable_value: null,
      credit_note_ratio: null,
    }
  })
}

export const invoiceLedger: Audit = {
  mart: 'invoice_ledger',
  opaque: ['document_key'],
  by: ['document_type', 'invoice_id', 'credit_note_id', 'perspective'],
  rows: service =>
    [...invoicesOf(service), ...notesOf(service)].flatMap(row =>
      perspectivesOf(String(row.invoice_type)).map(perspective => ({ ...row, perspective })),
    ),
}
