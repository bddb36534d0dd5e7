import type { Audit } from '../compare.ts'
import { groupBy, sum } from '../words.ts'
import { workerWeek } from './worker-week.ts'

export const workingTimeWeekly: Audit = {
  mart: 'working_time_weekly',
  rows: world => {
    const weeks = groupBy(workerWeek.rows(world), row => String(row.week_ending_date))
    return [...weeks].map(([week, own]) => ({
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
      longest_week_hours: Math.max(...own.map(row => Number(row.net_hours))),
    }))
  },
}
