/** Computes hours, buckets and money of shifts and piece work; no other file computes a timesheet's sums. */
import { dayMs, hourMs, minuteMs } from '../../../lib/dates.ts'
import { calendarDay } from '../calendar.ts'
import { iso, partId } from '../identity.ts'
import type { Trade } from '../names.ts'

interface RateLine {
  readonly pay: number
  readonly emp: number
  readonly margin: number
  readonly charge: number
  readonly uplift: number | null
}

/** Each rate as a multiple of the basic rate. */
const uplifts = {
  wd: null,
  wdNw: 1.25,
  weNw: 1.75,
  bh: 2,
  bhNight: 2.25,
  sat: 1.5,
  sun: 2,
  ot: 1.5,
} as const

type RateKey = keyof typeof uplifts
export type Rates = Readonly<Record<RateKey, RateLine>>

/** `weNightwork` is Friday night; Saturday and Sunday nights have buckets of their own. */
const bucketKinds = {
  wdBasic: { rate: 'wd', description: 'Weekday' },
  wdOvertime: { rate: 'ot', description: 'Weekday overtime' },
  wdNightwork: { rate: 'wdNw', description: 'Weekday night' },
  weNightwork: { rate: 'weNw', description: 'Weekend night' },
  bankHoliday: { rate: 'bh', description: 'Bank holiday' },
  bankHolidayNight: { rate: 'bhNight', description: 'Bank holiday night' },
  saturday: { rate: 'sat', description: 'Saturday' },
  sunday: { rate: 'sun', description: 'Sunday' },
  saturdayNightwork: { rate: 'weNw', description: 'Saturday night' },
  sundayNightwork: { rate: 'weNw', description: 'Sunday night' },
} as const satisfies Record<string, { rate: RateKey; description: string }>

type PayBucket = keyof typeof bucketKinds
const buckets = Object.keys(bucketKinds) as PayBucket[]

interface CostCode {
  readonly name: string
  readonly description: string
}

export interface Allocation {
  readonly costCode: CostCode
  readonly hours: number
}

/** One day's work. Hours are multiples of a half: at rates in even pence every amount is whole pence. */
export interface WorkedShift {
  /** Midnight of the day it starts on. */
  readonly midnightMs: number
  readonly startHour: number
  readonly night: boolean
  readonly breakMinutes: number
  readonly standard: number
  readonly overtime: number
  readonly allocations: readonly Allocation[]
}

/** Employer costs as a share of pay: PAYE includes insurance and holiday pay. */
export const employerShare: Readonly<Record<string, number>> = { paye: 0.27, cis: 0, psc: 0.02 }

export function ratesFor(payPence: number, rateType: string, marginPence: number): Rates {
  const lines = Object.entries(uplifts).map(([key, uplift]) => {
    const pay = even(payPence * (uplift ?? 1))
    const emp = even(pay * (employerShare[rateType] ?? 0))
    const charge = pay + emp + marginPence
    return [key, { pay: pay / 100, emp: emp / 100, margin: marginPence / 100, charge: charge / 100, uplift }]
  })
  return Object.fromEntries(lines)
}

export function even(pence: number): number {
  return Math.round(pence / 2) * 2
}

/** Amounts are added in pence: sums of binary fractions would drift. */
export function times(quantity: number, rate: number): number {
  return Math.round(quantity * Math.round(rate * 100)) / 100
}

export function add(left: number, right: number): number {
  return Math.round((left + right) * 100) / 100
}

function bucketOf(shift: Pick<WorkedShift, 'midnightMs' | 'night'>): PayBucket {
  const { weekday: day, isBankHoliday } = calendarDay(shift.midnightMs)
  if (isBankHoliday) return shift.night ? 'bankHolidayNight' : 'bankHoliday'
  if (day === 5) return shift.night ? 'saturdayNightwork' : 'saturday'
  if (day === 6) return shift.night ? 'sundayNightwork' : 'sunday'
  if (!shift.night) return 'wdBasic'
  return day === 4 ? 'weNightwork' : 'wdNightwork'
}

