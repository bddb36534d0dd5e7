/** Generates timesheets: one per placement and week, with times that fit its status. */
import { dayMs, hourMs } from '../../../lib/dates.ts'
import { calendarDay, isShutdown } from '../calendar.ts'
import type { Draw } from '../draw.ts'
import { iso, partId, type Ref, refOf } from '../identity.ts'
import type { RecordMaking } from '../master/master-data.ts'
import { costCodes } from '../names.ts'
import {
  type Allocation,
  add,
  type BucketValues,
  pieceRateId,
  pieceTerms,
  pieceValues,
  sumShifts,
  timelogsOf,
  times,
  type WorkedShift,
} from './pay.ts'
import type { Placement } from './placements.ts'

type TimesheetStatus = 'pending' | 'pending_approval' | 'approved' | 'cancelled' | 'absent'

/** All fields of a timesheet that do not follow from its shifts. */
export type TimesheetBase = TimesheetIdentity & History & ReturnType<typeof workplaceOf>

interface TimesheetIdentity {
  readonly id: string
  readonly reference: string
  readonly pieceRateEntries: ReturnType<typeof pieceRateEntries>
}

interface History {
  readonly status: TimesheetStatus
  readonly version: number
  readonly approvalRequestedBy?: Placement['requester']
  readonly approvedBy?: Ref
  readonly approvedDate?: string
  readonly createdAt: string
  readonly updatedAt: string
}

export type Timesheet = TimesheetBase & {
  readonly netHours: number
  readonly values: { pay: BucketValues; charge: BucketValues; expense: number }
  readonly timelogs: ReturnType<typeof timelogsOf>
}

