/** The shifts of a week: days, hours and cost codes. */
import { dayMs } from '../../../lib/dates.ts'
import { calendarDay } from '../calendar.ts'
import type { Draw } from '../draw.ts'
import { costCodes } from '../names.ts'
import type { Allocation, Shift } from './pay.ts'
import type { Placement } from './placements.ts'

const absentDay = 0.04
const bankHolidayWorked = 0.25
const extraSaturday = 0.07

export function weekOfShifts(draw: Draw, placement: Placement, mondayMs: number): Shift[] {
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
function shiftOn(draw: Draw, placement: Placement, midnightMs: number): Shift {
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
