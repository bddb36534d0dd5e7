/** The week of an expense: that of its timesheet; without one, the week of its day, as the company counts weeks. */

import type { Service } from './audited.ts'
import type { Raw } from './odd-world.ts'
import { byId, dayOf, weekEndOf } from './words.ts'

export interface Dated {
  readonly expense: Raw
  readonly week: string
  readonly isOfTimesheet: boolean
}

/** Without a date of either kind it is in no week, and left out. */
export function datedExpenses({ live }: Service): Dated[] {
  const timesheets = byId(live.timesheets)
  const companies = byId(live.companies)
  return live.expenses.flatMap((expense): Dated[] => {
    const ofTimesheet = dayOf(timesheets.get(expense.timesheet?.id)?.weekEnding)
    if (ofTimesheet) return [{ expense, week: ofTimesheet, isOfTimesheet: true }]
    const day = dayOf(expense.date)
    if (!day) return []
    return [{ expense, week: weekEndOf(day, companies.get(expense.company?.id)), isOfTimesheet: false }]
  })
}
