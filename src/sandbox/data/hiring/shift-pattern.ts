/** The planned week of an assignment: its shifts, what it is worth, and the uplifts on its rates. */
import type { Rates } from '../work/pay.ts'
import { times } from '../work/pay.ts'
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

/** Hours of the day, the end of a night shift those of the next day; breaks in minutes. */
export function shiftPattern({ days, startHour, dayHours, night }: Placement) {
  const end = (startHour + dayHours + breakMinutes / 60) % 24
  const shift: PlannedShift = { start: startHour, end, active: true, break: breakMinutes, night }
  return Object.fromEntries(dayKeys.map((key, day) => [key, days.includes(day) ? shift : dayOff]))
}

/** Planned, not worked: the hours of the pattern over all weeks at the basic rate. */
export function plannedValues({ days, dayHours, rates }: Placement, weeks: number) {
  const hours = days.length * dayHours * weeks
  return { pay: times(hours, rates.wd.pay), charge: times(hours, rates.wd.charge) }
}

interface EnhancedUplifts {
  readonly enabled: boolean
  readonly mode: string
  readonly weekly: object
}

/** Either plain factors, or the enhanced ones where the company has them. */
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
