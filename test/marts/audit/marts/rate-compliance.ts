import { cardsOf } from '../cards.ts'
import type { Audit } from '../compare.ts'
import { groupBy, idOf, sum } from '../words.ts'

export const rateCompliance: Audit = {
  mart: 'rate_compliance',
  rows: service => {
    const cardOf = cardsOf(service)
    const worked = service.live.timesheets.filter(
      sheet => sheet.status === 'approved' && sheet.assignment && sheet.rates?.wd?.charge != null,
    )
    const sheetsOf = groupBy(worked, ({ assignment }) => assignment.id)
    return service.live.assignments.map(assignment => {
      const card = cardOf(assignment)
      const all = sheetsOf.get(assignment.id) ?? []
      const sheets = all.filter(({ payType }) => payType == null || payType === assignment.payType)
      const charges = sheets.map(({ rates }) => Number(rates.wd.charge))
      const above = card ? sheets.filter(({ rates }) => rates.wd.charge > card.set.charge) : []
      return {
        assignment_id: assignment.id,
        assignment_reference: assignment.reference,
        status: assignment.status,
        company_id: idOf(assignment.company),
        project_id: idOf(assignment.project),
        trade_id: idOf(assignment.trade),
        agency_id: idOf(assignment.agency),
        rate_type: assignment.rateType,
        pay_type: assignment.payType ?? 'none',
        rate_id: card?.rate.id ?? null,
        card_reach: card?.reach ?? 'none',
        card_pay_rate: card?.set.pay ?? null,
        card_charge_rate: card?.set.charge ?? null,
        pay_rate: assignment.rates.pay,
        charge_rate: assignment.rates.charge,
        charge_variance: card ? assignment.rates.charge - card.set.charge : null,
        is_above_card: card ? assignment.rates.charge > card.set.charge : null,
        timesheets: sheets.length,
        timesheets_of_other_pay_type: all.length - sheets.length,
        timesheets_above_card: card ? above.length : null,
        above_card_hours: card ? sum(above, ({ netHours }) => netHours) : null,
        highest_timesheet_charge_rate: charges.length > 0 ? Math.max(...charges) : null,
      }
    })
  },
}
