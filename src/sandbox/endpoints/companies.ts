/** Serves GET /companies, /companies/{id}, and the users and the competency matrix of a company. */
import { operations } from '../../contract/operations.ts'
import { companies } from '../../contract/resources/companies.ts'
import { userAssignments, userPermissions } from '../../contract/resources/company-users.ts'
import { competencyMatrix } from '../../contract/resources/competency-matrix.ts'
import { type Ref, refOf } from '../data/identity.ts'
import {
  type Endpoint,
  type EndpointDescription,
  type EndpointRequest,
  endpoint,
  pathId,
} from '../declare/endpoint.ts'
import { listEndpoint, pageMeta, pageOf } from '../declare/list.ts'
import { leftOut, parametersOf } from '../declare/parameters.ts'
import { closed, list, recordOf, refSchema, refTo } from '../declare/schemas.ts'
import { mayNameCompany } from '../keys/scope.ts'
import { type StoredRecord, withoutFields } from '../record.ts'
import { demand } from '../refusals.ts'
import { shuffledTies } from '../sorted-order.ts'

const company = recordOf('Company', companies)

/** Read by the metrics and requisitions, but never shown. */
const hidden = ['stageTracking']

export const companyList = listEndpoint({
  operation: operations.listCompanies,
  keys: 'company',
  scope: 'read:companies',
  summary: 'Companies that the key may see.',
  returns: company,
  collection: 'companies',
  within: { company: 'id' },
  search: ['name'],
  sort: ['name', 'asc'],
  hidden,
})

const flags = operations.readCompany.parameters

export const companyRead = endpoint({
  path: '/companies/:id',
  keys: 'company',
  scope: 'read:companies',
  tool: 'get_company',
  summary: 'One company.',
  returns: company,
  onRequest: leftOut(flags),
  parameters: parametersOf(flags, {}),
  answer: (request, asked) => ({
    data: withoutFields(pathCompany(request, 403), [...hidden, ...leftOut(flags, asked)]),
  }),
})

/** The company of the path. One that is not the key's is refused: 403 for the company itself, 404 for its users. */
function pathCompany(request: EndpointRequest, outside: 403 | 404): StoredRecord {
  const { key, world } = request
  const found = world.find('companies', pathId(request, 'company'))
  demand(found, 'company not found', 404)
  const reason = outside === 403 ? 'no access to this company' : 'company not found'
  demand(mayNameCompany(key, world, String(found.id)), reason, outside)
  return found
}

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

interface CompanyUsers extends EndpointDescription {
  readonly present: (row: StoredRecord) => StoredRecord
}

/** Declares a list of a company's users: both lists have the same rows, with or without permissions. */
function companyUsers({ present, ...described }: CompanyUsers): Endpoint {
  return endpoint({
    ...described,
    keys: 'company',
    scope: 'read:users',
    isList: true,
    within: { company: 'companyId' },
    collection: 'companyUsers',
    meta: pageMeta,
    parameters: parametersOf(operations.listUserPermissions.parameters, {}),
    answer: (request, query) => {
      const { status } = query
      const { id } = pathCompany(request, 404)
      const rows = request.world
        .all('companyUsers')
        .filter(row => row.companyId === id)
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

/** Stored entries have more fields than the answer: the company, and how a project override combines. */
interface MatrixEntry {
  readonly trade: Ref
  readonly project: Ref | null
  readonly sector: Ref | null
  readonly source: 'project' | 'sector' | 'company'
  readonly requirements: readonly unknown[]
  readonly companyId: string
  readonly mode?: 'additive' | 'replacement'
}

const entry = recordOf('CompetencyMatrixEntry', competencyMatrix)

export const competencyMatrixRead = endpoint({
  path: '/companies/:id/competency-matrix',
  keys: 'company',
  scope: 'read:companies',
  tool: 'get_company_competency_matrix',
  summary: 'Qualifications that the trades of a company need, or those in effect on one of its projects.',
  returns: {
    name: 'CompetencyMatrix',
    schema: closed(
      { company: refTo(refSchema), project: refTo(refSchema), entries: list(refTo(entry)) },
      { required: ['company', 'entries'] },
    ),
    uses: [refSchema, entry],
    shape: entry.shape,
  },
  parameters: parametersOf(operations.readCompetencyMatrix.parameters, {}),
  answer: (request, { projectId }) => {
    const { id, name } = pathCompany(request, 403) as unknown as Ref
    const entries = (request.world.all('competencyMatrix') as unknown as MatrixEntry[]).filter(
      ({ companyId }) => companyId === id,
    )
    if (projectId === undefined) {
      const general = entries.filter(({ source }) => source !== 'project')
      return { data: { company: { id, name }, entries: general.map(shown) } }
    }
    const project = request.world.find('projects', projectId) as unknown as ProjectParties | undefined
    demand(project?.company?.id === id, 'project not found', 404)
    const effective = effectiveEntries(entries, project).map(shown)
    return { data: { company: { id, name }, project: refOf(project), entries: effective } }
  },
})

interface ProjectParties extends Ref {
  readonly company?: Ref
  readonly sector?: Ref
}

function shown(stored: MatrixEntry): StoredRecord {
  return withoutFields(stored as unknown as StoredRecord, ['id', 'companyId', 'mode'])
}

/** For each trade, a replacing override; otherwise the entry of the sector or company, plus an override's additions. */
function effectiveEntries(entries: readonly MatrixEntry[], project: ProjectParties): MatrixEntry[] {
  const trades = new Set(entries.map(({ trade }) => trade.id))
  return [...trades].flatMap(trade => {
    const own = entries.filter(one => one.trade.id === trade)
    const override = own.find(one => one.source === 'project' && one.project?.id === project.id)
    const base =
      own.find(one => one.source === 'sector' && one.sector?.id === project.sector?.id) ??
      own.find(one => one.source === 'company')
    if (!override) return base ? [base] : []
    if (override.mode === 'replacement' || !base) return [override]
    return [{ ...override, requirements: [...base.requirements, ...override.requirements] }]
  })
}
