/** A week of work: which days, how long, and where the hours were spent. */
import type { Rng } from '../../../lib/rng.ts'
import { DAY_MS, isBankHoliday, weekday } from '../calendar.ts'
import { between, chance, pick } from '../draw.ts'
import { costCodes } from '../names.ts'
import type { Allocation, Shift } from './pay.ts'
import type { Placement } from './placements.ts'

const ABSENT_DAY = 0.04
const BANK_HOLIDAY_WORKED = 0.25
const EXTRA_SATURDAY = 0.07

export function weekOfShifts(rng: Rng, placement: Placement, mondayMs: number): Shift[] {
  const days =
    placement.days.includes(5) || !chance(rng, EXTRA_SATURDAY) ? placement.days : [...placement.days, 5]
  return days.flatMap(day => {
    const dayMs = mondayMs + day * DAY_MS
    const stays = isBankHoliday(dayMs) ? !chance(rng, BANK_HOLIDAY_WORKED) : chance(rng, ABSENT_DAY)
    return stays ? [] : [shiftOn(rng, placement, dayMs)]
  })
}

/** Only weekday day shifts earn overtime: the others are paid at a raised rate throughout. */
function shiftOn(rng: Rng, placement: Placement, dayMs: number): Shift {
  const ordinary = weekday(dayMs) < 5 && !isBankHoliday(dayMs)
  const standard = Math.max(4, placement.dayHours - (chance(rng, 0.08) ? between(rng, 1, 6) / 2 : 0))
  const overtime = ordinary && chance(rng, placement.overtime) ? between(rng, 1, 6) / 2 : 0
  return {
    dayMs,
    startHour: placement.startHour,
    night: placement.night,
    breakMinutes: standard + overtime > 9 ? 60 : 30,
    standard,
    overtime,
    allocations: placement.allocatesCosts ? allocate(rng, standard + overtime) : [],
  }
}

function allocate(rng: Rng, hours: number): Allocation[] {
  const first = pick(rng, costCodes)
  const second = pick(rng, costCodes)
  if (first === second) return [{ costCode: first, hours }]
  const part = between(rng, 1, hours * 2 - 1) / 2
  return [
    { costCode: first, hours: part },
    { costCode: second, hours: hours - part },
  ]
}