export type BucketValues = Record<PayBucket | 'total', number>

/** Net hours, and pay and charge per bucket and in total. */
export function sumShifts(shifts: readonly WorkedShift[], rates: Rates) {
  const hours = Object.fromEntries(buckets.map(bucket => [bucket, 0])) as Record<PayBucket, number>
  for (const shift of shifts) {
    hours[bucketOf(shift)] += shift.standard
    hours.wdOvertime += shift.overtime
  }
  const side = (amount: 'pay' | 'charge'): BucketValues => {
    const values = { total: 0 } as BucketValues
    for (const bucket of buckets) {
      values[bucket] = times(hours[bucket], rates[bucketKinds[bucket].rate][amount])
      values.total = add(values.total, values[bucket])
    }
    return values
  }
  const netHours = shifts.reduce((sum, shift) => sum + shift.standard + shift.overtime, 0)
  return { netHours, pay: side('pay'), charge: side('charge') }
}

interface TimelogOwner {
  readonly id: string
  readonly status: string
  readonly rates: Rates
}

export function timelogsOf(owner: TimelogOwner, shifts: readonly WorkedShift[]) {
  return shifts.map((shift, index) => timelogOf(owner, shift, partId(owner.id, index)))
}

type Timelog = ReturnType<typeof timelogOf>

function timelogOf(owner: TimelogOwner, shift: WorkedShift, id: string) {
  const { rate: key, description } = bucketKinds[bucketOf(shift)]
  const { uplift: _, ...rate } = owner.rates[key]
  const total = shift.standard + shift.overtime
  const start = shift.midnightMs + shift.startHour * hourMs
  const value = (amount: 'pay' | 'emp' | 'margin' | 'charge') => {
    const standard = times(shift.standard, rate[amount])
    const overtime = times(shift.overtime, owner.rates.ot[amount])
    return { standard, overtime, total: add(standard, overtime) }
  }
  return {
    id,
    status: owner.status,
    date: iso(shift.midnightMs),
    start: iso(start),
    end: iso(start + total * hourMs + shift.breakMinutes * minuteMs),
    shiftType: shift.night ? 'night' : 'day',
    breaks: shift.breakMinutes,
    rateDescription: description,
    hours: { standard: shift.standard, overtime: shift.overtime, total },
    rates: rate,
    values: { pay: value('pay'), emp: value('emp'), margin: value('margin'), charge: value('charge') },
    costCodeAllocations: shift.allocations,
  }
}

/** The reverse of `timelogsOf`, for a record whose hours are to be amended. */
export function shiftsOf(timelogs: readonly Timelog[]): WorkedShift[] {
  return timelogs.map(log => {
    const midnightMs = Date.parse(log.date)
    return {
      midnightMs,
      startHour: ((Date.parse(log.start) - midnightMs) % dayMs) / hourMs,
      night: log.shiftType === 'night',
      breakMinutes: log.breaks,
      standard: log.hours.standard,
      overtime: log.hours.overtime,
      allocations: log.costCodeAllocations,
    }
  })
}

export type PieceWork = NonNullable<Trade['pieceWork']>

/** The id of the piece rate in the company's generic rate. */
export function pieceRateId(companyId: string, { payPence }: PieceWork): string {
  return `${companyId.slice(0, 16)}${String(payPence).padStart(8, '0')}`
}

export function pieceTerms({ name, unit }: PieceWork) {
  const code = name.slice(0, 3).toUpperCase()
  return { code, name, unitLabel: unit, unitLabelPlural: `${unit}s`, frequency: 'daily' }
}

export function pieceValues({ payPence }: PieceWork, marginShare = 0.1) {
  const pay = payPence / 100
  const margin = Math.round(payPence * marginShare) / 100
  return { pay, emp: 0, margin, charge: add(pay, margin) }
}
