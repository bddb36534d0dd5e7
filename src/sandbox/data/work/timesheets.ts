/** Timesheets: one a placement and week, with a history that fits its status. */
import { dayMs, hourMs } from '../../../lib/dates.ts'
import { isShutdown } from '../calendar.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import type { Seed } from '../seed.ts'
import { type BucketValues, type Rates, type Shift, tally, timelogsOf } from './pay.ts'
import { pieceRateEntry } from './piece-work.ts'
import type { Placement } from './placements.ts'
import { weekOfShifts } from './shifts.ts'

export type TimesheetStatus = 'pending' | 'pending_approval' | 'approved' | 'cancelled' | 'absent'

/** Everything of a timesheet that does not follow from its shifts. */
export interface TimesheetBase {
  readonly id: string
  readonly reference: string
  readonly status: TimesheetStatus
  readonly worker: Ref
  /** Searched, never answered: the contract's worker reference here has id and name only. */
  readonly workerReference: string
  readonly company: Ref
  readonly project: Ref
  readonly site: Ref
  readonly agency: Ref
  readonly assignment: { readonly id: string; readonly reference: string }
  readonly payType: string
  readonly rateType: string
  readonly start: string
  readonly end: string
  readonly weekEnding: string
  readonly version: number
  readonly approvalRequestedBy?: Ref & { readonly type: string }
  readonly approvedBy?: Ref
  readonly approvedDate?: string
  readonly timesheetApprovers: readonly Ref[]
  readonly rates: Rates
  readonly pieceRateEntries: readonly ReturnType<typeof pieceRateEntry>[]
  readonly submissionAnswers: readonly object[]
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Timesheet extends TimesheetBase {
  readonly netHours: number
  readonly values: { pay: BucketValues; charge: BucketValues; expense: number }
  readonly timelogs: ReturnType<typeof timelogsOf>
}

/** Records passed in by a caller may lack most of a timesheet. */
export function isWhole(record: object): record is Timesheet {
  return 'timelogs' in record && 'rates' in record && 'values' in record
}

/** Timelogs are built when read: most requests leave them out, and they are most of a timesheet's size. */
export function timesheetRecord(base: TimesheetBase, shifts: readonly Shift[], expense: number): Timesheet {
  const { netHours, pay, charge } = tally(shifts, base.rates)
  return {
    ...base,
    netHours,
    values: { pay, charge, expense },
    get timelogs() {
      return timelogsOf(base, shifts)
    },
  }
}

export interface WrittenTimesheet {
  readonly timesheet: Timesheet
  readonly placement: Placement
  readonly breakHours: number
}

const absentWeek = 0.025
const holidayWeek = 0.05
const pieceWorkWeek = 0.4

export class TimesheetWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  #written = 0

  constructor(seed: Seed) {
    this.#seed = seed
    this.#draw = seed.draw('timesheets')
  }

  /** None for a week of holiday or shutdown. */
  write(placement: Placement, mondayMs: number): WrittenTimesheet | undefined {
    const draw = this.#draw
    if (isShutdown(mondayMs) ? draw.chance(0.85) : draw.chance(holidayWeek)) return undefined
    const absent = draw.chance(absentWeek)
    const shifts = absent ? [] : weekOfShifts(draw, placement, mondayMs)
    if (!absent && shifts.length === 0) return undefined
    this.#written += 1
    const createdMs = mondayMs + 4 * dayMs + 14 * hourMs + Math.floor(draw.fraction() * 56 * hourMs)
    const base = {
      id: draw.id(createdMs),
      reference: reference('TS', this.#written),
      ...this.#history(placement, createdMs, absent),
      ...placeOf(placement, mondayMs),
      pieceRateEntries: this.#pieceWork(placement, shifts, createdMs),
    }
    const breakHours = shifts.reduce((sum, shift) => sum + shift.breakMinutes / 60, 0)
    return { timesheet: timesheetRecord(base, shifts, 0), placement, breakHours }
  }

  /** Created, then handed in, then approved; what would happen after the end of the data has not happened. */
  #history(placement: Placement, createdMs: number, absent: boolean) {
    const draw = this.#draw
    const seed = this.#seed
    const handedInMs = createdMs + draw.fraction() * (draw.chance(0.05) ? 10 * dayMs : 1.5 * dayMs)
    const approvedMs =
      handedInMs + 2 * hourMs + draw.fraction() * (draw.chance(0.06) ? 21 * dayMs : 4 * dayMs)
    const createdAt = iso(createdMs)
    if (absent)
      return { status: 'absent' as const, version: 2, createdAt, updatedAt: this.#at(createdMs, handedInMs) }
    if (handedInMs >= seed.endMs)
      return { status: 'pending' as const, version: 1, createdAt, updatedAt: createdAt }
    const requested = { approvalRequestedBy: placement.requester, createdAt }
    if (approvedMs >= seed.endMs) {
      return { status: 'pending_approval' as const, version: 2, ...requested, updatedAt: iso(handedInMs) }
    }
    const approver = placement.approvers[0]
    const cancelled = draw.chance(0.012)
    const touched = cancelled || draw.chance(0.1)
    return {
      status: cancelled ? ('cancelled' as const) : ('approved' as const),
      version: touched ? 4 : 3,
      ...requested,
      ...(approver ? { approvedBy: approver } : {}),
      approvedDate: iso(approvedMs),
      updatedAt: touched ? this.#at(approvedMs, approvedMs + 30 * dayMs) : iso(approvedMs),
    }
  }

  #at(low: number, high: number): string {
    return iso(this.#draw.time(low, high))
  }

  #pieceWork(placement: Placement, shifts: readonly Shift[], createdMs: number) {
    const { pieceWork } = placement.trade
    if (!pieceWork || shifts.length === 0 || !this.#draw.chance(pieceWorkWeek)) return []
    return [pieceRateEntry(this.#draw, { pieceWork, placement, shifts, createdMs })]
  }
}

function placeOf(placement: Placement, mondayMs: number) {
  const { worker, assignment, company, project, site, agency, payType, rateType, rates } = placement
  return {
    worker: refOf(worker),
    workerReference: worker.reference,
    company,
    project,
    site,
    agency: refOf(agency),
    assignment,
    payType,
    rateType,
    start: iso(mondayMs),
    end: iso(mondayMs + 7 * dayMs - 1),
    weekEnding: iso(mondayMs + 6 * dayMs),
    timesheetApprovers: placement.approvers,
    rates,
    submissionAnswers: placement.answers,
  }
}
