/** GET /sites and GET /sites/{id}. */
import { ApiError } from '../api-error.ts'
import { parseParameters } from '../parameters.ts'
import { findByAnyId } from '../short-id.ts'
import type { Endpoint } from './endpoint.ts'
import { byActive, byId } from './filter.ts'
import { listEndpoint } from './list.ts'
import { scopeTests } from './scope.ts'

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

export const siteRead: Endpoint = {
  path: '/sites/:id',
  answer: ({ key, world, params, query }) => {
    parseParameters({}, query)
    const site = findByAnyId(world, 'sites', params.id ?? '')
    if (!site || !scopeTests(key, world, scope).every(test => test(site))) {
      throw new ApiError(404, 'site not found')
    }
    return { data: site }
  },
}
