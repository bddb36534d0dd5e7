import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, daysFrom, idOf } from '../words.ts'

/** The latest approval, submission, claim or entry in a log that names each user. */
function lastActivities({ live }: Service): ReadonlyMap<string, string> {
  const latest = new Map<string, string>()
  const note = (userId: unknown, at: unknown) => {
    if (typeof userId !== 'string' || typeof at !== 'string') return
    if (at > (latest.get(userId) ?? '')) latest.set(userId, at)
  }
  for (const { approvedBy, approvedDate } of live.timesheets) note(approvedBy?.id, approvedDate)
  for (const { approvedBy, approvalDate, createdBy, createdAt } of live.expenses) {
    note(approvedBy?.id, approvalDate)
    note(createdBy?.id, createdAt)
  }
  for (const { activities } of live.assignments)
    for (const { userId, created } of activities) note(userId, created)
  for (const { agencies, stageTracking = [] } of live.requisitions) {
    for (const { submissions } of agencies)
      for (const { submittedBy, submittedAt } of submissions) note(submittedBy?.id, submittedAt)
    for (const { history } of stageTracking) for (const { byUserId, at } of history) note(byUserId, at)
  }
  return latest
}

/** The day so many calendar months before. */
function monthsBefore(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 - months, 1))
  const longest = new Date(Date.UTC(year, month - months, 0)).getUTCDate()
  return `${first.toISOString().slice(0, 8)}${String(Math.min(date, longest)).padStart(2, '0')}`
}

export const accessReview: Audit = {
  mart: 'access_review',
  rows: service => {
    const { live, today } = service
    const users = byId(live.users)
    const companies = byId(live.companies)
    const activities = lastActivities(service)
    return live.companyUsers.flatMap(row =>
      row.projects.flatMap((project: Raw) =>
        project.permissions.map((permission: Raw): Expected => {
          const last = activities.get(row.id) ?? null
          const months = companies.get(row.companyId)?.config?.userInactivityMonths ?? null
          const isAccountActive = users.get(row.id)?.active ?? null
          const isUnused = last === null || (dayOf(last) as string) < monthsBefore(today, months ?? 0)
          return {
            company_id: row.companyId,
            user_id: row.id,
            project_id: idOf(project),
            permission_id: idOf(permission),
            permission_name: permission.name,
            permission_category: permission.category,
            role_label: row.role,
            access_status: row.status,
            is_account_active: isAccountActive,
            is_permitted: permission.permitted,
            last_activity_at: last,
            days_since_activity: last === null ? null : daysFrom(dayOf(last) as string, today),
            inactivity_months: months,
            is_inactive_but_permitted:
              permission.permitted && (row.status === 'Inactive' || isAccountActive === false),
            // Nobody can say where the company does not configure it.
            is_dormant_but_permitted: months === null ? null : permission.permitted && isUnused,
          }
        }),
      ),
    )
  },
}
