/** GET /assignments/{id}. */
import { assignments } from '../../contract/resources/assignments.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { withOwnAnswers } from '../keys/agencies.ts'

export const assignmentRead = readEndpoint({
  path: '/assignments/:id',
  scope: 'read:workers',
  tool: 'get_assignment',
  summary: 'One assignment.',
  returns: recordOf('Assignment', assignments),
  collection: 'assignments',
  noun: 'assignment',
  within: { company: 'company.id', agency: 'agency.id' },
  present: withOwnAnswers,
})
