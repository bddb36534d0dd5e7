/** Declares the 42 event types of the service: the record each is about, where its id is, and which webhooks may subscribe. */

export type EventEntity =
  | 'requisition'
  | 'assignment'
  | 'timesheet'
  | 'expense'
  | 'invoice'
  | 'credit_note'
  | 'trade'
  | 'rate'
  | 'purchase_order'

/**
 * The name under `data` of an event that contains the record's id. The contract shows no name for trade_created,
 * trade_disabled, rates, purchase orders and credit_note_created; for these it is the entity's own name.
 */
export const payloadKeys: Readonly<Record<EventEntity, string>> = {
  requisition: 'requisition',
  assignment: 'assignment',
  timesheet: 'timesheet',
  expense: 'expense',
  invoice: 'invoice',
  credit_note: 'creditNote',
  trade: 'trade',
  rate: 'rate',
  purchase_order: 'purchaseOrder',
}

export interface EventRule {
  readonly entity: EventEntity
  /** Whether a webhook of a hiring company may subscribe. */
  readonly company: boolean
  /** Whether a webhook of an agency may; it then gets events about that agency's records only. */
  readonly agency: boolean
  /** The record was deleted and can no longer be read. */
  readonly deletes?: true
}

function about<Entity extends EventEntity>(entity: Entity) {
  return {
    both: { entity, company: true, agency: true },
    bothDeleted: { entity, company: true, agency: true, deletes: true },
    companyOnly: { entity, company: true, agency: false },
    companyDeleted: { entity, company: true, agency: false, deletes: true },
    agencyOnly: { entity, company: false, agency: true },
  } as const
}

const requisition = about('requisition')
const assignment = about('assignment')
const timesheet = about('timesheet')
const expense = about('expense')
const invoice = about('invoice')
const creditNote = about('credit_note')
const trade = about('trade')
const rate = about('rate')
const purchaseOrder = about('purchase_order')

export const events = {
  requisition_created: requisition.companyOnly,
  requisition_approved: requisition.companyOnly,
  requisition_received: requisition.agencyOnly,
  requisition_cancelled: requisition.both,
  requisition_filled: requisition.both,
  requisition_worker_submitted: requisition.companyOnly,
  requisition_worker_rejected: requisition.both,
  requisition_assigned: requisition.both,
  assignment_created: assignment.both,
  assignment_confirmed: assignment.both,
  assignment_cancelled: assignment.both,
  assignment_reinstated: assignment.both,
  assignment_ended: assignment.both,
  assignment_dates_updated: assignment.both,
  assignment_rates_updated: assignment.both,
  assignment_shift_updated: assignment.both,
  assignment_trade_updated: assignment.both,
  timesheet_approval_requested: timesheet.both,
  timesheet_approved: timesheet.both,
  timesheet_cancelled: timesheet.both,
  timesheet_unapproved: timesheet.both,
  timesheet_amended: timesheet.both,
  timesheet_deleted: timesheet.bothDeleted,
  timesheet_marked_absent: timesheet.both,
  expense_created: expense.both,
  expense_rejected: expense.both,
  expense_approved: expense.both,
  expense_amended: expense.both,
  expense_deleted: expense.bothDeleted,
  invoice_created: invoice.both,
  invoice_paid: invoice.both,
  credit_note_created: creditNote.both,
  credit_note_processed: creditNote.both,
  trade_created: trade.companyOnly,
  trade_amended: trade.companyOnly,
  trade_disabled: trade.companyOnly,
  rate_created: rate.companyOnly,
  rate_amended: rate.companyOnly,
  purchase_order_created: purchaseOrder.companyOnly,
  purchase_order_amended: purchaseOrder.companyOnly,
  purchase_order_expired: purchaseOrder.companyOnly,
  purchase_order_deleted: purchaseOrder.companyDeleted,
} as const satisfies Readonly<Record<string, EventRule>>

export type EventType = keyof typeof events

export const eventTypes = Object.keys(events) as readonly EventType[]

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(events, text)
}

export function eventRule(type: EventType): EventRule {
  return events[type]
}
