/** What happens to expenses: claimed, amended, approved or rejected, withdrawn. */
import { between, chance } from '../data/draw.ts'
import { objectId, type Ref } from '../data/identity.ts'
import { drawClaim, expenseDetails } from '../data/work/expenses.ts'
import { add } from '../data/work/pay.ts'
import type { Timesheet } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'
import { billedTimesheets } from './invoice-changes.ts'
import { drawTimesheet } from './timesheet-changes.ts'

const isPending = (record: StoredRecord) => record.status === 'pending'

export function claimExpense(context: ChangeContext): boolean {
  const timesheet = drawTimesheet(context, ['pending', 'pending_approval', 'approved'])
  const worker = timesheet?.worker as Ref | undefined
  if (!timesheet || !worker) return false
  const claim = drawClaim(context.rng)
  const { category, description } = claim
  const expense = {
    id: objectId(context.rng, context.nowMs),
    status: 'pending',
    category,
    ...(description === undefined ? {} : { description }),
    ...expenseDetails(context.rng, claim, context.nowMs),
    worker: { id: worker.id, reference: timesheet.workerReference, name: worker.name },
    timesheet: { id: timesheet.id, reference: timesheet.reference },
    company: timesheet.company,
    project: timesheet.project,
    agency: timesheet.agency,
    createdBy: timesheet.agency,
    createdAt: context.now,
    updatedAt: context.now,
  }
  context.create('expenses', expense)
  context.tell('expense_created', expense)
  return true
}

/** Only what waits, and no price work: its value is that of the piece work on the timesheet. */
export function amendExpense(context: ChangeContext): boolean {
  const isOpen = (record: StoredRecord) => isPending(record) && record.category !== 'Price work'
  const expense = context.find('expenses', 'pending and free', isOpen)
  if (!expense) return false
  const value = add(Number(expense.value), between(context.rng, 1, 20))
  const rate = { ...(expense.rate as object), value: add(value / Number(expense.hours ?? 1), 0) }
  context.update('expenses', { ...expense, value, rate })
  context.tell('expense_amended', expense)
  return true
}

/** An approved expense changes its timesheet too; once that is invoiced it can only be rejected. */
export function decideExpense(context: ChangeContext): boolean {
  const expense = context.find('expenses', 'pending', isPending)
  if (!expense) return false
  const id = (expense.timesheet as { id: string } | undefined)?.id
  const timesheet = id === undefined ? undefined : context.world.get('timesheets', id)
  const billed = id !== undefined && billedTimesheets(context).has(id)
  const approved = !billed && !chance(context.rng, 0.1)
  const approver = (timesheet?.timesheetApprovers as readonly Ref[] | undefined)?.[0]
  context.update('expenses', {
    ...expense,
    status: approved ? 'approved' : 'rejected',
    approvalDate: context.now,
    ...(approver ? { approvedBy: approver } : {}),
  })
  context.tell(approved ? 'expense_approved' : 'expense_rejected', expense)
  if (approved && timesheet?.values) addToTimesheet(context, timesheet, Number(expense.value))
  return true
}

function addToTimesheet(context: ChangeContext, timesheet: StoredRecord, value: number): void {
  const values = timesheet.values as Timesheet['values']
  const version = Number(timesheet.version ?? 1) + 1
  context.update('timesheets', {
    ...timesheet,
    version,
    values: { ...values, expense: add(values.expense, value) },
  })
}

export function withdrawExpense(context: ChangeContext): boolean {
  const expense = context.find('expenses', 'pending', isPending)
  if (!expense) return false
  context.remove('expenses', expense)
  context.tell('expense_deleted', expense)
  return true
}
