import type { Audit, Expected } from '../compare.ts'
import { dayOf, daysFrom, idOf } from '../words.ts'

const mostDays = 3

export const timesheetCycle: Audit = {
  mart: 'timesheet_cycle',
  rows: ({ live, today }) =>
    live.timesheets.map((sheet): Expected => {
      const [week, created, approved] = [
        dayOf(sheet.weekEnding),
        dayOf(sheet.createdAt),
        dayOf(sheet.approvedDate),
      ]
      const since = (day: string | null): number | null => (week && day ? daysFrom(week, day) : null)
      const isWaiting = ['pending', 'pending_approval'].includes(sheet.status)
      const waiting = isWaiting ? since(today) : null
      const late = since(approved) ?? waiting
      return {
        timesheet_id: sheet.id,
        reference: sheet.reference,
        status: sheet.status,
        company_id: idOf(sheet.company),
        project_id: idOf(sheet.project),
        site_id: idOf(sheet.site),
        agency_id: idOf(sheet.agency),
        worker_id: idOf(sheet.worker),
        assignment_id: sheet.assignment?.id ?? null,
        week_ending_date: week,
        created_at: sheet.createdAt,
        approved_at: sheet.approvedDate ?? null,
        created_date: created,
        approved_date: approved,
        week_end_to_created_days: since(created),
        week_end_to_approval_days: since(approved),
        waiting_days: waiting,
        is_late: approved || isWaiting ? (late === null ? null : late > mostDays) : false,
        versions: sheet.version,
        status_changes: 0,
      }
    }),
}
