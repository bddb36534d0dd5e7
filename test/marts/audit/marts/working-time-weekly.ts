import type { Audit, Expected } from '../compare.ts'
import { addDays, approvedOf, dayOf, groupBy, idOf, isWaiting, sum, weekEndOf } from '../words.ts'
import { workerWeek } from './worker-week.ts'

const figuresOf = (week: string, own: readonly Expected[]): Expected => ({
  week_ending_date: week,
  workers: own.filter(row => Number(row.net_hours) > 0).length,
  workers_over_threshold: own.filter(row => row.is_over_threshold).length,
  workers_above_48: own.filter(row => row.wtr_risk === 'above 48').length,
  workers_near_48: own.filter(row => row.wtr_risk === '44 to 48').length,
  net_hours: sum(own, row => Number(row.net_hours)),
  hours_over: sum(own, row => Number(row.hours_over)),
  workers_with_short_rest: own.filter(row => Number(row.short_rests) > 0).length,
  short_rests: sum(own, row => Number(row.short_rests)),
  night_workers: own.filter(row => Number(row.night_shifts) > 0).length,
  night_shifts: sum(own, row => Number(row.night_shifts)),
  night_hours: sum(own, row => Number(row.night_hours)),
  longest_week_hours: Math.max(0, ...own.map(row => Number(row.net_hours))),
})

export const workingTimeWeekly: Audit = {
  mart: 'working_time_weekly',
  rows: world => {
    const weeks = groupBy(workerWeek.rows(world), row => String(row.week_ending_date))
    const waiting = groupBy(
      world.live.timesheets.filter(sheet => isWaiting(sheet) && idOf(sheet.worker) !== '-1'),
      ({ weekEnding }) => weekEndOf(addDays(dayOf(weekEnding) as string, -3), undefined),
    )
    return [...new Set([...weeks.keys(), ...waiting.keys()])].map(week => ({
      ...figuresOf(week, weeks.get(week) ?? []),
      ...approvedOf(
        'hours',
        sum(weeks.get(week) ?? [], row => Number(row.net_hours)),
        sum(waiting.get(week) ?? [], ({ netHours }) => netHours),
      ),
    }))
  },
}
