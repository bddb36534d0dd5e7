/** GET /sites and GET /sites/{id}. */
import { byActive, byId } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'

const scope = { company: 'company.id' }

export const siteList = listEndpoint({
  path: '/sites',
  collection: 'sites',
  scope,
  company: 'ids',
  filters: { status: byActive(), project: byId('project.id') },
  search: ['name'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name'], by: 'name', order: 'asc' },
})

export const siteRead = readEndpoint({ path: '/sites/:id', collection: 'sites', noun: 'site', scope })
