/** Serves GET /users: membership filters that depend on the key's kind, and visibility by the owner's role. */
import { operations } from '../../contract/operations.ts'
import { users } from '../../contract/resources/users.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import { type ListQuery, listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/schemas.ts'
import { type ApiKey, agenciesOf, companiesOf, type KeyInWorld } from '../keys/keys.ts'
import { anyOf, checkCompanies, mayNameCompany, type RecordTest } from '../keys/scope.ts'
import { pathReader, type StoredRecord, valuesAt } from '../record.ts'
import { demand } from '../refusals.ts'
import type { World } from '../world.ts'

const agencyRoles: readonly unknown[] = ['ldAdmin', 'ldUser']
/** Owners with these roles see only themselves. */
const selfOnlyRoles: readonly unknown[] = ['projectFinance', 'projectApprover', 'projectRequestor', 'ldUser']

export const userList = listEndpoint({
  operation: operations.listUsers,
  scope: 'read:users',
  activeOwner: true,
  summary: 'Public profiles of users that the key and its owner may see.',
  returns: recordOf('User', users),
  mayMiss: true,
  collection: 'users',
  within: caller => [...kindTests(caller), ...ownerTests(caller)],
  check: checkMemberships,
  paths: { company: 'companies', project: 'projects', agency: 'agencies' },
  search: ['name', 'email', 'jobTitle'],
  sort: ['name', 'asc'],
  present: withVisibleMemberships,
})

function checkMemberships(request: EndpointRequest, query: ListQuery): void {
  const { key, world } = request
  const foreign = key.kind === 'company' ? ['agency'] : ['company', 'project']
  const wrong = foreign.find(name => query[name] !== undefined)
  demand(!wrong, `the ${wrong} filter does not fit a ${key.kind}-scoped key`)
  checkCompanies(request, query.company ?? [], 404)
  for (const id of (query.project ?? []) as string[]) {
    demand(isVisibleProject(key, world, id), `project ${id} not found`, 404)
  }
  const agencies = agenciesOf(key, world)
  for (const id of (query.agency ?? []) as string[]) {
    demand(agencies.includes(id), `agency ${id} not found`, 404)
  }
}

function kindTests({ key, world }: KeyInWorld): RecordTest[] {
  if (key.kind === 'agency') {
    return [record => agencyRoles.includes(record.role), anyOf('agencies', agenciesOf(key, world))]
  }
  const companies = companiesOf(key, world)
  const hirers: RecordTest = record => !agencyRoles.includes(record.role)
  return companies === 'all' ? [hirers] : [hirers, anyOf('companies', companies)]
}

function ownerTests({ key, world }: KeyInWorld): RecordTest[] {
  if (key.ownerId === undefined) return []
  const owner = world.get('users', key.ownerId)
  const isFit = owner && owner.active !== false && owner.verified !== false
  demand(isFit, 'the key owner is inactive or unverified', 403)
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
