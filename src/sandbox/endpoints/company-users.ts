/** GET /companies/{id}/user-permissions and /user-assignments: the same rows, with and without permissions. */

import type { Endpoint } from '../declare/endpoint.ts'
import { fieldsParameter, oneOfParameter, pageParameters, parseParameters } from '../declare/parameters.ts'
import type { EndpointPath } from '../keys/access.ts'
import type { StoredRecord } from '../records/record.ts'
import { selectFields, withoutFields } from '../records/select-fields.ts'
import { pathCompany } from './companies.ts'

const parameters = {
  ...pageParameters,
  status: oneOfParameter(['active', 'inactive']).optional(),
  fields: fieldsParameter.optional(),
}

export const userPermissions = companyUsers('/companies/:id/user-permissions', row => row)
export const userAssignments = companyUsers('/companies/:id/user-assignments', withoutPermissions)

function companyUsers(path: EndpointPath, present: (row: StoredRecord) => StoredRecord): Endpoint {
  return {
    path,
    parameters,
    answer: request => {
      const { page, limit, status, fields } = parseParameters(parameters, request.query)
      const company = pathCompany(request, 404)
      const rows = request.world
        .all('companyUsers')
        .filter(row => row.companyId === company.id)
        .filter(row => status === undefined || (row.status !== 'Inactive') === (status === 'active'))
        .sort((left, right) => compare(left.name, right.name) || compare(left.id, right.id))
      const data = rows
        .slice((page - 1) * limit, page * limit)
        .map(row => present(withoutFields(row, ['companyId'])))
        .map(row => (fields ? selectFields(row, fields) : row))
      return { data, meta: { page, limit, total: rows.length } }
    },
  }
}

function compare(left: unknown, right: unknown): number {
  return String(left) < String(right) ? -1 : String(left) > String(right) ? 1 : 0
}

function withoutPermissions(row: StoredRecord): StoredRecord {
  const projects = ((row.projects ?? []) as readonly StoredRecord[]).map(project =>
    withoutFields(project, ['permissions']),
  )
  return { ...row, projects }
}
