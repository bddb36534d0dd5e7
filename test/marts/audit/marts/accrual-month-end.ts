import { filledAt } from '../../../support/filled-warehouse.ts'
import type { Audit, Expected } from '../compare.ts'
import { type Owed, owedWork, placeOf } from '../owed-work.ts'
import { addDays, dayOf, groupBy, monthOf, sum } from '../words.ts'

/** Month ends before the day on which the service was last read. */
function monthEnds(readDay: string): string[] {
  const ends: string[] = []
  for (let first = monthOf(readDay); ends.length < 24; first = monthOf(addDays(first, -1)))
    ends.push(addDays(first, -1))
  return ends
}

function stateAt(end: string, { kind, isApproved, approvedAt }: Owed): string | null {
  const approvedBy = isApproved && (dayOf(approvedAt) ?? end) <= end
  if (kind === 'claim') return approvedBy ? 'claims' : null
  return approvedBy ? 'approved' : 'unapproved'
}

export const accrualMonthEnd: Audit = {
  mart: 'accrual_month_end',
  rows: service => {
    const work = owedWork(service)
    const [last, ...earlier] = monthEnds(dayOf(service.asOf) as string)
    return [last as string, ...earlier].flatMap(end => {
      const owed = work.flatMap(one => {
        const state = stateAt(end, one)
        const isOwed = one.week !== null && one.week <= end && !one.billedOn.some(day => day <= end)
        return state !== null && isOwed ? [{ one, state }] : []
      })
      const groups = groupBy(owed, ({ one, state }) => [...placeOf(one), state].join(' '))
      return [...groups].map(([key, own]): Expected => {
        const [company = '', project = '', agency = '', state = ''] = key.split(' ')
        const hours = sum(own, ({ one }) => one.hours)
        const value = sum(own, ({ one }) => one.value)
        // The only build of this warehouse kept the last month end, from the same records.
        const isKept = end === last
        return {
          month_end_date: end,
          company_id: company,
          project_id: project,
          agency_id: agency,
          accrual_state: state,
          recorded_at: isKept ? filledAt : null,
          recorded_records: isKept ? own.length : null,
          recorded_net_hours: isKept ? hours : null,
          recorded_value: isKept ? value : null,
          records: own.length,
          net_hours: hours,
          accrued_value: value,
          later_change_value: isKept ? 0 : null,
        }
      })
    })
  },
}
