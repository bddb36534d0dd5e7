/** GET /companies and GET /companies/{id}. */

import type { Endpoint, EndpointRequest } from '../declare/endpoint.ts'
import { byActive } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { flagParameter, parseParameters } from '../declare/parameters.ts'
import { pathId } from '../declare/read.ts'
import { mayNameCompany } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'

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

const readParameters = { includeConfig: flagParameter.optional() }

export const companyRead: Endpoint = {
  path: '/companies/:id',
  parameters: readParameters,
  answer: request => {
    const { includeConfig } = parseParameters(readParameters, request.query)
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
