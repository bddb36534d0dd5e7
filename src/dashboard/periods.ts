/** Periods that the dates of the filter can be set to at once: settled weeks, and years. */
import { utcDay, yearOf } from '../lib/dates.ts'

export interface Period {
  readonly name: string
  readonly from: string
  readonly to: string
}

const weeksBack = [4, 13, 52]
export const maxWeeksBack = Math.max(...weeksBack)

/** First day of the UK tax year that has the day. */
function taxYearStart(day: string): string {
  const start = `${yearOf(day)}-04-06`
  return day >= start ? start : `${yearOf(day) - 1}-04-06`
}

/** `sundays` end the settled weeks, newest first; `day` is that of the last reading. */
export function periodsOf(sundays: readonly string[], day: string): Period[] {
  const [last] = sundays
  const weeks = weeksBack.flatMap((count): Period[] => {
    const first = sundays[count - 1]
    if (last === undefined || first === undefined) return []
    return [{ name: `Last ${count} settled weeks`, from: utcDay(first, -6), to: last }]
  })
  const year = yearOf(day)
  const tax = taxYearStart(day)
  return [
    ...weeks,
    { name: 'This year', from: `${year}-01-01`, to: `${year}-12-31` },
    { name: 'This tax year', from: tax, to: `${yearOf(tax) + 1}-04-05` },
  ]
}