/** Timelogs are built when read: they are most of a timesheet's size, and most requests leave them out. */
export function timesheetRecord(
  base: TimesheetBase,
  shifts: readonly WorkedShift[],
  expense: number,
): Timesheet {
  const { netHours, pay, charge } = sumShifts(shifts, base.rates)
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

/** Shares of weeks and days. */
const absentDay = 0.04
const bankHolidayWorked = 0.25
const extraSaturday = 0.07
const absentWeek = 0.025
const holidayWeek = 0.05
const pieceWorkWeek = 0.4

/** Undefined for a week of holiday or shutdown. */
export function makeTimesheet(
  making: RecordMaking,
  placement: Placement,
  mondayMs: number,
): WrittenTimesheet | undefined {
  const { draw } = making
  if (isShutdown(mondayMs) ? draw.chance(0.85) : draw.chance(holidayWeek)) return undefined
  const absent = draw.chance(absentWeek)
  const shifts = absent ? [] : weekOfShifts(draw, placement, mondayMs)
  if (!absent && shifts.length === 0) return undefined
  const createdMs = mondayMs + 4 * dayMs + 14 * hourMs + Math.floor(draw.fraction() * 56 * hourMs)
  const base = {
    id: draw.id(createdMs),
    reference: draw.reference('TS'),
    ...historyOf(making, placement, { createdMs, absent }),
    ...workplaceOf(placement, mondayMs),
    pieceRateEntries: pieceRateEntries(draw, placement, { shifts, createdMs }),
  }
  const breakHours = shifts.reduce((sum, shift) => sum + shift.breakMinutes / 60, 0)
  return { timesheet: timesheetRecord(base, shifts, 0), placement, breakHours }
}

/** Created, then handed in, then approved, as far as that is before the end of the data. */
function historyOf(
  { draw, seed: { endMs } }: RecordMaking,
  { requester, approvers }: Placement,
  { createdMs, absent }: { createdMs: number; absent: boolean },
): History {
  const handedInMs = createdMs + draw.fraction() * (draw.chance(0.05) ? 10 * dayMs : 1.5 * dayMs)
  const approvedMs = handedInMs + 2 * hourMs + draw.fraction() * (draw.chance(0.06) ? 21 * dayMs : 4 * dayMs)
  const createdAt = iso(createdMs)
  const between = (fromMs: number, untilMs: number) => iso(draw.time(fromMs, untilMs))
  if (absent) return { status: 'absent', version: 2, createdAt, updatedAt: between(createdMs, handedInMs) }
  if (handedInMs >= endMs) return { status: 'pending', version: 1, createdAt, updatedAt: createdAt }
  const requested = { approvalRequestedBy: requester, createdAt }
  if (approvedMs >= endMs)
    return { status: 'pending_approval', version: 2, ...requested, updatedAt: iso(handedInMs) }
  const [approvedBy] = approvers
  const cancelled = draw.chance(0.012)
  const touched = cancelled || draw.chance(0.1)
  return {
    status: cancelled ? 'cancelled' : 'approved',
    version: touched ? 4 : 3,
    ...requested,
    ...(approvedBy && { approvedBy }),
    approvedDate: iso(approvedMs),
    updatedAt: touched ? between(approvedMs, approvedMs + 30 * dayMs) : iso(approvedMs),
  }
}

function workplaceOf(placement: Placement, mondayMs: number) {
  const { worker, assignment, company, project, site, agency, payType, rateType, rates } = placement
  return {
    worker: refOf(worker),
    /** For search only. Responses leave it out: the contract's worker reference has id and name only. */
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

/** The days worked, with hours and cost codes. */
function weekOfShifts(draw: Draw, placement: Placement, mondayMs: number): WorkedShift[] {
  const days =
    placement.days.includes(5) || !draw.chance(extraSaturday) ? placement.days : [...placement.days, 5]
  return days.flatMap(day => {
    const midnightMs = mondayMs + day * dayMs
    const stays = calendarDay(midnightMs).isBankHoliday
      ? !draw.chance(bankHolidayWorked)
      : draw.chance(absentDay)
    return stays ? [] : [shiftOn(draw, placement, midnightMs)]
  })
}

/** Only day shifts on weekdays earn overtime: the others are paid at a higher rate throughout. */
function shiftOn(draw: Draw, placement: Placement, midnightMs: number): WorkedShift {
  const { weekday, isBankHoliday } = calendarDay(midnightMs)
  const standard = Math.max(4, placement.dayHours - (draw.chance(0.08) ? draw.between(1, 6) / 2 : 0))
  const overtime =
    weekday < 5 && !isBankHoliday && draw.chance(placement.overtime) ? draw.between(1, 6) / 2 : 0
  return {
    midnightMs,
    startHour: placement.startHour,
    night: placement.night,
    breakMinutes: standard + overtime > 9 ? 60 : 30,
    standard,
    overtime,
    allocations: placement.allocatesCosts ? allocate(draw, standard + overtime) : [],
  }
}

function allocate(draw: Draw, hours: number): Allocation[] {
  const first = draw.pick(costCodes)
  const second = draw.pick(costCodes)
  if (first === second) return [{ costCode: first, hours }]
  const part = draw.between(1, hours * 2 - 1) / 2
  return [
    { costCode: first, hours: part },
    { costCode: second, hours: hours - part },
  ]
}

const summed = ['units', 'payValue', 'empValue', 'marginValue', 'chargeValue'] as const

/** The units and amounts of each day. An expense pays them, so `values` leaves them out. */
function pieceRateEntries(
  draw: Draw,
  { trade: { pieceWork }, company, rateType }: Placement,
  { shifts, createdMs }: { readonly shifts: readonly WorkedShift[]; readonly createdMs: number },
) {
  if (!pieceWork || shifts.length === 0 || !draw.chance(pieceWorkWeek)) return []
  const id = draw.id(createdMs)
  const values = pieceValues(pieceWork)
  const lines = shifts.map((shift, index) => {
    const units = draw.between(20, 60)
    return {
      id: partId(id, index),
      date: iso(shift.midnightMs),
      units,
      payValue: times(units, values.pay),
      empValue: 0,
      marginValue: times(units, values.margin),
      chargeValue: times(units, values.charge),
      comment: '',
      costCode: draw.pick(costCodes),
    }
  })
  const total = (name: (typeof summed)[number]) => lines.reduce((sum, line) => add(sum, line[name]), 0)
  const totals = summed.map(name => [name, total(name)])
  const entry = {
    id,
    pieceRateId: pieceRateId(company.id, pieceWork),
    ...pieceTerms(pieceWork),
    rateType,
    values,
    totals: Object.fromEntries(totals) as Record<(typeof summed)[number], number>,
    lines,
  }
  return [entry]
}
