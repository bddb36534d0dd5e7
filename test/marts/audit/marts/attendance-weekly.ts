import type { Audit } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, distinct, groupBy, idOf, ratio, sum } from '../words.ts'

const people = (sheets: readonly Raw[]): number =>
  distinct(sheets.map(({ worker }) => idOf(worker)).filter(id => id !== '-1'))

export const attendanceWeekly: Audit = {
  mart: 'attendance_weekly',
  rows: ({ live }) => {
    const sheets = live.timesheets.filter(
      ({ weekEnding, status }) => dayOf(weekEnding) && status !== 'cancelled',
    )
    const groups = groupBy(sheets, ({ weekEnding, company, project, agency }) =>
      [dayOf(weekEnding), idOf(company), idOf(project), idOf(agency)].join(' '),
    )
    return [...groups].map(([key, own]) => {
      const [week = '', company = '', project = '', agency = ''] = key.split(' ')
      const absent = own.filter(({ status }) => status === 'absent')
      const logs = own
        .filter(({ status }) => status === 'approved')
        .flatMap(({ timelogs }) => timelogs.map(({ hours }: Raw) => hours))
      const overtime = sum(logs, hours => hours.overtime)
      const all = sum(logs, hours => hours.total)
      return {
        week_ending_date: week,
        company_id: company,
        project_id: project,
        agency_id: agency,
        timesheets: own.length,
        absent_timesheets: absent.length,
        absence_ratio: ratio(absent.length, own.length),
        workers: people(own.filter(({ status }) => status !== 'absent')),
        absent_workers: people(absent),
        standard_hours: sum(logs, hours => hours.standard),
        overtime_hours: overtime,
        logged_hours: all,
        overtime_ratio: ratio(overtime, all),
      }
    })
  },
}
