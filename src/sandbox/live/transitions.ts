/** Lists every change that a live world makes by itself: its start records, its effect, its events and its weight. */
import { startOfUtcDay, weekMs } from '../../lib/dates.ts'
import type { PurchaseOrder, RateRecord } from '../data/agreements.ts'
import { cancellation } from '../data/hiring/requisitions.ts'
import { iso, reference, refOf } from '../data/identity.ts'
import type { User } from '../data/master/users.ts'
import { add } from '../data/work/pay.ts'
import { type ChangeContext, create, inStatus, remove, type Transition, update, where } from './change.ts'
import * as hiring from './hiring-changes.ts'
import * as work from './work-changes.ts'

/** Each state has its own list in a batch, even if two states have the same test. */
const openSheet = where('timesheets', 'open', ({ status }) =>
  ['pending', 'pending_approval'].includes(status),
)
const amendableSheet = where('timesheets', 'open to amend', openSheet.test)
const pendingSheet = inStatus('timesheets', 'pending')
const unworkedSheet = where('timesheets', 'not worked', pendingSheet.test)
const anySheet = where('timesheets', 'any', () => true)
const recentSheet = where(
  'timesheets',
  'recent',
  ({ weekEnding }, { nowMs }) => weekEnding > iso(nowMs - 3 * weekMs),
)
const pendingExpense = inStatus('expenses', 'pending')
/** Not price work: its value follows from the piece work on the timesheet. */
const amendableExpense = where(
  'expenses',
  'pending and free',
  row => row.status === 'pending' && row.category !== 'Price work',
)
const namedTrade = where('trades', 'named', () => true)
const anyOrder = where('purchaseOrders', 'any', () => true)
const activeOrder = inStatus('purchaseOrders', 'active')

