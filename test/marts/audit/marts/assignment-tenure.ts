import type { Planted } from '../../planting.ts'
import { cardsOf } from '../cards.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, byId, dayOf, daysFrom, distinct, groupBy, idOf, isWorked, sum } from '../words.ts'

const bands = [
  [52, '52 and more'],
  [26, '26 to 51'],
  [12, '12 to 25'],
  [4, '4 to 11'],
  [0, 'under 4'],
] as const

/** A break of up to 6 weeks pauses the count. */
const longestStepDays = 7 * 7

/** The first week after the last break of more than 6 weeks. */
function countedWeeks(weeks: readonly string[]): readonly string[] {
  const begin = weeks.findLastIndex(
    (week, place) => place === 0 || daysFrom(weeks[place - 1] as string, week) > longestStepDays,
  )
  return weeks.slice(begin)
}

export const planted: readonly Planted[] = [
  {
    check: 'mart_tenure_totals',
    subject: 'mart.assignment_tenure',
    statements: ['update mart.assignment_tenure set awr_compared_hours = awr_hours_after + 1'],
  },
]

/** Sheets of weeks after the twelfth, each with comparable pay less its pay; null where one of them is not known. */
const gapsAfter = (
  sheets: readonly Raw[],
  twelfth: string | undefined,
  comparableOf: (sheet: Raw) => number | null,
): { readonly hours: number; readonly gap: number | null }[] =>
  sheets
    .filter(({ weekEnding }) => twelfth !== undefined && (dayOf(weekEnding) as string) > twelfth)
    .map(sheet => {
      const [pay, comparable] = [sheet.rates?.wd?.pay, comparableOf(sheet)]
      const isKnown = sheet.payType === 'hourly' && pay != null && comparable !== null
      return { hours: sheet.netHours, gap: isKnown ? comparable - pay : null }
    })

export const assignmentTenure: Audit = {
  mart: 'assignment_tenure',
  rows: service => {
    const assignments = byId([...service.live.assignments, ...service.gone.assignments])
    const cardOf = cardsOf(service, 'comparablePayRate')
    const tradeOf = ({ assignment }: Raw): string => idOf(assignments.get(assignment?.id)?.trade)
    const comparableOf = ({ assignment }: Raw): number | null => {
      const known = assignments.get(assignment?.id)
      return known?.payType === 'hourly' ? (cardOf(known)?.set.comparablePayRate ?? null) : null
    }
    const worked = service.live.timesheets.filter(
      sheet => isWorked(sheet) && sheet.netHours > 0 && idOf(sheet.worker) !== '-1',
    )
    const groups = groupBy(worked, sheet => `${idOf(sheet.worker)} ${idOf(sheet.company)} ${tradeOf(sheet)}`)
    return [...groups.values()].flatMap((sheets): Expected[] => {
      const weeks = [...new Set(sheets.map(({ weekEnding }) => dayOf(weekEnding) as string))].sort()
      const [first, last] = [weeks[0] as string, weeks.at(-1) as string]
      const counted = countedWeeks(weeks)
      const { length } = counted
      const twelfth = length >= 12 ? (counted[11] as string) : addDays(last, (12 - length) * 7)
      const after = gapsAfter(sheets, counted[11], comparableOf)
      const under = after.filter(({ gap }) => (gap ?? 0) > 0)
      // Of several assignments in the last week any may be the one shown.
      const latest = sheets.filter(({ weekEnding }) => dayOf(weekEnding) === last)
      return latest.map(({ assignment }) => {
        const known = assignments.get(assignment?.id)
        const pay = known && known.payType !== 'daily' ? known.rates.pay : null
        const comparable = (known && cardOf(known))?.set.comparablePayRate ?? null
        return {
          worker_id: idOf(sheets[0].worker),
          company_id: idOf(sheets[0].company),
          trade_id: tradeOf(sheets[0]),
          agencies: distinct(sheets.map(({ agency }) => idOf(agency)).filter(id => id !== '-1')),
          first_week_ending_date: first,
          last_week_ending_date: last,
          weeks_worked: weeks.length,
          net_hours: sum(sheets, ({ netHours }) => netHours),
          tenure_band: bands.find(([from]) => weeks.length >= from)?.[1] ?? '',
          awr_start_week_ending_date: counted[0] as string,
          awr_week_count: length,
          is_awr_qualified: length >= 12,
          awr_qualifies_on: addDays(twelfth, 1),
          is_awr_clock_running: daysFrom(last, service.today) <= 42,
          latest_assignment_id: assignment?.id ?? '-1',
          pay_rate: pay,
          comparable_pay_rate: comparable,
          comparable_pay_gap: pay === null || comparable === null ? null : comparable - pay,
          awr_hours_after: sum(after, ({ hours }) => hours),
          awr_compared_hours: sum(
            after.filter(({ gap }) => gap !== null),
            ({ hours }) => hours,
          ),
          awr_underpaid_hours: sum(under, ({ hours }) => hours),
          awr_underpaid_value: sum(under, ({ hours, gap }) => hours * (gap as number)),
        }
      })
    })
  },
}
