/** GET /assignments/{id}. */

import { readEndpoint } from '../declare/read.ts'
import { ownAnswers } from '../keys/agency-view.ts'

export const assignmentRead = readEndpoint({
  path: '/assignments/:id',
  collection: 'assignments',
  noun: 'assignment',
  scope: { company: 'company.id', agency: 'agency.id' },
  present: ownAnswers,
})
