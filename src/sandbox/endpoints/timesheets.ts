/** GET /timesheets. */
import { byIds, byValue } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'

export const timesheetList = listEndpoint({
  path: '/timesheets',
  collection: 'timesheets',
  scope: { company: 'company.id', agency: 'agency.id' },
  company: 'ids',
  filters: {
    status: byValue('status', ['pending', 'pending_approval', 'approved', 'cancelled', 'absent']),
    project: byIds('project.id'),
    site: byIds('site.id'),
    assignment: byIds('assignment.id'),
    worker: byIds('worker.id'),
    agency: byIds('agency.id'),
  },
  search: ['reference', 'worker.name', 'worker.reference', 'workerReference', 'agency.name'],
  dates: {
    fields: ['createdAt', 'updatedAt', 'start', 'end', 'weekEnding', 'approvedDate'],
    by: 'createdAt',
  },
  sort: {
    fields: ['createdAt', 'updatedAt', 'timesheetRef', 'start', 'weekEnding', 'approvedDate'],
    by: 'createdAt',
    order: 'desc',
    paths: { timesheetRef: 'reference' },
  },
  includes: { includeTimelogs: 'timelogs' },
  hidden: ['workerReference'],
})
