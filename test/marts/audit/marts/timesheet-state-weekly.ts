import type { Audit } from '../compare.ts'
import { groupBy } from '../words.ts'
import { timesheetCycle } from './timesheet-cycle.ts'

const keys = ['week_ending_date', 'company_id', 'project_id', 'site_id', 'agency_id', 'status'] as const

export const timesheetStateWeekly: Audit = {
  mart: 'timesheet_state_weekly',
  rows: world => {
    const dated = timesheetCycle.rows(world).filter(row => row.week_ending_date !== null)
    const groups = groupBy(dated, row => JSON.stringify(keys.map(key => row[key])))
    return [...groups].map(([key, own]) => ({
      ...Object.fromEntries((JSON.parse(key) as string[]).map((value, index) => [keys[index], value])),
      timesheets: own.length,
      late_timesheets: own.filter(row => row.is_late).length,
      status_changes: 0,
    }))
  },
}
