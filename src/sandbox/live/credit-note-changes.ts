/** What happens to credit notes: written when a timesheet is cancelled, and processed. */
import { creditNoteRecord } from '../data/billing/credit-notes.ts'
import { type Invoice, lineOf } from '../data/billing/invoices.ts'
import { objectId, type Ref, reference } from '../data/identity.ts'
import { add } from '../data/work/pay.ts'
import type { Timesheet } from '../data/work/timesheets.ts'
import type { ChangeContext } from './change-context.ts'

/** One for each invoice that bills the timesheet, whose sums take it in; one alone where none does. */
export function creditTimesheet(context: ChangeContext, timesheet: Timesheet, breakHours: number): void {
  const isOn = ({ timesheets }: Invoice) => timesheets.some(({ id }) => id === timesheet.id)
  const invoices = (context.world.all('invoices') as Invoice[]).filter(row => row.timesheets && isOn(row))
  for (const invoice of invoices.length > 0 ? invoices : [undefined]) {
    const note = {
      ...creditNoteRecord({
        id: objectId(context.rng, context.nowMs),
        reference: reference('CN', context.world.nextNumber('creditNotes')),
        createdMs: context.nowMs,
        cisRate: invoice?.values.cisRate ?? 0,
        reason: 'Timesheet cancelled',
        line: lineOf({ timesheet, breakHours }),
        owner: invoice ?? timesheet,
        invoice,
        timesheet,
      }),
      ...{ status: 'pending', confirmedDate: null, updatedAt: context.now },
    }
    if (invoice) creditInvoice(context, invoice, note.values.subtotal)
    context.create('creditNotes', note)
    context.tell('credit_note_created', note)
  }
}

function creditInvoice(context: ChangeContext, invoice: Invoice, subtotal: number): void {
  const { values } = invoice
  const creditNotes = add(values.creditNotes, subtotal)
  const netValue = add(values.netValue, -subtotal)
  context.update('invoices', { ...invoice, values: { ...values, creditNotes, netValue } })
}

export function processCreditNote(context: ChangeContext): boolean {
  const note = context.find('creditNotes', 'pending', ({ status }) => status === 'pending')
  if (!note) return false
  const finance = context.find('users', 'finance', user => user.role === 'companyFinance') as Ref | undefined
  context.update('creditNotes', {
    ...note,
    status: 'processed',
    confirmedDate: context.now,
    ...(finance ? { confirmedBy: { id: finance.id, name: finance.name } } : {}),
  })
  context.tell('credit_note_processed', note)
  return true
}
