import type { Audit } from '../compare.ts'
import { datedExpenses } from '../expense-weeks.ts'
import type { Raw } from '../odd-world.ts'
import { approvedOf, distinct, groupBy, idOf, sum } from '../words.ts'

const groupsOfCategories: Readonly<Record<string, readonly string[]>> = {
  travel: ['Fuel', 'Mileage', 'Parking', 'Vehicles'],
  lodging: ['Accommodation'],
  plant: ['Plant'],
  pay: [
    'Bonus',
    'Driving hours',
    'Flat rate hours',
    'Manager authorised hours',
    'On-call',
    'Out-of-hours callout',
    'Price work',
    'Training hours',
  ],
}

const groupOf = (category: string): string =>
  Object.entries(groupsOfCategories).find(([, names]) => names.includes(category))?.[0] ?? 'other'

const hasNoReceipt = ({ receipts }: Raw): boolean => !(receipts ?? []).some(({ url }: Raw) => url != null)

export const expenseSummary: Audit = {
  mart: 'expense_summary',
  rows: service => {
    const groups = groupBy(
      datedExpenses(service),
      ({ expense, week }) =>
        `${week} ${idOf(expense.company)} ${idOf(expense.project)} ${expense.category ?? 'none'}`,
    )
    return [...groups.values()].map(claims => {
      const [{ expense, week }] = claims as [(typeof claims)[0]]
      const category = expense.category ?? 'none'
      const inState = (state: string) =>
        claims.map(claim => claim.expense).filter(({ status }) => status === state)
      const approved = inState('approved')
      const value = (state: string) => sum(inState(state), one => one.value)
      return {
        week_ending_date: week,
        company_id: idOf(expense.company),
        project_id: idOf(expense.project),
        category,
        category_group: groupOf(category),
        claims: claims.length,
        workers: distinct(claims.map(claim => idOf(claim.expense.worker)).filter(id => id !== '-1')),
        claims_without_timesheet: claims.filter(({ isOfTimesheet }) => !isOfTimesheet).length,
        approved_value: value('approved'),
        ...approvedOf('value', value('approved'), value('pending')),
        rejected_value: value('rejected'),
        approved_hours: sum(approved, ({ hours }) => hours),
        approved_wra_value: sum(approved, ({ wra }) => (wra?.dailyAmount ?? 0) * (wra?.daysPaid ?? 0)),
        approved_lodging_value: groupOf(category) === 'lodging' ? value('approved') : 0,
        invoiced_value: sum(
          approved.filter(({ invoice }) => invoice?.id != null),
          one => one.value,
        ),
        claims_without_receipt: claims.filter(claim => hasNoReceipt(claim.expense)).length,
        no_receipt_ratio: claims.filter(claim => hasNoReceipt(claim.expense)).length / claims.length,
        approved_without_receipt_value: sum(approved.filter(hasNoReceipt), one => one.value),
      }
    })
  },
}
