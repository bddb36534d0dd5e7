/** Serves the work of agencies: GET /assignments/{id}, /timesheets, /expenses and /expenses/{id}. */
import { operations } from '../../contract/operations.ts'
import { assignments } from '../../contract/resources/assignments.ts'
import { expenses } from '../../contract/resources/expenses.ts'
import { timesheets } from '../../contract/resources/timesheets.ts'
import { readEndpoint } from '../declare/endpoint.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/schemas.ts'
import { withOwnAnswers } from '../keys/scope.ts'

const within = { company: 'company.id', agency: 'agency.id' }
const expense = recordOf('Expense', expenses)

export const assignmentRead = readEndpoint({
  operation: operations.readAssignment,
  scope: 'read:workers',
  noun: 'assignment',
  returns: recordOf('Assignment', assignments),
  collection: 'assignments',
  within,
  present: withOwnAnswers,
})

export const timesheetList = listEndpoint({
  operation: operations.listTimesheets,
  scope: 'read:workers',
  summary: 'Timesheets.',
  returns: recordOf('Timesheet', timesheets),
  collection: 'timesheets',
  within,
  search: ['reference', 'worker.name', 'worker.reference', 'workerReference', 'agency.name'],
  sort: ['createdAt', 'desc'],
  paths: { timesheetRef: 'reference' },
  hidden: ['workerReference'],
})

export const expenseList = listEndpoint({
  operation: operations.listExpenses,
  scope: 'read:workers',
  summary: 'Expenses.',
  returns: expense,
  collection: 'expenses',
  within,
  search: ['category', 'description'],
  datedBy: 'date',
  sort: ['createdAt', 'desc'],
})

export const expenseRead = readEndpoint({
  operation: operations.readExpense,
  scope: 'read:workers',
  noun: 'expense',
  returns: expense,
  collection: 'expenses',
  within,
})
