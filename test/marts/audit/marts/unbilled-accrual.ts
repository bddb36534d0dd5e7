import type { Audit, Expected } from '../compare.ts'
import { type Owed, owedWork } from '../owed-work.ts'
import { daysFrom, idOf } from '../words.ts'

const bandOf = (age: number | null): string | null => {
  if (age === null) return null
  if (age < 0) return 'not ended'
  if (age <= 7) return '0-7'
  if (age <= 14) return '8-14'
  return age <= 28 ? '15-28' : '29+'
}

const stateOf = ({ kind, isApproved }: Owed): string =>
  kind === 'claim' ? 'claims' : isApproved ? 'approved' : 'unapproved'

export const unbilledAccrual: Audit = {
  mart: 'unbilled_accrual',
  rows: service =>
    owedWork(service)
      .filter(({ billedOn }) => billedOn.length === 0)
      .map((one): Expected => {
        const { kind, record, sheet, week, value } = one
        const age = week === null ? null : daysFrom(week, service.today)
        return {
          accrual_state: stateOf(one),
          record_id: record.id,
          timesheet_id: sheet?.id ?? null,
          reference: sheet?.reference ?? null,
          company_id: idOf(record.company),
          project_id: idOf(record.project),
          site_id: idOf(sheet?.site),
          agency_id: idOf(record.agency),
          worker_id: idOf(record.worker),
          assignment_id: sheet?.assignment?.id ?? null,
          rate_type: sheet?.rateType ?? null,
          week_ending_date: week,
          approved_at: one.approvedAt,
          is_billed_to_msp: one.isBilledToMsp,
          net_hours: one.hours,
          accrued_charge_value: kind === 'claim' ? 0 : value,
          accrued_expense_value: kind === 'claim' ? value : 0,
          accrued_value: value,
          age_days: age,
          age_band: bandOf(age),
        }
      }),
}
