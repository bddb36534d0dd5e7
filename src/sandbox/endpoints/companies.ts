/** GET /companies and GET /companies/{id}. */
import { companies } from '../../contract/resources/companies.ts'
import { type EndpointRequest, endpoint } from '../declare/endpoint.ts'
import { byActive } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { includedFields, includeParameters, leftOut } from '../declare/parameters.ts'
import { pathId } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { mayNameCompany } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'

const company = recordOf('Company', companies)
const includes = { includeConfig: { field: 'config', meaning: 'Adds the configuration.' } }

/** The metrics and requisitions read it. */
const hidden = ['stageTracking']

export const companyList = listEndpoint({
  path: '/companies',
  keys: 'company',
  scope: 'read:companies',
  tool: 'list_companies',
  summary: 'Companies that the key may see.',
  returns: company,
  collection: 'companies',
  within: { company: 'id' },
  filters: { status: byActive() },
  search: ['name'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name'], by: 'name', order: 'asc' },
  includes,
  hidden,
})

export const companyRead = endpoint({
  path: '/companies/:id',
  keys: 'company',
  scope: 'read:companies',
  tool: 'get_company',
  summary: 'One company.',
  returns: company,
  onRequest: includedFields(includes),
  parameters: includeParameters(includes),
  answer: (request, flags) => ({
    data: withoutFields(pathCompany(request, 403), [...hidden, ...leftOut(includes, flags)]),
  }),
})

/** A company that exists but is not the key's: 403 for the company itself, 404 for its users. */
export function pathCompany(request: EndpointRequest, outside: 403 | 404): StoredRecord {
  const { key, world } = request
  const id = pathId(request, 'company')
  const found = findByAnyId(world, 'companies', id)
  if (!found) throw new ApiError(404, 'company not found')
  if (!mayNameCompany(key, world, String(found.id))) {
    throw new ApiError(outside, outside === 403 ? 'no access to this company' : 'company not found')
  }
  return found
}
