/** Generates expenses. The timesheet's `values.expense` is the sum of its approved expenses. */
import { dayMs, hourMs, startOfUtcDay } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { defined, iso, linkOf, type RecordLink, refOf } from '../identity.ts'
import type { RecordMaking } from '../master/master-data.ts'
import { costCodes } from '../names.ts'
import { add } from './pay.ts'
import type { WrittenTimesheet } from './timesheets.ts'

interface ExpenseKind {
  readonly category: string
  /** Typical value, in pence. */
  readonly pence: number
  readonly description?: string
  /** Claimed by the hour. */
  readonly hourly?: boolean
}

const kinds: readonly (readonly [ExpenseKind, number])[] = [
  [{ category: 'Mileage', pence: 2700, description: 'Travel to site' }, 20],
  [{ category: 'Parking', pence: 900 }, 12],
  [{ category: 'Fuel', pence: 4200 }, 8],
  [{ category: 'Accommodation', pence: 9300, description: 'Lodging near site' }, 14],
  [{ category: 'Driving hours', pence: 1600, hourly: true }, 6],
  [{ category: 'Training hours', pence: 1500, hourly: true, description: 'Site induction' }, 6],
  [{ category: 'On-call', pence: 5000 }, 4],
  [{ category: 'Out-of-hours callout', pence: 7500 }, 3],
  [{ category: 'Bonus', pence: 10_000, description: 'Section completed early' }, 3],
  [{ category: 'Manager authorised hours', pence: 1900, hourly: true }, 3],
  [{ category: 'Flat rate hours', pence: 1800, hourly: true }, 2],
  [{ category: 'Plant', pence: 6500 }, 2],
  [{ category: 'Vehicles', pence: 5500 }, 2],
  [{ category: 'Other', pence: 2000 }, 2],
]

export type Expense = ReturnType<typeof expenseFor> & { invoice?: RecordLink }

interface ExpenseClaim {
  readonly category: string
  readonly description: string | undefined
  readonly value: number
  readonly hours?: number | undefined
  /** It pays piece work and is decided with its timesheet. */
  readonly settled?: boolean
}

/** Expenses for price work, and the worker's other claims. */
export function makeExpenses(making: RecordMaking, written: WrittenTimesheet): Expense[] {
  const { draw } = making
  const { timesheet } = written
  const claims: ExpenseClaim[] = timesheet.pieceRateEntries.map(entry => ({
    category: 'Price work',
    description: entry.name,
    value: entry.totals.chargeValue,
    settled: true,
  }))
  if (timesheet.status !== 'absent' && draw.chance(0.16)) {
    claims.push(...draw.times(draw.between(1, 2), () => drawClaim(draw)))
  }
  return claims.map(claim => expenseFor(making, written, claim))
}

function expenseFor(making: RecordMaking, { timesheet, placement }: WrittenTimesheet, claim: ExpenseClaim) {
  const { draw } = making
  const writtenMs = Date.parse(timesheet.createdAt)
  const createdMs = draw.time(writtenMs, writtenMs + hourMs)
  const settled = claim.settled ?? false
  const decision = decide(making, { approvedDate: timesheet.approvedDate, createdMs, settled })
  const linked = settled || draw.chance(0.93)
  if (linked && decision.status === 'approved') {
    timesheet.values.expense = add(timesheet.values.expense, claim.value)
  }
  return defined({
    id: draw.id(createdMs),
    category: claim.category,
    description: claim.description,
    ...decision,
    ...expenseDetails(draw, claim, createdMs),
    worker: placement.worker,
    timesheet: linked ? linkOf(timesheet) : undefined,
    company: placement.company,
    project: placement.project,
    agency: timesheet.agency,
    createdBy: refOf(placement.requester),
    approvedBy: decision.status === 'pending' ? undefined : placement.approvers[0],
    /** An application for payment. */
    afp: draw.chance(0.02) ? { id: draw.id(createdMs), reference: draw.reference('AFP') } : undefined,
    createdAt: iso(createdMs),
  })
}

interface ClaimDecision {
  readonly approvedDate: string | undefined
  readonly createdMs: number
  readonly settled: boolean
}

/** Expenses are decided with their timesheet; on other timesheets most are still pending. */
function decide({ draw, seed }: RecordMaking, { approvedDate, createdMs, settled }: ClaimDecision) {
  const status = draw.chance(0.07) && !settled ? 'rejected' : 'approved'
  if (approvedDate !== undefined && Date.parse(approvedDate) >= createdMs) {
    return { status, approvalDate: approvedDate, updatedAt: approvedDate }
  }
  const soonMs = createdMs + draw.fraction() * 2 * dayMs
  if (settled || soonMs >= seed.endMs || draw.chance(0.8)) {
    return { status: 'pending', updatedAt: iso(createdMs) }
  }
  return { status, approvalDate: iso(soonMs), updatedAt: iso(soonMs) }
}

export function drawClaim(draw: Draw): ExpenseClaim {
  const { category, description, hourly, pence } = draw.weighted(kinds)
  const hours = hourly ? draw.between(1, 8) : undefined
  return {
    category,
    description,
    hours,
    value: ((hours ?? 1) * Math.round(pence * (0.6 + draw.fraction() * 0.8))) / 100,
  }
}

export function expenseDetails(draw: Draw, claim: ExpenseClaim, atMs: number) {
  const lodge = claim.category === 'Accommodation'
  const { hours } = claim
  const hasReceipt = draw.chance(0.7)
  return {
    date: iso(startOfUtcDay(atMs)),
    value: claim.value,
    hours,
    rate: {
      value: hours === undefined ? claim.value : Math.round((claim.value / hours) * 100) / 100,
      description: claim.category,
    },
    wra: { applicable: lodge, dailyAmount: lodge ? 46.5 : 0, daysPaid: lodge ? draw.between(1, 5) : 0 },
    costCode: draw.pick(costCodes),
    ...(hasReceipt ? receiptOf(draw, atMs) : { receipts: [], noReceiptReason: 'Receipt was not issued' }),
  }
}

function receiptOf(draw: Draw, atMs: number) {
  const url = `https://files.example.com/receipts/${draw.id(atMs)}`
  return { receipts: [{ fileName: 'receipt.pdf', url, created: iso(atMs) }] }
}
