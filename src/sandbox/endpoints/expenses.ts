/** GET /expenses and GET /expenses/{id}. */
import { expenses } from '../../contract/resources/expenses.ts'
import { byId, byValue } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'

const expenseCategories = [
  'Accommodation',
  'Bonus',
  'Driving hours',
  'Flat rate hours',
  'Fuel',
  'Manager authorised hours',
  'Mileage',
  'On-call',
  'Other',
  'Out-of-hours callout',
  'Parking',
  'Plant',
  'Price work',
  'Training hours',
  'Vehicles',
] as const

const expense = recordOf('Expense', expenses)
const within = { company: 'company.id', agency: 'agency.id' }

export const expenseList = listEndpoint({
  path: '/expenses',
  scope: 'read:workers',
  tool: 'list_expenses',
  summary: 'Expenses.',
  returns: expense,
  collection: 'expenses',
  within,
  byCompany: true,
  filters: {
    status: byValue('status', ['pending', 'approved', 'rejected']),
    project: byId('project.id'),
    timesheet: byId('timesheet.id'),
    worker: byId('worker.id'),
    agency: byId('agency.id'),
    category: byValue('category', expenseCategories),
  },
  search: ['category', 'description'],
  dates: { fields: ['date', 'createdAt', 'updatedAt', 'approvalDate'], by: 'date' },
  sort: {
    fields: ['createdAt', 'updatedAt', 'date', 'value', 'status', 'category'],
    by: 'createdAt',
    order: 'desc',
  },
})

export const expenseRead = readEndpoint({
  path: '/expenses/:id',
  scope: 'read:workers',
  tool: 'get_expense',
  summary: 'One expense.',
  returns: expense,
  collection: 'expenses',
  noun: 'expense',
  within,
})
