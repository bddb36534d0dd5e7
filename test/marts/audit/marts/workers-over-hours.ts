import type { Planted } from '../../planting.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, distinct, groupBy, idOf, sum } from '../words.ts'

/** The metric counts days in UTC. */
const dayOf = ({ weekEnding }: Raw): string => weekEnding.slice(0, 10)
const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7))

const keys: Readonly<Record<string, (sheet: Raw) => string>> = {
  company: ({ company }) => idOf(company),
  project: ({ project }) => idOf(project),
  agency: ({ agency }) => idOf(agency),
  month: sheet => dayOf(sheet).slice(0, 7),
  week: sheet => mondayOf(dayOf(sheet)),
}

export const planted: readonly Planted[] = [
  {
    check: 'mart_over_hours_companies',
    subject: 'mart.workers_over_hours',
    statements: ['update mart.workers_over_hours set left_out_worker_weeks = -1'],
  },
]

/** No crosscheck has compared anything in this world. */
const unanswered: Expected = {
  api_worker_weeks: null,
  api_workers_over_threshold: null,
  api_distinct_workers_over_threshold: null,
  api_total_hours: null,
  api_average_weekly_hours: null,
  api_max_weekly_hours: null,
  workers_over_threshold_difference: null,
}

export const workersOverHours: Audit = {
  mart: 'workers_over_hours',
  rows: ({ live }) => {
    const counted = live.timesheets.filter(({ status, weekEnding }) => status === 'approved' && weekEnding)
    const groupings = ['all', 'company', 'project', 'agency', 'month', 'week', 'company,month']
    return groupings.flatMap(grouping => {
      const parts = grouping === 'all' ? [] : grouping.split(',')
      const groups = groupBy(counted, sheet => parts.map(part => keys[part]?.(sheet)).join('|'))
      return [...groups].flatMap(([key, own]) => {
        const values = key.split('|')
        const of = (name: string): string | null => values[parts.indexOf(name)] ?? null
        const weeks = [...groupBy(own, ({ worker, weekEnding }) => `${idOf(worker)} ${weekEnding}`)].map(
          ([name, sheets]) => ({
            worker: name.split(' ')[0],
            hours: Math.round(sum(sheets, ({ netHours }) => netHours) * 1e4) / 1e4,
          }),
        )
        const total = sum(weeks, ({ hours }) => hours)
        const month = of('month')
        return [40, 48, 60].map((threshold): Expected => {
          const over = weeks.filter(({ hours }) => hours > threshold)
          return {
            group_by: grouping,
            group_key: key,
            company_id: of('company'),
            project_id: of('project'),
            agency_id: of('agency'),
            month_start_date: month === null ? null : `${month}-01`,
            week_start_date: of('week'),
            threshold_hours: `${threshold}.0000`,
            ...unanswered,
            // Nothing is calibrated in this world: the rule leaves no company out.
            ...{ left_out_worker_weeks: 0, left_out_over_threshold: 0 },
            ...{ all_companies_worker_weeks: weeks.length, all_companies_over_threshold: over.length },
            worker_weeks: weeks.length,
            workers_over_threshold: over.length,
            distinct_workers_over_threshold: distinct(over.map(({ worker }) => worker)),
            total_hours: total,
            average_weekly_hours: total / weeks.length,
            max_weekly_hours: Math.max(...weeks.map(({ hours }) => hours)),
            hours_field: 'netHours',
            match_status: 'not checked',
            metric_definition_id: 'default',
          }
        })
      })
    })
  },
}
