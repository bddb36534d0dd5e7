import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, daysFrom, idOf, sum } from '../words.ts'

export const openDemand: Audit = {
  mart: 'open_demand',
  // The service's own rows, which the last two count, are not read here.
  opaque: ['company_requisitions_stored', 'company_requisitions_counted'],
  rows: ({ live, today }) => {
    const companies = byId(live.companies)
    return live.requisitions.flatMap((requisition): Expected[] => {
      const { agencies, quantity, status, approvedDate, createdAt, startDate, endDate } = requisition
      const assigned = sum(agencies, (agency: Raw) => agency.assigned)
      if (!['raised', 'approved'].includes(status) || quantity - assigned <= 0) return []
      const warning = companies.get(idOf(requisition.company))?.config?.leadTimeWarning
      const [opened, start] = [dayOf(approvedDate ?? createdAt) as string, dayOf(startDate)]
      const end = dayOf(endDate)
      const isExpired = end !== null && end < today
      const toStart = start ? daysFrom(today, start) : null
      return [
        {
          snapshot_date: today,
          requisition_id: requisition.id,
          requisition_reference: requisition.reference,
          status,
          company_id: idOf(requisition.company),
          project_id: idOf(requisition.project),
          site_id: idOf(requisition.site),
          trade_id: idOf(requisition.trade),
          quantity,
          assigned,
          open_quantity: quantity - assigned,
          agencies: agencies.length,
          is_approved: approvedDate != null,
          opened_date: opened,
          days_open: daysFrom(opened, today),
          planned_start_date: start,
          days_to_start: toStart,
          lead_time_days: warning?.days ?? null,
          planned_end_date: end,
          is_expired: isExpired,
          live_open_quantity: isExpired ? 0 : quantity - assigned,
          is_inside_lead_time: toStart !== null && Boolean(warning?.enabled) && toStart <= warning.days,
        },
      ]
    })
  },
}
