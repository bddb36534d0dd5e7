/** GET /companies/{id}/competency-matrix. */
import { competencyMatrix } from '../../contract/resources/competency-matrix.ts'
import { endpoint } from '../declare/endpoint.ts'
import { closed, list, refSchema, refTo } from '../declare/json-schema.ts'
import { idParameter } from '../declare/parameters.ts'
import { recordOf } from '../declare/record-schema.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'
import { pathCompany } from './companies.ts'

interface Ref {
  readonly id: string
  readonly name: string
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
  parameters: {
    projectId: idParameter
      .optional()
      .describe('Project whose effective matrix is wanted; without it the entries of the company.'),
  },
  answer: (request, { projectId }) => {
    const company = pathCompany(request, 403)
    const entries = (request.world.all('competencyMatrix') as unknown as MatrixEntry[]).filter(
      ({ companyId }) => companyId === company.id,
    )
    if (projectId === undefined) {
      const general = entries.filter(({ source }) => source !== 'project')
      return { data: { company: refOf(company), entries: general.map(shown) } }
    }
    const project = findByAnyId(request.world, 'projects', projectId)
    if (!project || (project.company as Ref | undefined)?.id !== company.id)
      throw new ApiError(404, 'project not found')
    const effective = effectiveEntries(entries, project).map(shown)
    return { data: { company: refOf(company), project: refOf(project), entries: effective } }
  },
})

function refOf(record: StoredRecord): Ref {
  return { id: String(record.id), name: String(record.name) }
}

function shown(stored: MatrixEntry): StoredRecord {
  return withoutFields(stored as unknown as StoredRecord, ['id', 'companyId', 'mode'])
}

/** For each trade a replacing override alone; otherwise the entry of the sector or company with what an override adds. */
function effectiveEntries(entries: readonly MatrixEntry[], project: StoredRecord): MatrixEntry[] {
  const sector = (project.sector as Ref | undefined)?.id
  const trades = new Set(entries.map(({ trade }) => trade.id))
  return [...trades].flatMap(trade => {
    const own = entries.filter(one => one.trade.id === trade)
    const override = own.find(one => one.source === 'project' && one.project?.id === project.id)
    const base =
      own.find(one => one.source === 'sector' && one.sector?.id === sector) ??
      own.find(one => one.source === 'company')
    if (!override) return base ? [base] : []
    if (override.mode === 'replacement' || !base) return [override]
    return [{ ...override, requirements: [...base.requirements, ...override.requirements] }]
  })
}