/** The order decides what a seed draws. */
export const transitions: readonly Transition[] = [
  update('timesheets', 30, {
    from: openSheet,
    make: work.advanced,
    sends: { pending_approval: 'timesheet_approval_requested', approved: 'timesheet_approved' },
  }),
  /** Only open timesheets: an approved one may be on an invoice, whose sums would be wrong. */
  update('timesheets', 18, { from: amendableSheet, make: work.amended, sends: 'timesheet_amended' }),
  create('timesheets', 18, {
    from: context => recentSheet(context) ?? anySheet(context),
    make: work.nextTimesheet,
    also: work.sendNewAssignment,
  }),
  create('expenses', 8, {
    from: context =>
      inStatus('timesheets', context.draw.pick(['pending', 'pending_approval', 'approved']))(context),
    make: work.claimed,
    sends: 'expense_created',
  }),
  update('expenses', 10, {
    from: pendingExpense,
    make: work.decided,
    also: work.addToTimesheet,
    sends: { approved: 'expense_approved', rejected: 'expense_rejected' },
  }),
  create('invoices', 5, {
    from: work.billable,
    make: work.invoicesOf,
    also: work.noteBilled,
    sends: 'invoice_created',
  }),
  update('invoices', 5, {
    from: inStatus('invoices', 'pending'),
    to: 'confirmed',
    make: work.confirmed,
    sends: 'invoice_paid',
  }),
  update('expenses', 4, { from: amendableExpense, make: work.amendedExpense, sends: 'expense_amended' }),
  update('timesheets', 3, { from: work.unbilled, make: work.unapproved, sends: 'timesheet_unapproved' }),
  /** Writes a credit note, even if no invoice bills the timesheet yet. */
  update('timesheets', 2, {
    from: inStatus('timesheets', 'approved'),
    make: timesheet => work.revised(timesheet, { status: 'cancelled' }),
    also: work.creditTimesheet,
    sends: 'timesheet_cancelled',
  }),
  /** The worker was absent: the timesheet loses its hours. */
  update('timesheets', 2, {
    from: work.unclaimed(unworkedSheet),
    make: timesheet => work.revised(timesheet, { status: 'absent', pieceRateEntries: [] }, []),
    sends: 'timesheet_marked_absent',
  }),
  { write: 'update', chance: 6, apply: editLasting },
  create('requisitions', 2, {
    from: where('requisitions', 'any', () => true),
    make: hiring.raised,
    sends: 'requisition_created',
  }),
  update('requisitions', 4, {
    from: inStatus('requisitions', 'raised'),
    make: hiring.approved,
    sends: { raised: 'requisition_approved', approved: ['requisition_approved', 'requisition_received'] },
  }),
  /** Sends no event: only the requisition shows it. */
  update('requisitions', 2, { from: hiring.unanswered, make: hiring.answered }),
  update('requisitions', 4, {
    from: hiring.accepted,
    make: hiring.submitted,
    sends: 'requisition_worker_submitted',
  }),
  update('requisitions', 2, {
    from: hiring.undecided,
    make: hiring.rejected,
    also: (context, { agency }, after) =>
      context.send('requisition_worker_rejected', after, { agencyId: agency.id }),
  }),
  update('requisitions', 3, {
    from: hiring.placeable,
    make: hiring.placed,
    also: hiring.addAssignment,
    sends: { filled: 'requisition_filled' },
  }),
  /** Only before a worker is assigned. */
  update('requisitions', 1, {
    from: where(
      'requisitions',
      'free',
      row => ['raised', 'approved'].includes(row.status) && hiring.assignedTo(row) === 0,
    ),
    to: 'cancelled',
    make: (row, { now }) => ({ ...row, cancellation: cancellation('Work postponed', now) }),
    sends: 'requisition_cancelled',
  }),
  update('assignments', 2, {
    from: hiring.pending,
    to: 'confirmed',
    make: (row, { now }) => ({ ...row, confirmationDate: now }),
    sends: 'assignment_confirmed',
  }),
  update('assignments', 4, {
    from: hiring.amendable,
    make: hiring.amendedAssignment,
    also: hiring.sendAmendment,
  }),
  update('assignments', 1, {
    from: hiring.pending,
    to: 'cancelled',
    make: hiring.calledOff,
    also: hiring.release,
    sends: 'assignment_cancelled',
  }),
  update('assignments', 1, {
    from: where(
      'assignments',
      'running',
      (row, { now }) => row.status === 'confirmed' && row.startDate < now && row.endDate > now,
    ),
    to: 'ended',
    make: hiring.ended,
    sends: 'assignment_ended',
  }),
  /** Only if no replacement was assigned. */
  update('assignments', 1, {
    from: where('assignments', 'ended', row => row.status === 'ended' && row.replacement === undefined),
    to: 'confirmed',
    make: hiring.reinstated,
    sends: 'assignment_reinstated',
  }),
  update('creditNotes', 2, {
    from: inStatus('creditNotes', 'pending'),
    to: 'processed',
    make: work.processed,
    sends: 'credit_note_processed',
  }),
  update('rates', 2, {
    from: where('rates', 'any', () => true),
    make: (rate, { draw }) => ({ ...rate, ...dearer(rate, draw.between(1, 9) * 0.1) }),
    sends: 'rate_amended',
  }),
  update('purchaseOrders', 2, {
    from: activeOrder,
    make: (order, { draw }) => ({ ...order, value: order.value + draw.between(1, 20) * orderStep }),
    sends: 'purchase_order_amended',
  }),
  create('purchaseOrders', 1, { from: anyOrder, make: raisedOrder, sends: 'purchase_order_created' }),
  update('purchaseOrders', 1, {
    from: activeOrder,
    to: 'inactive',
    make: (order, { now }) => ({ ...order, endDate: now }),
    sends: 'purchase_order_expired',
  }),
  create('rates', 1, {
    from: where('rates', 'generic', row => row.project === null && row.agency === null),
    make: projectRate,
    sends: 'rate_created',
  }),
  create('trades', 1, {
    from: namedTrade,
    make: (model, context) => {
      const name = `${model.name}, grade ${context.draw.between(2, 9)}`
      const description = `${name}, agreed for one project`
      return { ...fresh(context, model), name, description, active: true }
    },
    sends: 'trade_created',
  }),
  /** Also enables a disabled trade: the service calls that an amendment. */
  update('trades', 1, {
    from: namedTrade,
    make: (trade, { now }) => {
      const description = `${trade.name}, as agreed on ${now.slice(0, 10)}`
      return { ...trade, active: true, description }
    },
    sends: 'trade_amended',
  }),
  update('trades', 1, {
    from: where('trades', 'active', ({ active }) => active),
    make: trade => ({ ...trade, active: false }),
    sends: 'trade_disabled',
  }),
  remove('timesheets', 4, { from: work.unclaimed(pendingSheet), sends: 'timesheet_deleted' }),
  remove('expenses', 2, { from: pendingExpense, sends: 'expense_deleted' }),
  /** Only if no assignment is charged to it. */
  remove('purchaseOrders', 1, {
    from: context => {
      const used = new Set(context.all('assignments').map(row => row.purchaseOrder))
      return where('purchaseOrders', 'unused', row => !used.has(row.reference))(context)
    },
    sends: 'purchase_order_deleted',
  }),
]

