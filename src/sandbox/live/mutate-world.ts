/** Makes believable changes to a world, as work goes on while a client reads. */
import type { World } from '../world.ts'
import * as assignments from './assignment-changes.ts'
import { type Change, ChangeContext, type Occasion } from './change-context.ts'
import { editRecord, touchRecord } from './edits.ts'
import * as expenses from './expense-changes.ts'
import * as invoices from './invoice-changes.ts'
import * as prices from './price-changes.ts'
import * as requisitions from './requisition-changes.ts'
import * as submissions from './submission-changes.ts'
import * as timesheets from './timesheet-changes.ts'
import type { Transition } from './transition.ts'

type Weighted = readonly (readonly [Transition, number])[]

/** Every transition, declared in the file of its record, with its weight. The order decides what a seed draws. */
const transitions: Weighted = [
  [timesheets.advanceTimesheet, 30],
  [timesheets.amendTimesheet, 18],
  [timesheets.writeTimesheet, 18],
  [expenses.claimExpense, 8],
  [expenses.decideExpense, 10],
  [invoices.writeInvoice, 5],
  [invoices.confirmInvoice, 5],
  [expenses.amendExpense, 4],
  [timesheets.unapproveTimesheet, 3],
  [timesheets.cancelTimesheet, 2],
  [timesheets.reportAbsence, 2],
  [editRecord, 6],
  [requisitions.raiseRequisition, 2],
  [requisitions.approveRequisition, 4],
  [submissions.acceptRequisition, 2],
  [submissions.submitWorker, 4],
  [submissions.rejectWorker, 2],
  [submissions.assignWorker, 3],
  [requisitions.cancelRequisition, 1],
  [assignments.confirmAssignment, 2],
  [assignments.amendAssignment, 4],
  [assignments.cancelAssignment, 1],
  [assignments.endAssignment, 1],
  [assignments.reinstateAssignment, 1],
  [invoices.processCreditNote, 2],
  [prices.amendRate, 2],
  [prices.amendOrder, 2],
  [prices.raiseOrder, 1],
  [prices.expireOrder, 1],
  [prices.addRate, 1],
  [prices.addTrade, 1],
  [prices.amendTrade, 1],
  [prices.disableTrade, 1],
]

const deletions: Weighted = [
  [timesheets.deleteTimesheet, 4],
  [expenses.withdrawExpense, 2],
  [prices.deleteOrder, 1],
]

/** Draws of a transition before any record is saved unchanged instead: a transition may find no record. */
const attempts = 20

export interface Mutation extends Occasion {
  readonly count: number
  readonly deletions?: boolean
}

/** Returns the changed records in order: one change may touch two (an expense and its timesheet). */
export function mutateWorld(world: World, mutation: Mutation): readonly Change[] {
  const context = new ChangeContext(world, mutation)
  const possible = mutation.deletions ? [...transitions, ...deletions] : transitions
  for (let done = 0; done < mutation.count; done += 1) {
    if (!changeOnce(context, possible)) touchRecord(context)
  }
  return context.changes
}

function changeOnce(context: ChangeContext, possible: Weighted): boolean {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (context.draw.weighted(possible)(context)) return true
  }
  return false
}
