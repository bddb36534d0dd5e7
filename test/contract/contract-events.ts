/** The event types of the contract, typed out from its tables: where the id stands, and which webhooks may subscribe. */

type Kinds = readonly ('company' | 'agency')[]
const both: Kinds = ['company', 'agency']

const groups: readonly (readonly [key: string, kinds: Kinds, types: readonly string[]])[] = [
  [
    'requisition',
    ['company'],
    ['requisition_created', 'requisition_approved', 'requisition_worker_submitted'],
  ],
  ['requisition', ['agency'], ['requisition_received']],
  [
    'requisition',
    both,
    ['requisition_cancelled', 'requisition_filled', 'requisition_worker_rejected', 'requisition_assigned'],
  ],
  [
    'assignment',
    both,
    [
      'assignment_created',
      'assignment_confirmed',
      'assignment_cancelled',
      'assignment_reinstated',
      'assignment_ended',
      'assignment_dates_updated',
      'assignment_rates_updated',
      'assignment_shift_updated',
      'assignment_trade_updated',
    ],
  ],
  [
    'timesheet',
    both,
    [
      'timesheet_approval_requested',
      'timesheet_approved',
      'timesheet_cancelled',
      'timesheet_unapproved',
      'timesheet_amended',
      'timesheet_deleted',
      'timesheet_marked_absent',
    ],
  ],
  [
    'expense',
    both,
    ['expense_created', 'expense_rejected', 'expense_approved', 'expense_amended', 'expense_deleted'],
  ],
  ['invoice', both, ['invoice_created', 'invoice_paid']],
  ['creditNote', both, ['credit_note_processed', 'credit_note_created']],
  [
    'purchaseOrder',
    ['company'],
    ['purchase_order_created', 'purchase_order_amended', 'purchase_order_expired', 'purchase_order_deleted'],
  ],
  ['trade', ['company'], ['trade_created', 'trade_amended', 'trade_disabled']],
  ['rate', ['company'], ['rate_created', 'rate_amended']],
]

export const contractEvents = groups.flatMap(([key, kinds, types]) =>
  types.map(type => ({ type, key, kinds })),
)
