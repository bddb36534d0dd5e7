/** GET /projects and GET /projects/{id}. */

import { byActive, byId } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'
import { withoutFields } from '../records/select-fields.ts'

const scope = { company: 'company.id' }

export const projectList = listEndpoint({
  path: '/projects',
  collection: 'projects',
  scope,
  company: 'ids',
  filters: { status: byActive(), region: byId('region.id'), sector: byId('sector.id') },
  search: ['name', 'code'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name', 'code'], by: 'name', order: 'asc' },
  includes: { includeConfig: 'config' },
})

export const projectRead = readEndpoint({
  path: '/projects/:id',
  collection: 'projects',
  noun: 'project',
  scope,
  includes: ['includeConfig'],
  present: (project, _, { includeConfig }) => withoutFields(project, includeConfig ? [] : ['config']),
})
