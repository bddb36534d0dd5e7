/** GET /sites and GET /sites/{id}. */
import { sites } from '../../contract/resources/sites.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import { byActive, byId } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { isLinked, scopeTests, type Test } from '../keys/scope.ts'

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

/** An agency sees the sites of the projects that it works for. */
const sees = ({ key, world }: EndpointRequest): readonly Test[] =>
  key.kind === 'company'
    ? scopeTests(key, world, within)
    : [site => isLinked({ key, world }, 'project', String((site.project as { id?: string })?.id))]

export const siteRead = readEndpoint({
  path: '/sites/:id',
  scope: 'read:projects',
  tool: 'get_site',
  summary: 'One site.',
  returns: site,
  collection: 'sites',
  noun: 'site',
  tests: sees,
})
