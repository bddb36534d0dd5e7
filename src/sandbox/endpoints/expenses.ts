/** GET /expenses and GET /expenses/{id}. */
import { ApiError } from '../api-error.ts'
import { parseParameters } from '../parameters.ts'
import { findByAnyId } from '../short-id.ts'
import type { Endpoint } from './endpoint.ts'
import { byId, byValue } from './filter.ts'
import { listEndpoint } from './list.ts'
import { scopeTests } from './scope.ts'

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

const scope = { company: 'company.id', agency: 'agency.id' }

export const expenseList = listEndpoint({
  path: '/expenses',
  collection: 'expenses',
  scope,
  company: 'ids',
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

export const expenseRead: Endpoint = {
  path: '/expenses/:id',
  answer: ({ key, world, params, query }) => {
    parseParameters({}, query)
    const expense = findByAnyId(world, 'expenses', params.id ?? '')
    if (!expense || !scopeTests(key, world, scope).every(test => test(expense))) {
      throw new ApiError(404, 'expense not found')
    }
    return { data: expense }
  },
}
