/** GET /users: membership filters that depend on the key's kind, and visibility by the owner's role. */
import { users } from '../../contract/resources/users.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import { byActive, byIds, byValue } from '../declare/filter.ts'
import { type ListQuery, listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/record-schema.ts'
import { type ApiKey, agenciesOf, companiesOf } from '../keys/keys.ts'
import { anyOf, checkCompanies, mayNameCompany, type Test } from '../keys/scope.ts'
import { pathReader, type StoredRecord, valuesAt } from '../records/record.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'

const agencyRoles: readonly unknown[] = ['ldAdmin', 'ldUser']
/** Owners with these roles see only themselves. */
const selfOnlyRoles: readonly unknown[] = ['projectFinance', 'projectApprover', 'projectRequestor', 'ldUser']

export const userList = listEndpoint({
  path: '/users',
  scope: 'read:users',
  activeOwner: true,
  tool: 'list_users',
  summary: 'Public profiles of users that the key and its owner may see.',
  returns: recordOf('User', users),
  mayMiss: true,
  collection: 'users',
  filters: {
    company: byIds('companies'),
    project: byIds('projects'),
    agency: byIds('agencies'),
    status: byActive(),
    role: byValue('role', [
      'companyAdmin',
      'companyFinance',
      'companyBot',
      'projectAdmin',
      'projectFinance',
      'projectApprover',
      'projectRequestor',
      'ldAdmin',
      'ldUser',
    ]),
  },
  search: ['name', 'email', 'jobTitle'],
  sort: { fields: ['createdAt', 'updatedAt', 'name', 'email'], by: 'name', order: 'asc' },
  tests: visibility,
  present: withVisibleMemberships,
})

function visibility(request: EndpointRequest, query: ListQuery): Test[] {
  checkMemberships(request, query)
  return [...kindTests(request), ...ownerTests(request)]
}

function checkMemberships(request: EndpointRequest, query: ListQuery): void {
  const { key, world } = request
  const foreign = key.kind === 'company' ? ['agency'] : ['company', 'project']
  const wrong = foreign.find(name => query[name] !== undefined)
  if (wrong) throw new ApiError(400, `the ${wrong} filter does not fit a ${key.kind}-scoped key`)
  checkCompanies(request, query.company ?? [], 404)
  for (const id of (query.project ?? []) as string[]) {
    if (!isVisibleProject(key, world, id)) throw new ApiError(404, `project ${id} not found`)
  }
  const agencies = agenciesOf(key, world)
  for (const id of (query.agency ?? []) as string[]) {
    if (!agencies.includes(id)) throw new ApiError(404, `agency ${id} not found`)
  }
}

function kindTests({ key, world }: EndpointRequest): Test[] {
  if (key.kind === 'agency') {
    return [record => agencyRoles.includes(record.role), anyOf('agencies', agenciesOf(key, world))]
  }
  const companies = companiesOf(key, world)
  const hirers: Test = record => !agencyRoles.includes(record.role)
  return companies === 'all' ? [hirers] : [hirers, anyOf('companies', companies)]
}

function ownerTests({ key, world }: EndpointRequest): Test[] {
  if (key.ownerId === undefined) return []
  const owner = world.get('users', key.ownerId)
  if (!owner || owner.active === false || owner.verified === false) {
    throw new ApiError(403, 'the key owner is inactive or unverified')
  }
  if (selfOnlyRoles.includes(owner.role)) return [record => record.id === owner.id]
  return owner.role === 'projectAdmin' ? [anyOf('projects', idsOf(owner, 'projects'))] : []
}

const projectCompany = pathReader('company.id')

function isVisibleProject(key: ApiKey, world: World, id: string): boolean {
  const project = world.get('projects', id)
  return project !== undefined && mayNameCompany(key, world, String(projectCompany(project)))
}

/** Memberships outside the key's own companies, projects and agencies are not shown. */
function withVisibleMemberships(user: StoredRecord, { key, world }: EndpointRequest): StoredRecord {
  const companies = companiesOf(key, world)
  if (key.kind === 'company' && companies === 'all') return user
  const agencies = agenciesOf(key, world)
  return {
    ...user,
    companies: idsOf(user, 'companies').filter(id => companies === 'all' || companies.includes(id)),
    projects: idsOf(user, 'projects').filter(id => isVisibleProject(key, world, id)),
    agencies: idsOf(user, 'agencies').filter(id => key.kind === 'company' || agencies.includes(id)),
  }
}

function idsOf(user: StoredRecord, name: string): string[] {
  return valuesAt(user, pathReader(name)).map(String)
}
