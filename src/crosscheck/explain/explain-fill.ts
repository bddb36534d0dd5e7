/** Finds the requisitions behind a difference in time to fill: reads stored ones again, and looks for others in the metric rows. */
import { NotFound } from '../../api/client/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { Keys } from '../metrics/group-keys.ts'
import type { DifferingCell, Explaining, Finding } from './finding.ts'

interface StoredAnswer {
  readonly requisition_id: string
  readonly reference: string | null
  readonly status: string | null
  readonly approved_at: string | null
  readonly accepted_at: string | null
  readonly source_updated_at: string | null
}

/** Of the cell and of other months: a changed day may have moved the acceptance. */
async function storedAnswers(engine: Engine, { project, agency, month }: Keys): Promise<StoredAnswer[]> {
  return engine.rows<StoredAnswer>(
    `select requisition.requisition_id, requisition.reference, requisition.status, requisition.approved_at,
       party.accepted_at, requisition.source_updated_at
     from star.fact_requisition as requisition
     join star.fact_requisition_agency as party on party.requisition_id = requisition.requisition_id
     where not requisition.is_deleted and requisition.project_id = ${quoteText(project ?? '')}
       and party.agency_id = ${quoteText(agency ?? '')}
     order by case when substr(cast(cast(party.accepted_at at time zone 'UTC' as date) as text), 1, 7)
       = ${quoteText(month ?? '')} then 0 else 1 end, requisition.requisition_id
     limit ${most}`,
  )
}

/** Requisitions of a cell that are read again, with one request each. */
const most = 12

const timeOf = (value: unknown): number | null => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : time
}

async function recheck({ asker }: Explaining, stored: StoredAnswer, cell: Keys): Promise<Finding[]> {
  const record = stored.reference ?? stored.requisition_id
  const base = { metric: 'timeToFill', record, cell } as const
  let found: Record<string, unknown>
  try {
    found = await asker.read(`/requisitions/${stored.requisition_id}`)
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
    const sentence = `requisition ${record}: the service does not have it any more`
    return [{ ...base, kind: 'deleted', sentence, effect: stored.accepted_at === null ? 0 : -1 }]
  }
  const parties = (found.agencies ?? []) as { id?: string; dateAccepted?: string | null }[]
  const accepted = timeOf(parties.find(party => party.id === cell.agency)?.dateAccepted)
  const pairs = [
    ['approved', timeOf(stored.approved_at), timeOf(found.approvedDate)],
    ['accepted', timeOf(stored.accepted_at), accepted],
    ['status', stored.status, found.status ?? null],
  ] as const
  const different = pairs.filter(([, mine, theirs]) => mine !== theirs)
  if (different.length === 0) return []
  const isNewer = (timeOf(found.updatedAt) ?? 0) > (timeOf(stored.source_updated_at) ?? 0)
  const shown = different.map(([name, mine, theirs]) => `${name} ${show(mine)} here, ${show(theirs)} there`)
  const effect = Number(accepted !== null) - Number(stored.accepted_at !== null)
  const when = isNewer ? 'changed since it was read' : 'in the same version'
  const sentence = `requisition ${record}: ${shown.join(', ')}, ${when}`
  return [{ ...base, kind: isNewer ? 'newer' : 'differs', sentence, effect }]
}

function show(value: string | number | null | unknown): string {
  if (typeof value === 'number') return new Date(value).toISOString()
  return String(value ?? 'none')
}

/**
 * References in metric rows without a stored requisition: of the project and agency, else of the project, as an agency that
 * accepted but submitted nobody has no rows.
 */
async function missingReferences(explaining: Explaining, cell: Keys): Promise<readonly string[]> {
  const { engine, names } = explaining
  const metricRows = await engine.rows<{ reference: string; supplier: string | null }>(
    `select distinct metric_row.requisition_reference as reference, metric_row.supplier_name as supplier
     from star.fact_recruitment_metric_row as metric_row
     where not metric_row.is_deleted
       and metric_row.project_name = ${quoteText(names.project.get(cell.project ?? '') ?? '')}`,
  )
  const rows = metricRows.length > 0 ? metricRows : await askRows(explaining, cell)
  const stored = await engine.rows<{ reference: string }>(
    `select distinct reference from star.fact_requisition where not is_deleted and project_id = ${quoteText(cell.project ?? '')}`,
  )
  const known = new Set(stored.map(({ reference }) => reference))
  const missing = rows.filter(({ reference }) => !known.has(reference))
  const supplier = names.agency.get(cell.agency ?? '')
  const own = missing.filter(row => row.supplier === supplier)
  return [...new Set((own.length > 0 ? own : missing).map(({ reference }) => reference))].sort()
}

/** Without stored metric rows: the newest ones of the service. */
async function askRows({ asker }: Explaining, { project }: Keys) {
  const query = { metric: 'rows', project: project ?? '', fields: 'reqRef,supplier' }
  const { rows } = await asker.list('/requisitions/recruitment-metrics', query)
  return rows.map(row => ({ reference: String(row.reqRef), supplier: String(row.supplier) }))
}

async function explainCell(
  explaining: Explaining,
  { keys, ours, theirs }: DifferingCell,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const missing = (theirs?.rawCount ?? 0) - (ours?.rawCount ?? 0)
  const base = { metric: 'timeToFill', cell: keys } as const
  const references = missing > 0 ? await missingReferences(explaining, keys) : []
  for (const record of references) {
    const sentence = `requisition ${record}: named by the metric rows and not in the warehouse`
    findings.push({ ...base, kind: 'missing', record, sentence, effect: null })
  }
  if (references.length >= missing && missing > 0) return findings
  for (const stored of await storedAnswers(explaining.engine, keys)) {
    findings.push(...(await recheck(explaining, stored, keys)))
    if (findings.length >= Math.max(1, Math.abs(missing))) return findings
  }
  if (findings.length > 0) return findings
  const least = theirs?.minDays ?? null
  const sentence =
    missing === 0
      ? 'as many acceptances as the service has, and other days: run muster crosscheck --calibrate'
      : `${Math.abs(missing)} acceptances ${missing > 0 ? 'too few' : 'too many'}, by no record that could be found${least === null ? '' : `; the least of the service's takes ${least} days`}`
  return [{ ...base, kind: 'unknown', record: undefined, sentence, effect: null }]
}

/** No request for references in metric rows, else one for each requisition of the cell. */
export async function explainFill(
  explaining: Explaining,
  cells: readonly DifferingCell[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const cell of cells) findings.push(...(await explainCell(explaining, cell)))
  return findings
}
