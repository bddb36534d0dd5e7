/** GET /companies/{id}/user-permissions and /user-assignments: the same rows, with and without permissions. */
import { userAssignments, userPermissions } from '../../contract/resources/company-users.ts'
import { type Endpoint, endpoint } from '../declare/endpoint.ts'
import { activeParameter } from '../declare/filter.ts'
import type { NamedSchema } from '../declare/json-schema.ts'
import { pageMeta, pageOf } from '../declare/page.ts'
import { fieldsParameter, pageParameters } from '../declare/parameters.ts'
import { recordOf } from '../declare/record-schema.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { shuffledTies } from '../records/ties.ts'
import { pathCompany } from './companies.ts'

export const userPermissionList = companyUsers({
  path: '/companies/:id/user-permissions',
  tool: 'list_company_user_permissions',
  summary: 'Users of a company with what they may do on their projects.',
  returns: recordOf('CompanyUserWithPermissions', userPermissions),
  present: row => row,
})

export const userAssignmentList = companyUsers({
  path: '/companies/:id/user-assignments',
  tool: 'list_company_user_assignments',
  summary: 'Users of a company with their projects.',
  returns: recordOf('CompanyUser', userAssignments),
  present: withoutPermissions,
})

interface CompanyUsers {
  readonly path: string
  readonly tool: string
  readonly summary: string
  readonly returns: NamedSchema
  readonly present: (row: StoredRecord) => StoredRecord
}

function companyUsers({ present, ...described }: CompanyUsers): Endpoint {
  return endpoint({
    ...described,
    keys: 'company',
    scope: 'read:users',
    isList: true,
    collection: 'companyUsers',
    meta: pageMeta,
    parameters: {
      ...pageParameters,
      status: activeParameter.optional().describe('Only active users, or only inactive ones.'),
      fields: fieldsParameter,
    },
    answer: (request, query) => {
      const { status } = query
      const company = pathCompany(request, 404)
      const rows = request.world
        .all('companyUsers')
        .filter(row => row.companyId === company.id)
        .filter(row => status === undefined || (row.status !== 'Inactive') === (status === 'active'))
        .sort((left, right) => compare(left.name, right.name) || compare(left.id, right.id))
      const mixed = shuffledTies(rows, row => row.name, request.shuffle)
      return pageOf(mixed, query, row => present(withoutFields(row, ['companyId'])))
    },
  })
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
