/** GET /timesheets. */
import { timesheets } from '../../contract/resources/timesheets.ts'
import { byIds, byValue } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/record-schema.ts'

export const timesheetList = listEndpoint({
  path: '/timesheets',
  scope: 'read:workers',
  tool: 'list_timesheets',
  summary: 'Timesheets.',
  returns: recordOf('Timesheet', timesheets),
  collection: 'timesheets',
  within: { company: 'company.id', agency: 'agency.id' },
  byCompany: true,
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
  includes: { includeTimelogs: { field: 'timelogs', meaning: 'Adds the time logs.' } },
  hidden: ['workerReference'],
})
