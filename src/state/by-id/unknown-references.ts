/** Finds requisitions that are named but not stored, and ids whose stored rows are gone. */

import type { Resource } from '../../contract/fields/resource.ts'
import { requisitions } from '../../contract/resources/requisitions.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { notLoaded } from './fetched.ts'
import type { DiscoveredRow } from './tables.ts'

/** One mention of a requisition: a metric row gives names of project and agency, an assignment their ids. */
export interface NamedRequisition {
  readonly company_id: string
  readonly reference: string
  readonly project_id: string | null
  readonly project_name: string | null
  readonly agency_id: string | null
  readonly agency_name: string | null
  /** YYYY-MM-DD. */
  readonly created_date: string | null
  readonly requisition_id: string | null
  readonly state: DiscoveredRow['state'] | null
  readonly reason: string | null
  readonly is_quarantined: boolean
  /** A row of it is marked as deleted here; undefined is no. */
  readonly is_deleted_here?: boolean
}

export async function unknownReferences(engine: Engine): Promise<NamedRequisition[]> {
  const none = 'cast(null as text)'
  return engine.rows<NamedRequisition>(
    `select q.company_id, q.reference, q.project_id, q.project_name, q.agency_id, q.agency_name,
       cast(q.created_date as text) as created_date, coalesce(q.requisition_id, g.requisition_id) as requisition_id,
       d.state, d.reason, coalesce(d.reason = ${quoteText(notLoaded)}, false) as is_quarantined,
       g.requisition_id is not null as is_deleted_here
     from (
       select m.company_id, m.requisition_reference as reference, ${none} as project_id, m.project_name,
         ${none} as agency_id, m.supplier_name as agency_name, m.requisition_created_date as created_date,
         ${none} as requisition_id
       from star.fact_recruitment_metric_row as m where not m.is_deleted
       union
       select a.company_id, a.requisition_reference, a.project_id, ${none}, a.agency_id, ${none}, cast(null as date),
         a.requisition_id
       from star.fact_assignment as a where not a.is_deleted and a.requisition_reference is not null) as q
     left join (
       select company_id, reference, min(requisition_id) as requisition_id from star.fact_requisition
       where is_deleted group by company_id, reference
     ) as g on g.company_id = q.company_id and g.reference = q.reference
       and (q.requisition_id is null or q.requisition_id = g.requisition_id)
     left join ops.discovered as d on d.resource = ${quoteText(requisitions.name)}
       and d.record_id = coalesce(q.requisition_id, g.requisition_id)
     where not exists (select 1 from star.fact_requisition as r
       where r.company_id = q.company_id and r.reference = q.reference and not r.is_deleted)
     order by q.reference`,
  )
}

/** Ids that were fetched and loaded but whose row is gone. */
export async function lostIds(engine: Engine, { name, table }: Resource): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(
    `select d.record_id as id from ops.discovered as d
     where d.resource = ${quoteText(name)} and d.state = 'stored' and not exists (
       select 1 from star.${quoteName(table.name)} as t where t.${quoteName(table.key)} = d.record_id)
     order by d.record_id`,
  )
  return rows.map(({ id }) => id)
}
