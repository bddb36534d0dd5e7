import type { Planted } from '../../planting.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import {
  addDays,
  approvedOf,
  byId,
  dayOf,
  distinct,
  groupBy,
  idOf,
  isWaiting,
  isWorked,
  ratio,
  sum,
} from '../words.ts'

export const planted: readonly Planted[] = [
  {
    check: 'mart_labour_totals',
    subject: 'mart.labour_spend_weekly',
    statements: ['update mart.labour_spend_weekly set below_minimum_hours = minimum_wage_hours + 1'],
  },
  {
    check: 'mart_labour_totals',
    subject: 'mart.labour_spend_weekly',
    rows: 1,
    statements: [
      'update mart.labour_spend_weekly set pending_value = pending_value + 1 where pending_value > 0',
    ],
  },
  {
    check: 'mart_settled_weeks',
    subject: 'mart.labour_spend_weekly',
    statements: [
      `update mart.labour_spend_weekly set is_settled_week = not is_settled_week where rate_type = 'cis'`,
    ],
  },
]

const workersOf = (sheets: readonly Raw[]): number =>
  distinct(sheets.map(({ worker }) => idOf(worker)).filter(id => id !== '-1'))
const chargeOf = (sheets: readonly Raw[]): number => sum(sheets, ({ values }) => values.charge.total)
const hoursOf = (sheets: readonly Raw[]): number => sum(sheets, ({ netHours }) => netHours)

/** Of workers aged 21 and over since 2025: gov.uk/national-minimum-wage-rates. */
const minimumWageOn = (day: string): number =>
  day < '2025-04-01' ? 11.44 : day < '2026-04-01' ? 12.21 : 12.71

/** What the pay lacks to the minimum wage; null where the two are not compared. */
function shortfallOf(sheet: Raw, company: Raw): number | null {
  const isCompared = sheet.rateType === 'paye' && sheet.netHours > 0
  if (!isCompared || company?.address?.country !== 'United Kingdom') return null
  const minimum = minimumWageOn(addDays(dayOf(sheet.weekEnding) as string, -6))
  if (sheet.payType === 'daily') return minimum * sheet.netHours - sheet.values.pay.total
  return (minimum - sheet.rates.wd.pay) * sheet.netHours
}

function statementsOf(sheets: readonly Raw[], assignments: ReadonlyMap<string, Raw>): Expected {
  const assignmentOf = ({ assignment }: Raw): Raw => assignments.get(assignment?.id)
  const psc = sheets.filter(({ rateType }) => rateType === 'psc')
  const without = psc.filter(sheet => assignmentOf(sheet) && assignmentOf(sheet).sds == null)
  const umbrella = sheets.filter(sheet => assignmentOf(sheet)?.umbrella != null)
  return {
    psc_without_sds_workers: workersOf(without),
    psc_without_sds_hours: hoursOf(without),
    psc_without_sds_value: chargeOf(without),
    psc_sds_unknown_value: chargeOf(psc.filter(sheet => !assignmentOf(sheet))),
    umbrella_workers: workersOf(umbrella),
    umbrella_hours: hoursOf(umbrella),
    umbrella_value: chargeOf(umbrella),
  }
}

function minimumOf(sheets: readonly Raw[], companies: ReadonlyMap<string, Raw>): Expected {
  const compared = sheets.flatMap(sheet => {
    const lacking = shortfallOf(sheet, companies.get(idOf(sheet.company)))
    return lacking === null ? [] : [{ hours: sheet.netHours, lacking }]
  })
  const below = compared.filter(({ lacking }) => lacking > 0)
  return {
    minimum_wage_hours: sum(compared, ({ hours }) => hours),
    below_minimum_hours: sum(below, ({ hours }) => hours),
    below_minimum_value: sum(below, ({ lacking }) => lacking),
  }
}

export const labourSpendWeekly: Audit = {
  mart: 'labour_spend_weekly',
  rows: ({ live, gone }) => {
    const assignments = byId([...live.assignments, ...gone.assignments])
    const companies = byId(live.companies)
    const groups = groupBy(
      live.timesheets.filter(sheet => isWorked(sheet) || isWaiting(sheet)),
      sheet =>
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
    return [...groups].map(([key, all]): Expected => {
      const sheets = all.filter(isWorked)
      const waiting = all.filter(isWaiting)
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
        workers: workersOf(sheets),
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
        pending_timesheets: waiting.length,
        ...approvedOf(
          'value',
          charge + expense,
          sum(waiting, ({ values }) => values.charge.total + values.expense),
        ),
        ...statementsOf(sheets, assignments),
        ...minimumOf(sheets, companies),
      }
    })
  },
}
