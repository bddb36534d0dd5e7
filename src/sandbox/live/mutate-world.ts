/** Believable changes to a world: the work that goes on while a client reads. */
import { weighted } from '../data/draw.ts'
import type { World } from '../world.ts'
import {
  amendAssignment,
  cancelAssignment,
  confirmAssignment,
  endAssignment,
  reinstateAssignment,
} from './assignment-changes.ts'
import { type Change, ChangeContext, type Occasion } from './change-context.ts'
import { processCreditNote } from './credit-note-changes.ts'
import { editRecord, touchRecord } from './edits.ts'
import { amendExpense, claimExpense, decideExpense, withdrawExpense } from './expense-changes.ts'
import { confirmInvoice, writeInvoice } from './invoice-changes.ts'
import {
  addRate,
  addTrade,
  amendOrder,
  amendRate,
  amendTrade,
  deleteOrder,
  disableTrade,
  expireOrder,
  raiseOrder,
} from './price-changes.ts'
import { approveRequisition, cancelRequisition, raiseRequisition } from './requisition-changes.ts'
import { acceptRequisition, assignWorker, rejectWorker, submitWorker } from './submission-changes.ts'
import { advanceTimesheet, amendTimesheet, deleteTimesheet, writeTimesheet } from './timesheet-changes.ts'
import { cancelTimesheet, markAbsent, unapproveTimesheet } from './timesheet-reversals.ts'

type Kind = (context: ChangeContext) => boolean

const recruitmentKinds: readonly (readonly [Kind, number])[] = [
  [raiseRequisition, 2],
  [approveRequisition, 4],
  [acceptRequisition, 2],
  [submitWorker, 4],
  [rejectWorker, 2],
  [assignWorker, 3],
  [cancelRequisition, 1],
  [confirmAssignment, 2],
  [amendAssignment, 4],
  [cancelAssignment, 1],
  [endAssignment, 1],
  [reinstateAssignment, 1],
]

const priceKinds: readonly (readonly [Kind, number])[] = [
  [processCreditNote, 2],
  [amendRate, 2],
  [amendOrder, 2],
  [raiseOrder, 1],
  [expireOrder, 1],
  [addRate, 1],
  [addTrade, 1],
  [amendTrade, 1],
  [disableTrade, 1],
]

const kinds: readonly (readonly [Kind, number])[] = [
  [advanceTimesheet, 30],
  [amendTimesheet, 18],
  [writeTimesheet, 18],
  [claimExpense, 8],
  [decideExpense, 10],
  [writeInvoice, 5],
  [confirmInvoice, 5],
  [amendExpense, 4],
  [unapproveTimesheet, 3],
  [cancelTimesheet, 2],
  [markAbsent, 2],
  [editRecord, 6],
  ...recruitmentKinds,
  ...priceKinds,
]

const deletions: readonly (readonly [Kind, number])[] = [
  [deleteTimesheet, 4],
  [withdrawExpense, 2],
  [deleteOrder, 1],
]

/** Kinds that find nothing to change are drawn again this often before any record is just saved anew. */
const ATTEMPTS = 20

export interface Mutation extends Occasion {
  readonly count: number
  readonly deletions?: boolean
}

/** Gives what changed, in order: one change may touch two records (an expense and its timesheet). */
export function mutateWorld(world: World, mutation: Mutation): readonly Change[] {
  const context = new ChangeContext(world, mutation)
  const possible = mutation.deletions ? [...kinds, ...deletions] : kinds
  for (let done = 0; done < mutation.count; done += 1) {
    if (!changeOnce(context, possible)) touchRecord(context)
  }
  return context.changes
}

function changeOnce(context: ChangeContext, possible: typeof kinds): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (weighted(context.rng, possible)(context)) return true
  }
  return false
}
