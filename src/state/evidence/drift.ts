/** Schema drift: fields and values that the declarations do not know, recorded once each. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { SchemaDriftRow } from './tables.ts'

interface Observed {
  readonly fields: readonly { readonly path: string; readonly type: string }[]
  readonly values: readonly { readonly path: string; readonly value: string }[]
  readonly rounded: readonly string[]
  /** The page that showed it: when it was fetched, ISO 8601, and by which run. */
  readonly page: { readonly runId: string; readonly fetchedAt: string } | undefined
}

/** Of a resource whose keys are ids, the report would grow with every record. */
const mostReported = 1000

export async function recordDrift(engine: Engine, resource: string, observed: Observed): Promise<void> {
  const { page } = observed
  if (!page) return
  const row = (path: string, kind: SchemaDriftRow['kind'], type: string | null): SchemaDriftRow => ({
    resource,
    path,
    kind,
    example_type: type,
    run_id: page.runId,
    seen_at: page.fetchedAt,
  })
  const rows = [
    ...observed.fields.map(({ path, type }) => row(path, 'unknown field', type)),
    ...observed.values.map(({ path, value }) => row(`${path} = ${value}`, 'unknown value', 'VARCHAR')),
    ...observed.rounded.map(path => row(path, 'rounded', 'number')),
  ]
  if (rows.length === 0) return
  const known = await driftOf(engine, resource)
  const isNew = ({ path, kind }: SchemaDriftRow): boolean =>
    !known.some(one => one.path === path && one.kind === kind)
  const fresh = rows.filter(isNew).slice(0, Math.max(0, mostReported - known.length))
  if (fresh.length === 0) return
  await ledger(engine)
    .insertInto('ops.schema_drift')
    .values(fresh)
    .onConflict(conflict => conflict.columns(['resource', 'path', 'kind']).doNothing())
    .execute()
}

async function driftOf(engine: Engine, resource: string): Promise<Pick<SchemaDriftRow, 'path' | 'kind'>[]> {
  return ledger(engine)
    .selectFrom('ops.schema_drift')
    .select(['path', 'kind'])
    .where('resource', '=', resource)
    .execute()
}

/** For messages that refer to the table. */
export const driftQuery = 'select * from ops.schema_drift'
