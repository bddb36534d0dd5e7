import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, groupBy, idOf, isWorked, ratio, sum } from '../words.ts'

/** Kinds of hour with the key of their value, and what they are besides weekday time. */
const kinds: readonly (readonly [type: string, key: string, ...traits: string[]])[] = [
  ['weekday', 'wdBasic'],
  ['weekday_overtime', 'wdOvertime', 'overtime'],
  ['weekday_night', 'wdNightwork', 'night'],
  ['weekend_night', 'weNightwork', 'night', 'weekend'],
  ['bank_holiday', 'bankHoliday', 'bank holiday'],
  ['bank_holiday_night', 'bankHolidayNight', 'night', 'bank holiday'],
  ['saturday', 'saturday', 'weekend'],
  ['sunday', 'sunday', 'weekend'],
  ['saturday_night', 'saturdayNightwork', 'night', 'weekend'],
  ['sunday_night', 'sundayNightwork', 'night', 'weekend'],
]

const cent = (value: number): number => Math.round(value * 1e4) / 1e4
const keys = kinds.map(([, key]) => key)
const bucketsOf = (side: Raw): number => sum(keys, key => side[key])

/** How many of the company's timesheets with piece work or expenses have that sum as their totals, pay and charge. */
function basisOf({ live }: Service, company: string): string {
  const sheets = live.timesheets.filter(one => idOf(one.company) === company)
  const named = ['buckets', 'buckets and pieces', 'buckets and expenses', 'buckets, pieces and expenses']
  const counts = named.map(name => {
    const keeps = ({ values, pieceRateEntries }: Raw): boolean => {
      const pieces = (of: string): number => sum(pieceRateEntries, ({ totals }: Raw) => totals[of])
      const expense = values.expense ?? 0
      if (pieces('payValue') === 0 && pieces('chargeValue') === 0 && expense === 0) return false
      const more = (of: string): number =>
        (name.includes('pieces') ? pieces(of) : 0) + (name.includes('expenses') ? expense : 0)
      const gap = (side: Raw, of: string): number => Math.abs(side.total - bucketsOf(side) - more(of))
      return gap(values.pay, 'payValue') < 0.0501 && gap(values.charge, 'chargeValue') < 0.0501
    }
    return sheets.filter(keeps).length
  })
  return named[counts.indexOf(Math.max(...counts))] as string
}

export const overtimeUplift: Audit = {
  mart: 'overtime_uplift',
  rows: service => {
    const groups = groupBy(service.live.timesheets.filter(isWorked), ({ weekEnding, company, project }) =>
      [dayOf(weekEnding), idOf(company), idOf(project)].join(' '),
    )
    const bases = new Map<string, string>()
    return [...groups].flatMap(([key, sheets]) => {
      const [week = '', company = '', project = ''] = key.split(' ')
      if (!bases.has(company)) bases.set(company, basisOf(service, company))
      const total = (side: 'pay' | 'charge'): number => cent(sum(sheets, ({ values }) => values[side].total))
      const of = (side: 'pay' | 'charge', name: string): number =>
        cent(sum(sheets, ({ values }) => values[side][name]))
      const rest = (side: 'pay' | 'charge'): number =>
        cent(total(side) - sum(sheets, ({ values }) => bucketsOf(values[side])))
      const logs = sheets.flatMap(({ timelogs }) => timelogs ?? [])
      const hours = logs
        .map(({ hours }) => hours ?? {})
        .filter(one => one.standard != null || one.overtime != null)
      const standard = hours.length === 0 ? null : sum(hours, one => one.standard)
      const overtime = hours.length === 0 ? null : sum(hours, one => one.overtime)
      const rows = [
        ...kinds.map(([type, name, ...traits]) => ({
          type,
          traits,
          pay: of('pay', name),
          charge: of('charge', name),
        })),
        { type: 'piece_work', traits: [] as string[], pay: rest('pay'), charge: rest('charge') },
      ]
      return rows
        .filter(({ pay, charge }) => pay !== 0 || charge !== 0)
        .map(
          ({ type, traits, pay, charge }): Expected => ({
            week_ending_date: week,
            company_id: company,
            project_id: project,
            hour_type: type,
            is_premium: !['weekday', 'piece_work'].includes(type),
            is_overtime: traits.includes('overtime'),
            is_night: traits.includes('night'),
            is_weekend: traits.includes('weekend'),
            is_bank_holiday: traits.includes('bank holiday'),
            pay_value: pay,
            charge_value: charge,
            week_pay_value: total('pay'),
            week_charge_value: total('charge'),
            pay_share: ratio(pay, total('pay')),
            charge_share: ratio(charge, total('charge')),
            week_net_hours: sum(sheets, ({ netHours }) => netHours),
            week_standard_hours: standard,
            week_overtime_hours: overtime,
            week_overtime_share: standard === null ? null : ratio(overtime ?? 0, standard + (overtime ?? 0)),
            total_basis: bases.get(company) as string,
          }),
        )
    })
  },
}
