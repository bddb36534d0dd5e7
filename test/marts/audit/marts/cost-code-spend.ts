import type { Audit, Expected } from '../compare.ts'
import { datedExpenses } from '../expense-weeks.ts'
import type { Raw } from '../odd-world.ts'
import { costCodeOf, dayOf, groupBy, idOf, isWorked, ratio, sum } from '../words.ts'

type Amount = 'hours' | 'charge' | 'units' | 'pieces' | 'expense'

interface Booked extends Partial<Record<Amount, number>> {
  readonly week: string
  readonly company: string
  readonly project: string
  readonly code: string
}

/** Hours and charge that timelogs allocate, and behind '-1' all that they do not; lines of piece work as they are. */
function bookedBy(sheet: Raw): Booked[] {
  const place = {
    week: dayOf(sheet.weekEnding) as string,
    company: idOf(sheet.company),
    project: idOf(sheet.project),
  }
  const code = (costCode: Raw) => ({ ...place, code: costCodeOf(place.company, costCode) })
  const allocated: Booked[] = sheet.timelogs.flatMap((log: Raw) =>
    log.costCodeAllocations.map(({ costCode, hours }: Raw) => ({
      ...code(costCode),
      hours,
      charge: (log.values.charge.total * hours) / log.hours.total,
    })),
  )
  const rest = {
    ...code(null),
    hours: sheet.netHours - sum(allocated, ({ hours }) => hours),
    charge: sheet.values.charge.total - sum(allocated, ({ charge }) => charge),
  }
  const pieces = sheet.pieceRateEntries.flatMap(({ lines }: Raw) =>
    lines.map(({ costCode, units, chargeValue }: Raw) => ({ ...code(costCode), units, pieces: chargeValue })),
  )
  return [...allocated, rest, ...pieces]
}

export const costCodeSpend: Audit = {
  mart: 'cost_code_spend',
  rows: service => {
    const worked = service.live.timesheets.filter(isWorked).flatMap(bookedBy)
    const claimed = datedExpenses(service)
      .filter(({ expense }) => expense.status === 'approved')
      .map(({ expense, week }) => {
        const company = idOf(expense.company)
        const code = costCodeOf(company, expense.costCode)
        return { week, company, project: idOf(expense.project), code, expense: expense.value }
      })
    const booked: Booked[] = [...worked, ...claimed]
    const total = (items: readonly Booked[], amount: Amount) => sum(items, item => item[amount])
    const projects = groupBy(booked, ({ week, company, project }) => `${week} ${company} ${project}`)
    const isBooked = (items: readonly Booked[]) =>
      (['hours', 'charge', 'units', 'pieces', 'expense'] as const).some(
        amount => Math.abs(total(items, amount)) > 0.00004,
      )
    return [...projects.values()].flatMap(all =>
      [...groupBy(all, ({ code }) => code).values()].filter(isBooked).map((items): Expected => {
        const [{ week, company, project, code }] = items as [Booked]
        return {
          week_ending_date: week,
          company_id: company,
          project_id: project,
          cost_code_id: code,
          hours: total(items, 'hours'),
          charge_value: total(items, 'charge'),
          piece_units: total(items, 'units'),
          piece_charge_value: total(items, 'pieces'),
          expense_value: total(items, 'expense'),
          project_hours: total(all, 'hours'),
          hours_share: ratio(total(items, 'hours'), total(all, 'hours')),
        }
      }),
    )
  },
}
