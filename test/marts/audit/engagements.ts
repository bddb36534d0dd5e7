/**
 * Assignments that took place, each with its last day: the day of its end or completion if its state says that it is over,
 * else the planned day.
 */
import type { Service } from './audited.ts'
import type { Raw } from './odd-world.ts'
import { dayOf, idOf } from './words.ts'

export function lastDayOf({ status, ended, completedDate, endDate }: Raw): string | null {
  const over =
    status === 'ended'
      ? (ended?.date ?? completedDate)
      : status === 'completed'
        ? (completedDate ?? ended?.date)
        : null
  return dayOf(over ?? endDate)
}

export const tookPlace = ({ status }: Raw): boolean => ['confirmed', 'completed', 'ended'].includes(status)

export interface Spell {
  readonly worker: string
  readonly company: string
  readonly agency: string
  readonly from: string
  /** Empty while no end is known. */
  readonly until: string | null
}

/** Of known workers, and begun by today. */
export function spellsOf({ live, today }: Service): Spell[] {
  return live.assignments.filter(tookPlace).flatMap(assignment => {
    const [worker, from, until] = [
      idOf(assignment.worker),
      dayOf(assignment.startDate),
      lastDayOf(assignment),
    ]
    if (worker === '-1' || !from || from > today || (until && until < from)) return []
    return [{ worker, company: idOf(assignment.company), agency: idOf(assignment.agency), from, until }]
  })
}
