/** The planned week of an assignment: its shifts, their value, and the uplifts on its rates. */
import { weekMs } from '../../../lib/dates.ts'
import { type Rates, times } from '../work/pay.ts'
import type { Placement } from '../work/placements.ts'

const dayKeys = ['m', 't', 'w', 'th', 'f', 's', 'su'] as const
const breakMinutes = 30

export interface PlannedShift {
  readonly start: number | null
  readonly end: number | null
  readonly active: boolean
  readonly break: number | null
  readonly night: boolean
}

const dayOff: PlannedShift = { start: null, end: null, active: false, break: null, night: false }

/** Start and end are hours of the day; a night shift ends on the next day. Breaks are minutes. */
export function shiftPattern({ days, startHour, dayHours, night }: Placement): Terms['shiftPattern'] {
  const end = (startHour + dayHours + breakMinutes / 60) % 24
  const shift: PlannedShift = { start: startHour, end, active: true, break: breakMinutes, night }
  return Object.fromEntries(dayKeys.map((key, day) => [key, days.includes(day) ? shift : dayOff]))
}

export interface Terms {
  readonly startDate: string
  readonly endDate: string
  readonly shiftPattern: Readonly<Record<string, PlannedShift>>
  readonly rates: { readonly pay: number; readonly charge: number }
}

/** The planned value: hours of the pattern times weeks begun, at the basic rate. */
export function plannedValues({ startDate, endDate, shiftPattern, rates }: Terms) {
  const weeks = Math.ceil((Date.parse(endDate) - Date.parse(startDate)) / weekMs)
  const shifts = Object.values(shiftPattern).filter(shift => shift.active)
  const hours = shifts.reduce((sum, { start, end, break: minutes }) => {
    const length = ((end ?? 0) - (start ?? 0) + 24) % 24
    return sum + length - (minutes ?? 0) / 60
  }, 0)
  return { pay: times(hours * weeks, rates.pay), charge: times(hours * weeks, rates.charge) }
}

interface EnhancedUplifts {
  readonly enabled: boolean
  readonly mode: string
  readonly weekly: object
}

/** Plain factors, or enhanced ones for companies that use them. */
export function upliftsOf(rates: Rates, { enabled, mode, weekly }: EnhancedUplifts) {
  if (enabled) return { enhancedUplifts: { enabled, mode, weekly } }
  const factor = (key: keyof Rates) => rates[key].uplift ?? 1
  return {
    rateUplifts: {
      bh: factor('bh'),
      bhNw: factor('bhNight'),
      wdOt: factor('ot'),
      sat: factor('sat'),
      sun: factor('sun'),
      wdNw: factor('wdNw'),
      weNw: factor('weNw'),
    },
  }
}
