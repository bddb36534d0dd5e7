import type { Audit, Expected } from '../compare.ts'
import { type Spell, spellsOf } from '../engagements.ts'
import { addDays, groupBy, monthOf, ratio } from '../words.ts'

const isThere = ({ from, until }: Spell, day: string): boolean =>
  from <= day && (until === null || until >= day)

/** First days of the months from one day to another. */
export function monthsBetween(from: string, to: string): string[] {
  const months = [monthOf(from)]
  for (;;) {
    const next = monthOf(addDays(months.at(-1) as string, 31))
    if (next > to) return months
    months.push(next)
  }
}

export const endOfMonth = (month: string, today: string): string => {
  const last = addDays(monthOf(addDays(month, 31)), -1)
  return last < today ? last : today
}

export const workforceFlow: Audit = {
  mart: 'workforce_flow',
  rows: service => {
    const spells = spellsOf(service)
    const groups = groupBy(spells, ({ company, agency }) => `${company} ${agency}`)
    return [...groups.values()].flatMap(own => {
      const [{ company, agency }] = own as [Spell]
      const workers = [...groupBy(own, ({ worker }) => worker).values()]
      const first = own.map(({ from }) => from).sort()[0] as string
      return monthsBetween(first, service.today).flatMap((month): Expected[] => {
        const [before, last] = [addDays(month, -1), endOfMonth(month, service.today)]
        const seen = workers
          .filter(theirs =>
            theirs.some(({ from, until }) => from <= last && (until === null || until >= before)),
          )
          .map(theirs => ({
            isOpening: theirs.some(spell => isThere(spell, before)),
            isClosing: theirs.some(spell => isThere(spell, last)),
            isNew: theirs.every(({ from }) => from >= month),
          }))
        if (seen.length === 0) return []
        const count = (of: (worker: (typeof seen)[0]) => boolean): number => seen.filter(of).length
        const [opening, closing] = [count(one => one.isOpening), count(one => one.isClosing)]
        const leavers = count(one => !one.isClosing)
        return [
          {
            company_id: company,
            agency_id: agency,
            month_start_date: month,
            month_end_date: last,
            opening_workers: opening,
            starters: count(one => !one.isOpening),
            leavers,
            closing_workers: closing,
            new_starters: count(one => !one.isOpening && one.isNew),
            average_workers: (opening + closing) / 2,
            attrition_ratio: ratio(leavers, (opening + closing) / 2),
          },
        ]
      })
    })
  },
}
