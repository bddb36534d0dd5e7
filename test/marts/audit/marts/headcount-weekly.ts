import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import { lastDayOf, tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import {
  addDays,
  approvedOf,
  byId,
  dayOf,
  distinct,
  groupBy,
  idOf,
  isWaiting,
  isWorked,
  sum,
  weekEndOf,
} from '../words.ts'

interface Span {
  readonly group: string
  readonly company: string
  readonly worker: string
  readonly from: string
  readonly until: string
}

const never = '9999-12-31'

const spansOf = ({ live }: Service): Span[] =>
  live.assignments.filter(tookPlace).flatMap(one => {
    const from = dayOf(one.startDate)
    if (!from) return []
    const until = lastDayOf(one) ?? never
    const group = [idOf(one.project), idOf(one.trade), idOf(one.agency), one.rateType ?? 'unknown'].join(' ')
    const named = { company: idOf(one.company), worker: idOf(one.worker) }
    return [{ group, ...named, from, until: [from, until].sort()[1] as string }]
  })

const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const isoWeekday = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay() || 7

/** The weekday on which most timesheets end, else the configured one; as the configuration of a company would say it. */
function calendarOf({ live }: Service, company: string): Raw {
  const counts = groupBy(
    live.timesheets.filter(one => idOf(one.company) === company && dayOf(one.weekEnding)),
    ({ weekEnding }) => String(isoWeekday(dayOf(weekEnding) as string)),
  )
  const [usual] = [...counts].sort((one, other) => other[1].length - one[1].length || +one[0] - +other[0])
  if (!usual) return live.companies.find(({ id }) => id === company)
  return { config: { weekendDay: weekdayNames[Number(usual[0]) % 7] } }
}

function weeksOf(service: Service, company: string, spans: readonly Span[]): string[] {
  const calendar = calendarOf(service, company)
  const ends = service.live.timesheets.flatMap(({ company: of, weekEnding }) =>
    idOf(of) === company && dayOf(weekEnding) ? [dayOf(weekEnding) as string] : [],
  )
  const starts = [
    ...spans.map(({ from }) => from).filter(day => day <= service.today),
    ...ends.map(day => addDays(day, -6)),
  ].sort()
  if (starts[0] === undefined) return []
  const last = weekEndOf([service.today, ...ends].sort().at(-1) as string, calendar)
  const weeks: string[] = []
  for (let week = weekEndOf(starts[0], calendar); week <= last; week = addDays(week, 7)) weeks.push(week)
  return weeks
}

const workersOf = (spans: readonly Span[]): Set<string> =>
  new Set(spans.map(({ worker }) => worker).filter(id => id !== '-1'))

/** Of one group, all of whose spans reach to the day before the week or beyond. */
function figuresOf(week: string, spans: readonly Span[]) {
  const [first, before] = [addDays(week, -6), addDays(week, -7)]
  const inWeek = spans.filter(({ until }) => until >= first)
  const opening = workersOf(spans.filter(({ from }) => from <= before))
  const closing = workersOf(spans.filter(({ until }) => until >= week))
  const all = workersOf(spans)
  return {
    assignments: inWeek.length,
    active_start: inWeek.filter(({ from }) => from < first).length,
    assignments_begun: inWeek.filter(({ from }) => from >= first).length,
    assignments_ended: inWeek.filter(({ until }) => until <= week).length,
    active_end: inWeek.filter(({ until }) => until > week).length,
    workers: workersOf(inWeek).size,
    opening_workers: opening.size,
    starters: [...workersOf(inWeek)].filter(id => !opening.has(id)).length,
    leavers: [...all].filter(id => !closing.has(id)).length,
    closing_workers: closing.size,
  }
}

export const headcountWeekly: Audit = {
  mart: 'headcount_weekly',
  rows: service => {
    const { live, gone } = service
    const assignments = byId([...live.assignments, ...gone.assignments])
    const spans = groupBy(spansOf(service), ({ company }) => company)
    const sheets = live.timesheets.filter(sheet => isWorked(sheet) || isWaiting(sheet))
    const companies = new Set([...spans.keys(), ...sheets.map(({ company }) => idOf(company))])
    return [...companies].flatMap(company => {
      const own = spans.get(company) ?? []
      const calendar = calendarOf(service, company)
      const worked = groupBy(
        sheets.filter(one => idOf(one.company) === company),
        sheet => {
          const trade = idOf(assignments.get(sheet.assignment?.id)?.trade)
          const group = [idOf(sheet.project), trade, idOf(sheet.agency), sheet.rateType ?? 'unknown']
          return [weekEndOf(dayOf(sheet.weekEnding) as string, calendar), ...group].join(' ')
        },
      )
      return weeksOf(service, company, own).flatMap(week => {
        const present = groupBy(
          own.filter(({ from, until }) => from <= week && until >= addDays(week, -7)),
          ({ group }) => group,
        )
        const hours = [...worked.keys()].filter(key => key.startsWith(week)).map(key => key.slice(11))
        return [...new Set([...present.keys(), ...hours])].map((group): Expected => {
          const [project = '', trade = '', agency = '', type = ''] = group.split(' ')
          const all = worked.get(`${week} ${group}`) ?? []
          const done = all.filter(isWorked)
          const net = sum(done, ({ netHours }) => netHours)
          const busy = done.filter(({ netHours, worker }) => netHours > 0 && idOf(worker) !== '-1')
          return {
            ...{ week_ending_date: week, company_id: company, project_id: project, trade_id: trade },
            ...{ agency_id: agency, rate_type: type, ...figuresOf(week, present.get(group) ?? []) },
            worked_headcount: distinct(busy.map(({ worker }) => idOf(worker))),
            net_hours: net,
            fte: net / 40,
            ...approvedOf(
              'hours',
              net,
              sum(all.filter(isWaiting), ({ netHours }) => netHours),
            ),
          }
        })
      })
    })
  },
}
