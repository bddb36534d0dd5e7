/** Expenses. The timesheet's `values.expense` is the sum of its approved expenses. */
import { dayMs, hourMs, startOfUtcDay } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { defined, iso, type Link, linkOf, reference, refOf } from '../identity.ts'
import { costCodes } from '../names.ts'
import type { Seed } from '../seed.ts'
import { add } from './pay.ts'
import type { WrittenTimesheet } from './timesheets.ts'

interface Kind {
  readonly category: string
  /** Typical value, in pence. */
  readonly pence: number
  readonly description?: string
  /** Claimed by the hour. */
  readonly hourly?: boolean
}

const kinds: readonly (readonly [Kind, number])[] = [
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

export type Expense = ReturnType<ExpenseWriter['claim']> & { invoice?: Link }

export interface Claim {
  readonly category: string
  readonly description: string | undefined
  readonly value: number
  readonly hours?: number | undefined
  /** It pays piece work and is decided with its timesheet. */
  readonly settled?: boolean
}

export class ExpenseWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  #afps = 0

  constructor(seed: Seed) {
    this.#seed = seed
    this.#draw = seed.draw('expenses')
  }

  write(written: WrittenTimesheet): Expense[] {
    const draw = this.#draw
    const { timesheet } = written
    const claims: Claim[] = timesheet.pieceRateEntries.map(entry => ({
      category: 'Price work',
      description: entry.name,
      value: entry.totals.chargeValue,
      settled: true,
    }))
    if (timesheet.status !== 'absent' && draw.chance(0.16)) {
      for (let left = draw.between(1, 2); left > 0; left -= 1) claims.push(drawClaim(draw))
    }
    return claims.map(claim => this.claim(written, claim))
  }

  claim({ timesheet, placement }: WrittenTimesheet, claim: Claim) {
    const draw = this.#draw
    const writtenMs = Date.parse(timesheet.createdAt)
    const createdMs = draw.time(writtenMs, writtenMs + hourMs)
    const decision = this.#decision(timesheet, createdMs, claim.settled ?? false)
    const linked = claim.settled || draw.chance(0.93)
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
      afp: draw.chance(0.02) ? this.#afp(createdMs) : undefined,
      createdAt: iso(createdMs),
    })
  }

  /** An application for payment. */
  #afp(createdMs: number): Link {
    this.#afps += 1
    return { id: this.#draw.id(createdMs), reference: reference('AFP', this.#afps) }
  }

  /** Expenses are decided with their timesheet; on other timesheets most are still pending. */
  #decision(timesheet: WrittenTimesheet['timesheet'], createdMs: number, settled: boolean) {
    const { approvedDate } = timesheet
    const status = this.#draw.chance(0.07) && !settled ? 'rejected' : 'approved'
    if (approvedDate !== undefined && Date.parse(approvedDate) >= createdMs) {
      return { status, approvalDate: approvedDate, updatedAt: approvedDate }
    }
    const soonMs = createdMs + this.#draw.fraction() * 2 * dayMs
    if (settled || soonMs >= this.#seed.endMs || this.#draw.chance(0.8)) {
      return { status: 'pending', updatedAt: iso(createdMs) }
    }
    return { status, approvalDate: iso(soonMs), updatedAt: iso(soonMs) }
  }
}

export function drawClaim(draw: Draw): Claim {
  const { category, description, hourly, pence } = draw.weighted(kinds)
  const hours = hourly ? draw.between(1, 8) : undefined
  return {
    category,
    description,
    hours,
    value: ((hours ?? 1) * Math.round(pence * (0.6 + draw.fraction() * 0.8))) / 100,
  }
}

export function expenseDetails(draw: Draw, claim: Claim, atMs: number) {
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
