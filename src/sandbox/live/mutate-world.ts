/** Believable changes to a world: the work that goes on while a client reads. */
import { weighted } from '../data/draw.ts'
import type { World } from '../world.ts'
import { type Change, ChangeContext, type Occasion } from './change-context.ts'
import { editRecord, touchRecord } from './edits.ts'
import { amendExpense, claimExpense, decideExpense, withdrawExpense } from './expense-changes.ts'
import { confirmInvoice, writeInvoice } from './invoice-changes.ts'
import { advanceTimesheet, amendTimesheet, deleteTimesheet, writeTimesheet } from './timesheet-changes.ts'
import { cancelTimesheet, markAbsent, unapproveTimesheet } from './timesheet-reversals.ts'

type Kind = (context: ChangeContext) => boolean

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
]

const deletions: readonly (readonly [Kind, number])[] = [
  [deleteTimesheet, 4],
  [withdrawExpense, 2],
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
