/** GET /companies/{id}/competency-matrix. */

import type { Endpoint } from '../declare/endpoint.ts'
import { idParameter, parseParameters } from '../declare/parameters.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'
import { pathCompany } from './companies.ts'

interface Ref {
  readonly id: string
  readonly name: string
}

/** Kept entries say more than answered ones: the company, and how a project override combines. */
interface MatrixEntry {
  readonly trade: Ref
  readonly project: Ref | null
  readonly sector: Ref | null
  readonly source: 'project' | 'sector' | 'company'
  readonly requirements: readonly unknown[]
  readonly companyId: string
  readonly mode?: 'additive' | 'replacement'
}

const parameters = { projectId: idParameter.optional() }

export const competencyMatrix: Endpoint = {
  path: '/companies/:id/competency-matrix',
  parameters,
  answer: request => {
    const { projectId } = parseParameters(parameters, request.query)
    const company = pathCompany(request, 403)
    const entries = (request.world.all('competencyMatrix') as unknown as MatrixEntry[]).filter(
      entry => entry.companyId === company.id,
    )
    if (projectId === undefined) {
      return { data: { company: refOf(company), entries: entries.filter(isGeneral).map(shown) } }
    }
    const project = findByAnyId(request.world, 'projects', projectId)
    if (!project || (project.company as Ref | undefined)?.id !== company.id)
      throw new ApiError(404, 'project not found')
    const effective = effectiveEntries(entries, project).map(shown)
    return { data: { company: refOf(company), project: refOf(project), entries: effective } }
  },
}

function isGeneral(entry: MatrixEntry): boolean {
  return entry.source !== 'project'
}

function refOf(record: StoredRecord): Ref {
  return { id: String(record.id), name: String(record.name) }
}

function shown(entry: MatrixEntry): StoredRecord {
  return withoutFields(entry as unknown as StoredRecord, ['id', 'companyId', 'mode'])
}

/** Per trade: a replacing override stands alone; else the sector's entry, or the company's, plus what is added. */
function effectiveEntries(entries: readonly MatrixEntry[], project: StoredRecord): MatrixEntry[] {
  const sector = (project.sector as Ref | undefined)?.id
  const trades = new Set(entries.map(entry => entry.trade.id))
  return [...trades].flatMap(trade => {
    const own = entries.filter(entry => entry.trade.id === trade)
    const override = own.find(entry => entry.source === 'project' && entry.project?.id === project.id)
    const base =
      own.find(entry => entry.source === 'sector' && entry.sector?.id === sector) ??
      own.find(entry => entry.source === 'company')
    if (!override) return base ? [base] : []
    if (override.mode === 'replacement' || !base) return [override]
    return [{ ...override, requirements: [...base.requirements, ...override.requirements] }]
  })
}
