import type { Planted } from '../../planting.ts'
import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import { lastDayOf, tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, dayOf, daysFrom, groupBy, idOf, isWorked, md5, ratio, sum } from '../words.ts'

export const planted: readonly Planted[] = [
  {
    check: 'mart_outcome_parts',
    subject: 'mart.assignment_outcome',
    statements: ['update mart.assignment_outcome set net_hours = net_hours + 1'],
  },
]

const weekdays = ['m', 't', 'w', 'th', 'f', 's', 'su']

/** Hours of a shift, which may end on the next day. */
const lengthOf = ({ start, end, break: minutes }: Raw): number =>
  ((end - start + 24) % 24) - (minutes ?? 0) / 60

/** Days of the pattern in the weeks of approved timesheets, within the assignment. */
function plannedHours(assignment: Raw, worked: readonly Raw[]): number | null {
  const [from, until] = [dayOf(assignment.startDate) as string, lastDayOf(assignment)]
  const weeks = [...new Set(worked.map(({ weekEnding }) => dayOf(weekEnding) as string))]
  const days = weeks.flatMap(week => [0, 1, 2, 3, 4, 5, 6].map(back => addDays(week, -back)))
  const shifts = days
    .filter(day => day >= from && (until === null || day <= until))
    .map(day => assignment.shiftPattern[weekdays[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7] ?? ''])
    .filter(shift => shift?.active)
  return shifts.length === 0 ? null : sum(shifts, lengthOf)
}

function endBand({ status }: Raw, last: string | null, today: string): string {
  if (status !== 'confirmed') return 'over'
  if (last === null) return 'no end known'
  const days = daysFrom(today, last)
  if (days < 0) return 'past its end'
  if (days > 84) return 'later'
  return days <= 28 ? 'within 4 weeks' : days <= 56 ? 'within 8 weeks' : 'within 12 weeks'
}

const isFollowed = (assignment: Raw, last: string, own: readonly Raw[]): boolean =>
  idOf(assignment.worker) !== '-1' &&
  own.some(other => {
    const until = lastDayOf(other)
    const isSame =
      idOf(other.company) === idOf(assignment.company) && idOf(other.agency) === idOf(assignment.agency)
    const isNear = (dayOf(other.startDate) ?? '9999') <= addDays(last, 7)
    return other !== assignment && isSame && isNear && (until === null || until > last)
  })

interface Sheets {
  readonly own: readonly Raw[]
  /** First day of the first stored week of the company that another one follows within four weeks. */
  readonly since: string | undefined
}

function outcomeOf(assignment: Raw, { own, since }: Sheets, service: Service): Expected {
  const { status } = assignment
  const { today } = service
  const [start, last] = [dayOf(assignment.startDate), lastDayOf(assignment)]
  const isDue = start !== null && since !== undefined && start <= addDays(today, -14) && start >= since
  const hasHours = own.some(sheet => sheet.netHours > 0 && !['cancelled', 'absent'].includes(sheet.status))
  const isShort = start !== null && last !== null && last < addDays(start, 28)
  const isCounted = start !== null && start <= addDays(today, -28) && !(status === 'completed' && isShort)
  const others = service.live.assignments.filter(
    one => tookPlace(one) && idOf(one.worker) === idOf(assignment.worker),
  )
  const hasLeft = isCounted && status === 'ended' && isShort && !isFollowed(assignment, last ?? '', others)
  const daysLeft = status === 'confirmed' && last !== null ? daysFrom(today, last) : -1
  const endsIn = (days: number): number => (daysLeft >= 0 && daysLeft <= days ? 1 : 0)
  const worked = own.filter(isWorked)
  const hours = sum(worked, ({ netHours }) => netHours)
  const planned = plannedHours(assignment, worked)
  const noShow = isDue && !hasHours ? 1 : 0
  return {
    due_starts: isDue ? 1 : 0,
    no_shows: noShow,
    no_show_ratio: isDue ? noShow : null,
    four_week_starts: isCounted ? 1 : 0,
    left_within_4_weeks: hasLeft ? 1 : 0,
    four_week_attrition_ratio: isCounted ? (hasLeft ? 1 : 0) : null,
    end_band: endBand(assignment, last, today),
    ends_in_4_weeks: endsIn(28),
    ends_in_8_weeks: endsIn(56),
    ends_in_12_weeks: endsIn(84),
    net_hours: hours,
    charge_value: sum(worked, ({ values }) => values.charge.total),
    planned_hours: planned,
    worked_hours: planned === null ? null : hours,
    worked_to_plan_ratio: planned === null ? null : ratio(hours, planned),
  }
}

export const assignmentOutcome: Audit = {
  mart: 'assignment_outcome',
  rows: service => {
    const { live } = service
    const sheets = groupBy(live.timesheets, ({ assignment }) => assignment?.id ?? 'none')
    const weeks = groupBy(
      live.timesheets.filter(({ weekEnding }) => dayOf(weekEnding)),
      ({ company }) => idOf(company),
    )
    const sinceOf = (company: string): string | undefined => {
      const days = new Set((weeks.get(company) ?? []).map(({ weekEnding }) => dayOf(weekEnding) as string))
      const sorted = [...days].sort()
      const first = sorted.find((day, at) => (sorted[at + 1] ?? '9999') <= addDays(day, 28))
      return first && addDays(first, -6)
    }
    return live.assignments.filter(tookPlace).map((assignment): Expected => {
      const company = idOf(assignment.company)
      const { umbrella } = assignment
      return {
        assignment_id: assignment.id,
        reference: assignment.reference,
        status: assignment.status,
        worker_id: idOf(assignment.worker),
        company_id: company,
        project_id: idOf(assignment.project),
        site_id: idOf(assignment.site),
        trade_id: idOf(assignment.trade),
        agency_id: idOf(assignment.agency),
        umbrella_id: umbrella == null ? '-1' : md5(company, umbrella),
        rate_type: assignment.rateType,
        start_date: dayOf(assignment.startDate),
        last_date: lastDayOf(assignment),
        ...outcomeOf(assignment, { own: sheets.get(assignment.id) ?? [], since: sinceOf(company) }, service),
      }
    })
  },
}
