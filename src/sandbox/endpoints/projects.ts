/** GET /projects and GET /projects/{id}. */
import { ApiError } from '../api-error.ts'
import { flagParameter, parseParameters } from '../parameters.ts'
import { withoutFields } from '../select-fields.ts'
import { findByAnyId } from '../short-id.ts'
import type { Endpoint } from './endpoint.ts'
import { byActive, byId } from './filter.ts'
import { listEndpoint } from './list.ts'
import { scopeTests } from './scope.ts'

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

export const projectRead: Endpoint = {
  path: '/projects/:id',
  answer: ({ key, world, params, query }) => {
    const { includeConfig } = parseParameters({ includeConfig: flagParameter.optional() }, query)
    const project = findByAnyId(world, 'projects', params.id ?? '')
    if (!project || !scopeTests(key, world, scope).every(test => test(project))) {
      throw new ApiError(404, 'project not found')
    }
    return { data: withoutFields(project, includeConfig ? [] : ['config']) }
  },
}
