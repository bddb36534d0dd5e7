import type { Audit, Expected } from '../compare.ts'
import { tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, daysFrom, elapsedDays, groupBy, idOf, monthOf, ratio, sum } from '../words.ts'

const earliest = (instants: readonly (string | null | undefined)[]): string | undefined =>
  instants.filter((at): at is string => Boolean(at)).sort()[0]

const mean = (values: readonly number[]): number | null =>
  ratio(
    sum(values, one => one),
    values.length,
  )

export const programmeFill: Audit = {
  mart: 'programme_fill',
  rows: ({ live, today }) => {
    const begun = live.assignments.filter(
      one => tookPlace(one) && one.requisition && (dayOf(one.startDate) ?? '9999') <= today,
    )
    const assignmentsOf = groupBy(begun, ({ requisition }) => requisition.id)
    const approved = live.requisitions.filter(({ approvedDate }) => approvedDate)
    const groups = groupBy(approved, ({ company, project, approvedDate }) =>
      [idOf(company), idOf(project), monthOf(dayOf(approvedDate) as string)].join(' '),
    )
    return [...groups].map(([key, own]): Expected => {
      const [company = '', project = '', month = ''] = key.split(' ')
      const isOver = ({ status }: Raw): boolean => ['cancelled', 'rejected'].includes(status)
      const filledOf = ({ quantity, agencies }: Raw): number =>
        Math.min(
          quantity,
          sum(agencies, ({ assigned }: Raw) => assigned),
        )
      const days = (first: (requisition: Raw) => string | undefined): number[] =>
        own.flatMap(one => {
          const at = first(one)
          return at ? [elapsedDays(one.approvedDate, at)] : []
        })
      const toSubmit = days(({ agencies }) =>
        earliest(agencies.flatMap(({ submissions }: Raw) => submissions.map((one: Raw) => one.submittedAt))),
      )
      const toAccept = days(({ agencies }) => earliest(agencies.map((one: Raw) => one.dateAccepted)))
      const toStart = own.flatMap(one => {
        const first = earliest((assignmentsOf.get(one.id) ?? []).map(({ startDate }) => dayOf(startDate)))
        return first ? [daysFrom(dayOf(one.approvedDate) as string, first)] : []
      })
      const seats = sum(own, ({ quantity }) => quantity)
      const filled = sum(own, filledOf)
      const cancelled = sum(own.filter(isOver), one => one.quantity - filledOf(one))
      return {
        company_id: company,
        project_id: project,
        month_start_date: month,
        requisitions: own.length,
        cancelled_requisitions: own.filter(isOver).length,
        seats,
        filled_seats: filled,
        cancelled_seats: cancelled,
        fill_ratio: ratio(filled, seats),
        live_fill_ratio: ratio(filled, seats - cancelled),
        submitted: toSubmit.length,
        avg_days_to_submit: mean(toSubmit),
        accepted: toAccept.length,
        avg_days_to_accept: mean(toAccept),
        started: toStart.length,
        avg_days_to_start: mean(toStart),
      }
    })
  },
}
