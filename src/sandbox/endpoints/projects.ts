/** GET /projects and GET /projects/{id}. */
import { projects } from '../../contract/resources/projects.ts'
import { byActive, byId } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'

const project = recordOf('Project', projects)
const within = { company: 'company.id' }
const includes = { includeConfig: { field: 'config', meaning: 'Adds the configuration.' } }

export const projectList = listEndpoint({
  path: '/projects',
  keys: 'company',
  scope: 'read:projects',
  tool: 'list_projects',
  summary: 'Projects.',
  returns: project,
  collection: 'projects',
  within,
  byCompany: true,
  filters: { status: byActive(), region: byId('region.id'), sector: byId('sector.id') },
  search: ['name', 'code'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name', 'code'], by: 'name', order: 'asc' },
  includes,
})

export const projectRead = readEndpoint({
  path: '/projects/:id',
  keys: 'company',
  scope: 'read:projects',
  tool: 'get_project',
  summary: 'One project.',
  returns: project,
  collection: 'projects',
  noun: 'project',
  within,
  includes,
})
