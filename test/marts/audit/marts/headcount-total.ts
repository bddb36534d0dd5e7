import type { Planted } from '../../planting.ts'
import type { Audit, Expected } from '../compare.ts'
import { lastDayOf, tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import {
  addDays,
  approvedOf,
  byId,
  dayOf,
  groupBy,
  idOf,
  isWaiting,
  isWorked,
  sum,
  weekEndOf,
} from '../words.ts'

export const planted: readonly Planted[] = [
  {
    check: 'mart_headcount_once',
    subject: 'mart.headcount_total',
    statements: ['update mart.headcount_total set closing_workers = closing_workers + 1'],
  },
  {
    check: 'mart_headcount_hours',
    subject: 'mart.headcount_weekly',
    rows: 1,
    statements: [
      'update mart.headcount_weekly set pending_hours = pending_hours + 1 where pending_hours > 0',
    ],
  },
]

interface Place {
  readonly company: string
  readonly project: string
  readonly trade: string
  readonly agency: string
}

const placeOf = (record: Raw, trade: string): Place => ({
  company: idOf(record.company),
  project: idOf(record.project),
  trade,
  agency: idOf(record.agency),
})

const groupings = ['all', 'company', 'project', 'trade', 'agency'] as const
type Grouping = (typeof groupings)[number]
const keyIn = (grouping: Grouping, place: Place): string => (grouping === 'all' ? '' : place[grouping])

const sundayOf = (day: string): string => weekEndOf(day, undefined)

interface Span extends Place {
  readonly worker: string
  readonly from: string
  readonly until: string
}

interface Work extends Place {
  readonly worker: string
  readonly sunday: string
  readonly hours: number
  readonly pending: number
}

const known = (workers: readonly string[]): Set<string> => new Set(workers.filter(id => id !== '-1'))

function weekOf(sunday: string, spans: readonly Span[], work: readonly Work[]): Expected | null {
  const near = spans.filter(({ from, until }) => from <= sunday && until >= addDays(sunday, -7))
  if (near.length + work.length === 0) return null
  const workersWhere = (is: (span: Span) => boolean): Set<string> =>
    known(near.filter(is).map(({ worker }) => worker))
  const opening = workersWhere(({ from }) => from <= addDays(sunday, -7))
  const inWeek = workersWhere(({ until }) => until >= addDays(sunday, -6))
  const closing = workersWhere(({ until }) => until >= sunday)
  const busy = groupBy(work, ({ worker }) => worker)
  return {
    workers: inWeek.size,
    opening_workers: opening.size,
    starters: [...inWeek].filter(id => !opening.has(id)).length,
    leavers: [...workersWhere(() => true)].filter(id => !closing.has(id)).length,
    closing_workers: closing.size,
    worked_headcount: known(
      [...busy].filter(([, own]) => sum(own, ({ hours }) => hours) > 0).map(([worker]) => worker),
    ).size,
    net_hours: sum(work, ({ hours }) => hours),
    ...approvedOf(
      'hours',
      sum(work, ({ hours }) => hours),
      sum(work, ({ pending }) => pending),
    ),
  }
}

export const headcountTotal: Audit = {
  mart: 'headcount_total',
  rows: ({ live, gone, today }) => {
    const assignments = byId([...live.assignments, ...gone.assignments])
    const spans = live.assignments.filter(tookPlace).flatMap((one): Span[] => {
      const [from, worker] = [dayOf(one.startDate), idOf(one.worker)]
      if (!from || worker === '-1') return []
      const until = [from, lastDayOf(one) ?? '9999-12-31'].sort()[1] as string
      return [{ ...placeOf(one, idOf(one.trade)), worker, from, until }]
    })
    const current = sundayOf(today)
    const work = live.timesheets
      .filter(sheet => isWorked(sheet) || isWaiting(sheet))
      .map(
        (sheet): Work => ({
          ...placeOf(sheet, idOf(assignments.get(sheet.assignment?.id)?.trade)),
          worker: idOf(sheet.worker),
          sunday: sundayOf(addDays(dayOf(sheet.weekEnding) as string, -3)),
          hours: isWorked(sheet) ? sheet.netHours : 0,
          pending: isWorked(sheet) ? 0 : sheet.netHours,
        }),
      )
    const first = [...spans.map(({ from }) => from), ...work.map(({ sunday }) => sunday)].sort()[0] ?? today
    const rows: Expected[] = []
    for (const grouping of groupings) {
      const spansBy = groupBy(spans, place => keyIn(grouping, place))
      const workBy = groupBy(work, place => keyIn(grouping, place))
      for (const key of new Set([...spansBy.keys(), ...workBy.keys()]))
        for (let sunday = sundayOf(first); sunday <= current; sunday = addDays(sunday, 7)) {
          const done = (workBy.get(key) ?? []).filter(one => one.sunday === sunday)
          const figures = weekOf(sunday, spansBy.get(key) ?? [], done)
          const ids = { company_id: null, project_id: null, trade_id: null, agency_id: null }
          const own = grouping === 'all' ? {} : { [`${grouping}_id`]: key }
          if (figures)
            rows.push({
              group_by: grouping,
              group_key: key,
              week_ending_date: sunday,
              ...ids,
              ...own,
              ...figures,
            })
        }
    }
    return rows
  },
}