const orderWeeks = 26
const orderStep = 500

function fresh({ draw, nowMs, now }: ChangeContext, model: object): object {
  return { ...model, id: draw.id(nowMs), createdAt: now, updatedAt: now }
}

function raisedOrder(model: PurchaseOrder, context: ChangeContext): object {
  const { revoked, reinstated, ...terms } = model
  const startMs = startOfUtcDay(context.nowMs)
  return {
    ...fresh(context, terms),
    reference: reference('PO', context.world.nextNumber('purchaseOrders')),
    ...{ status: 'active', startDate: iso(startMs), endDate: iso(startMs + orderWeeks * weekMs) },
  }
}

/** More margin in every hourly and daily rate. Charge stays the sum of pay, employer costs and margin. */
function dearer({ rates, dayRates }: RateRecord, more: number) {
  const raised = (sets: RateRecord['rates']) =>
    Object.fromEntries(
      Object.entries(sets).map(([kind, set]) => [
        kind,
        set && { ...set, margin: add(set.margin, more), charge: add(set.charge, more) },
      ]),
    )
  return { rates: raised(rates), dayRates: raised(dayRates) }
}

/** A rate for one project, from the generic rate of a trade. */
function projectRate(model: RateRecord, context: ChangeContext): object | undefined {
  const { id } = model.company
  const project = where('projects', `of ${id}`, ({ company }) => company.id === id)(context)
  if (!project) return undefined
  const { region, sector } = project
  return {
    ...fresh(context, model),
    ...{ region, sector, project: refOf(project), pieceRates: [] },
    ...dearer(model, 0.5),
  }
}

const jobTitles = ['Senior Site Manager', 'Works Manager', 'Planner', 'Commercial Manager']

/** A small edit of a project, site, user or company. */
function editLasting(context: ChangeContext): boolean {
  const { draw, world } = context
  const collection = draw.pick(['projects', 'sites', 'users', 'companies'] as const)
  const record = world.at(collection, draw.fraction())
  if (!record) return false
  if (collection === 'users') editUser(context, record as unknown as User)
  else {
    const phone = { countryCode: '+44', number: `0${draw.digits(10)}` }
    context.update(collection, { ...record, phone })
  }
  return true
}

/** The user's row in the company's list changes with the user. */
function editUser(context: ChangeContext, user: User): void {
  const { draw, world } = context
  const jobTitle = draw.pick(jobTitles)
  const active = draw.chance(0.9) ? user.active : !user.active
  context.update('users', { ...user, jobTitle, active })
  for (const company of user.companies) {
    const row = world.get('companyUsers', `${company}/${user.id}`)
    const status = active ? 'Active' : 'Inactive'
    if (row) world.upsert('companyUsers', { ...row, jobTitle, status })
  }
}
