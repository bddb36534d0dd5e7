import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, daysFrom, idOf } from '../words.ts'

interface Obligation {
  readonly type: string
  readonly what: string | null
  readonly isRequired: boolean | null
  readonly isPresent: boolean | null
  readonly expiry?: string | null
}

function bandOf(days: number): string {
  if (days < 0) return 'expired'
  return days <= 30 ? '30 days' : days <= 60 ? '60 days' : days <= 90 ? '90 days' : 'later'
}

function stateOf({ isRequired, isPresent }: Obligation, days: number | null): string {
  if (isPresent === null) return 'not known'
  if (!isPresent) return isRequired ? 'missing' : isRequired === null ? 'not known' : 'not required'
  if (days === null) return 'present'
  return days < 0 ? 'expired' : days <= 30 ? 'expiring' : 'present'
}

function obligationsOf(assignment: Raw, company: Raw): Obligation[] {
  const required = company?.config?.assignmentRequirements ?? {}
  const statement = (type: string, isPresent: boolean): Obligation => ({
    type,
    what: null,
    isRequired: required[type]?.required ?? null,
    isPresent,
  })
  const { confirm } = required
  const mustConfirm = confirm ? Boolean(confirm.company) || Boolean(confirm.supplier) : null
  return [
    statement('sds', assignment.sds != null),
    statement('sdc', assignment.sdc?.attachment != null),
    statement('kid', assignment.kid != null),
    {
      type: 'confirmation',
      what: null,
      isRequired: mustConfirm,
      isPresent: assignment.confirmationDate != null,
    },
    ...assignment.customDocuments.map((document: Raw) => ({
      type: 'document',
      what: document.name,
      isRequired: document.required ?? null,
      isPresent: document.attachment != null,
      expiry: document.expiry,
    })),
    ...assignment.competencyRequirements.flatMap(({ items, groups }: Raw) =>
      [...items, ...groups.flatMap((group: Raw) => group.items)].map(({ name }: Raw) => ({
        type: 'qualification',
        what: name,
        isRequired: true,
        isPresent: null,
      })),
    ),
  ]
}

export const complianceRegister: Audit = {
  mart: 'compliance_register',
  opaque: ['compliance_key', 'obligation'],
  by: ['assignment_id', 'obligation_type'],
  rows: ({ live, today }) => {
    const companies = byId(live.companies)
    const open = live.assignments.filter(({ status }) => ['pending', 'confirmed'].includes(status))
    return open.flatMap(assignment =>
      obligationsOf(assignment, companies.get(idOf(assignment.company))).map((obligation): Expected => {
        const expires = obligation.isPresent ? dayOf(obligation.expiry) : null
        const days = expires === null ? null : daysFrom(today, expires)
        return {
          assignment_id: assignment.id,
          assignment_reference: assignment.reference,
          assignment_status: assignment.status,
          company_id: idOf(assignment.company),
          project_id: idOf(assignment.project),
          site_id: idOf(assignment.site),
          agency_id: idOf(assignment.agency),
          worker_id: idOf(assignment.worker),
          start_date: dayOf(assignment.startDate),
          end_date: dayOf(assignment.endDate),
          obligation_type: obligation.type,
          is_required: obligation.isRequired,
          is_present: obligation.isPresent,
          expires_date: expires,
          days_to_expiry: days,
          expiry_band: days === null ? null : bandOf(days),
          state: stateOf(obligation, days),
        }
      }),
    )
  },
}
