/** GET /sites and GET /sites/{id}. */
import { sites } from '../../contract/resources/sites.ts'
import { byActive, byId } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'

const site = recordOf('Site', sites)
const within = { company: 'company.id' }

export const siteList = listEndpoint({
  path: '/sites',
  keys: 'company',
  scope: 'read:projects',
  tool: 'list_sites',
  summary: 'Sites.',
  returns: site,
  collection: 'sites',
  within,
  byCompany: true,
  filters: { status: byActive(), project: byId('project.id') },
  search: ['name'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name'], by: 'name', order: 'asc' },
})

export const siteRead = readEndpoint({
  path: '/sites/:id',
  keys: 'company',
  scope: 'read:projects',
  tool: 'get_site',
  summary: 'One site.',
  returns: site,
  collection: 'sites',
  noun: 'site',
  within,
})
