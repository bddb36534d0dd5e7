/** GET /assignments/{id}. */
import { ownAnswers } from './agency-view.ts'
import { readEndpoint } from './read.ts'

export const assignmentRead = readEndpoint({
  path: '/assignments/:id',
  collection: 'assignments',
  noun: 'assignment',
  scope: { company: 'company.id', agency: 'agency.id' },
  present: ownAnswers,
})
