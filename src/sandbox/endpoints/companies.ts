/** GET /companies and GET /companies/{id}. */
import { ApiError } from '../api-error.ts'
import { flagParameter, parseParameters } from '../parameters.ts'
import type { StoredRecord } from '../record.ts'
import { withoutFields } from '../select-fields.ts'
import { findByAnyId } from '../short-id.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { byActive } from './filter.ts'
import { listEndpoint } from './list.ts'
import { pathId } from './read.ts'
import { mayNameCompany } from './scope.ts'

/** Decides what the metrics and requisitions show. */
const hidden = ['stageTracking']

export const companyList = listEndpoint({
  path: '/companies',
  collection: 'companies',
  scope: { company: 'id' },
  filters: { status: byActive() },
  search: ['name'],
  dates: { fields: ['createdAt'], by: 'createdAt' },
  sort: { fields: ['createdAt', 'updatedAt', 'name'], by: 'name', order: 'asc' },
  includes: { includeConfig: 'config' },
  hidden,
})

export const companyRead: Endpoint = {
  path: '/companies/:id',
  answer: request => {
    const { includeConfig } = parseParameters({ includeConfig: flagParameter.optional() }, request.query)
    const company = pathCompany(request, 403)
    return { data: withoutFields(company, includeConfig ? hidden : [...hidden, 'config']) }
  },
}

/** A company that exists but is not the key's: 403 for the company itself, 404 for its users. */
export function pathCompany(request: EndpointRequest, outside: 403 | 404): StoredRecord {
  const { key, world } = request
  const id = pathId(request, 'company')
  const company = findByAnyId(world, 'companies', id)
  if (!company) throw new ApiError(404, 'company not found')
  if (!mayNameCompany(key, world, String(company.id))) {
    throw new ApiError(outside, outside === 403 ? 'no access to this company' : 'company not found')
  }
  return company
}
