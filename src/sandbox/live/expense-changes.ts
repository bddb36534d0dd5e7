/** Changes of expenses: claimed, amended, approved or rejected, withdrawn. */
import { defined, type Ref } from '../data/identity.ts'
import { drawClaim, expenseDetails } from '../data/work/expenses.ts'
import { add } from '../data/work/pay.ts'
import type { Timesheet } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'
import { billedTimesheets } from './invoice-changes.ts'
import { create, inStatus, remove, update, where } from './transition.ts'

const pending = inStatus('expenses', 'pending')

const timesheetId = ({ timesheet }: StoredRecord): string => (timesheet as Ref | undefined)?.id ?? ''

export const claimExpense = create('expenses', {
  from: context => {
    const status = context.draw.pick(['pending', 'pending_approval', 'approved'])
    return inStatus('timesheets', status)(context)
  },
  make: (timesheet, { draw, now, nowMs }) => {
    const worker = timesheet.worker as Ref | undefined
    if (!worker) return undefined
    const claim = drawClaim(draw)
    const { category, description } = claim
    return defined({
      id: draw.id(nowMs),
      status: 'pending',
      category,
      description,
      ...expenseDetails(draw, claim, nowMs),
      worker: { id: worker.id, reference: timesheet.workerReference, name: worker.name },
      timesheet: { id: timesheet.id, reference: timesheet.reference },
      company: timesheet.company,
      project: timesheet.project,
      agency: timesheet.agency,
      createdBy: timesheet.agency,
      createdAt: now,
      updatedAt: now,
    })
  },
  sends: 'expense_created',
})

/** Not price work: its value follows from the piece work on the timesheet. */
export const amendExpense = update('expenses', {
  from: where(
    'expenses',
    'pending and free',
    row => row.status === 'pending' && row.category !== 'Price work',
  ),
  make: (expense, { draw }) => {
    const value = add(Number(expense.value), draw.between(1, 20))
    const rate = { ...(expense.rate as object), value: add(value / Number(expense.hours ?? 1), 0) }
    return { ...expense, value, rate }
  },
  sends: 'expense_amended',
})

/** Once its timesheet is on an invoice an expense can only be rejected. */
export const decideExpense = update('expenses', {
  from: pending,
  make: (expense, { world, draw, now }) => {
    const timesheet = world.get('timesheets', timesheetId(expense))
    const isBilled = billedTimesheets(world).has(timesheetId(expense))
    const status = !isBilled && !draw.chance(0.1) ? 'approved' : 'rejected'
    const approver = (timesheet?.timesheetApprovers as readonly Ref[] | undefined)?.[0]
    return { ...expense, status, approvalDate: now, ...(approver && { approvedBy: approver }) }
  },
  also: addToTimesheet,
  sends: { approved: 'expense_approved', rejected: 'expense_rejected' },
})

/** An approved expense changes its timesheet too. */
function addToTimesheet(context: ChangeContext, _: StoredRecord, expense: StoredRecord): void {
  const timesheet = context.world.get('timesheets', timesheetId(expense))
  if (expense.status !== 'approved' || !timesheet?.values) return
  const values = timesheet.values as Timesheet['values']
  context.update('timesheets', {
    ...timesheet,
    version: Number(timesheet.version ?? 1) + 1,
    values: { ...values, expense: add(values.expense, Number(expense.value)) },
  })
}

export const withdrawExpense = remove('expenses', { from: pending, sends: 'expense_deleted' })
