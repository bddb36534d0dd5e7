import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, daysFrom, elapsedHours, idOf } from '../words.ts'

const maxDays = 3

/** In this world no event told of a request, and nothing was read twice: the state and the approval are all there is. */
function submissionOf(sheet: Raw): { at: string; basis: string } | null {
  if (['absent', 'cancelled'].includes(sheet.status)) return null
  const waiting = sheet.status === 'pending_approval' ? sheet.updatedAt : null
  const approved = sheet.approvedDate ?? null
  if (waiting && (!approved || Date.parse(waiting) <= Date.parse(approved)))
    return { at: waiting, basis: 'seen waiting' }
  return approved ? { at: approved, basis: 'approval' } : null
}

export function isOnTime(sheet: Raw, today: string): boolean | null {
  const week = dayOf(sheet.weekEnding)
  if (['absent', 'cancelled'].includes(sheet.status) || week === null) return null
  const submitted = submissionOf(sheet)
  if (submitted === null) return daysFrom(week, today) > maxDays ? false : null
  if (daysFrom(week, dayOf(submitted.at) as string) <= maxDays) return true
  return submitted.basis === 'approval' ? null : false
}

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
      const late = approved ? since(approved) : since(today)
      const submission = submissionOf(sheet)
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
        is_late: ['absent', 'cancelled'].includes(sheet.status) || late === null ? null : late > maxDays,
        submitted_at: submission?.at ?? null,
        submitted_date: dayOf(submission?.at),
        submitted_basis: submission?.basis ?? null,
        week_end_to_submission_days: since(dayOf(submission?.at)),
        is_on_time: isOnTime(sheet, today),
        approved_by_user_id: idOf(sheet.approvedBy),
        approval_hours:
          submission?.basis === 'seen waiting' && sheet.approvedDate
            ? elapsedHours(submission.at, sheet.approvedDate)
            : null,
        versions: sheet.version,
        status_changes: 0,
      }
    }),
}
