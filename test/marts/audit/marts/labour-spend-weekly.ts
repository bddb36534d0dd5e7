import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, distinct, groupsOf, idOf, isWorked, ratio, sum } from '../words.ts'

export const labourSpendWeekly: Audit = {
  mart: 'labour_spend_weekly',
  rows: ({ live, gone }) => {
    const assignments = byId([...live.assignments, ...gone.assignments])
    const groups = groupsOf(live.timesheets.filter(isWorked), sheet =>
      [
        dayOf(sheet.weekEnding),
        idOf(sheet.company),
        idOf(sheet.project),
        idOf(sheet.site),
        idOf(assignments.get(sheet.assignment?.id)?.trade),
        idOf(sheet.agency),
        sheet.rateType ?? 'unknown',
      ].join(' '),
    )
    return [...groups].map(([key, sheets]): Expected => {
      const [week = '', company = '', project = '', site = '', trade = '', agency = '', type = ''] =
        key.split(' ')
      const hours = sum(sheets, ({ netHours }) => netHours)
      const pay = sum(sheets, ({ values }) => values.pay.total)
      const charge = sum(sheets, ({ values }) => values.charge.total)
      const expense = sum(sheets, ({ values }) => values.expense)
      const logged = sheets.filter(({ timelogs }) => timelogs.length > 0)
      const logs = logged.flatMap(({ timelogs }) => timelogs as Raw[])
      const told = (value: number): number | null => (logs.length === 0 ? null : value)
      return {
        week_ending_date: week,
        company_id: company,
        project_id: project,
        site_id: site,
        trade_id: trade,
        agency_id: agency,
        rate_type: type,
        timesheets: sheets.length,
        workers: distinct(sheets.map(({ worker }) => idOf(worker)).filter(id => id !== '-1')),
        net_hours: hours,
        pay_value: pay,
        charge_value: charge,
        margin_value: charge - pay,
        employer_cost_value: told(sum(logs, ({ values }) => values.emp.total)),
        agency_margin_value: told(sum(logs, ({ values }) => values.margin.total)),
        margin_timesheets: logged.length,
        expense_value: expense,
        cost_value: charge + expense,
        cost_per_hour: ratio(charge + expense, hours),
      }
    })
  },
}
