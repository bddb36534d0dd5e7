/** Records schema drift: each undeclared field or value once. */
import type { Engine } from '../../warehouse/engine.ts'
import { chunks, ledger } from '../ledger.ts'
import type { SchemaDriftRow, UnknownValueRow } from './tables.ts'

type DriftKind = SchemaDriftRow['kind']

interface DriftObservation {
  readonly found: readonly { readonly path: string; readonly kind: DriftKind; readonly type: string }[]
  /** Values outside the documented list of their column. */
  readonly values: readonly { readonly path: string; readonly value: string }[]
  /** The page that showed it: its run, and when it was fetched (ISO 8601). */
  readonly page: { readonly runId: string; readonly fetchedAt: string } | undefined
}

/** Max rows per resource besides undeclared fields, which the load limits. */
const maxOthers = 1000

const isField = ({ kind }: { readonly kind: DriftKind }): boolean => kind === 'unknown field'

type Difference = Pick<SchemaDriftRow, 'path' | 'kind'>

/** Selects the differences that are not recorded yet, up to the limit. */
export function freshDrift<Row extends Difference>(
  known: readonly Difference[],
  rows: readonly Row[],
): readonly Row[] {
  const names = new Set(known.map(({ kind, path }) => `${kind} ${path}`))
  const added = rows.filter(({ kind, path }) => !names.has(`${kind} ${path}`))
  const room = Math.max(0, maxOthers - known.filter(row => !isField(row)).length)
  return [...added.filter(isField), ...added.filter(row => !isField(row)).slice(0, room)]
}

export async function recordDrift(
  engine: Engine,
  resource: string,
  observed: DriftObservation,
): Promise<void> {
  const { page, found, values } = observed
  if (!page || found.length + values.length === 0) return
  const by = { run_id: page.runId, seen_at: page.fetchedAt }
  const unknown = new Map(
    values.map(({ path }) => [path, { path, kind: 'unknown value', type: 'text' } as const]),
  )
  const rows = [...found, ...unknown.values()].map(
    ({ path, kind, type }): SchemaDriftRow => ({ resource, path, kind, example_type: type, ...by }),
  )
  for (const some of chunks(freshDrift(await driftOf(engine, resource), rows)))
    await ledger(engine)
      .insertInto('ops.schema_drift')
      .values(some)
      .onConflict(conflict => conflict.columns(['resource', 'path', 'kind']).doNothing())
      .execute()
  await recordValues(
    engine,
    values.map(value => ({ resource, ...value, ...by })),
  )
}

/** A value that was never read before makes an acceptance of its column void, unless that came later, as in a replay. */
async function recordValues(engine: Engine, rows: readonly UnknownValueRow[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const { resource, seen_at } = first
  const known = await ledger(engine)
    .selectFrom('pii.unknown_value')
    .select(['path', 'value'])
    .where('resource', '=', resource)
    .execute()
  const names = new Set(known.map(({ path, value }) => `${path} ${value}`))
  const fresh = rows.filter(({ path, value }) => !names.has(`${path} ${value}`))
  for (const some of chunks(fresh)) {
    await ledger(engine)
      .insertInto('pii.unknown_value')
      .values(some)
      .onConflict(conflict => conflict.columns(['resource', 'path', 'value']).doNothing())
      .execute()
    const paths = some.map(({ path }) => path)
    await ledger(engine)
      .deleteFrom('ops.accepted_drift')
      .where('resource', '=', resource)
      .where('path', 'in', paths)
      .where('kind', '=', 'unknown value')
      .where('accepted_at', '<', seen_at)
      .execute()
  }
}

async function driftOf(engine: Engine, resource: string): Promise<Difference[]> {
  return ledger(engine)
    .selectFrom('ops.schema_drift')
    .select(['path', 'kind'])
    .where('resource', '=', resource)
    .execute()
}

/** Paths of undeclared fields that the resource has shown. */
export async function undeclaredPaths(engine: Engine, resource: string): Promise<string[]> {
  return (await driftOf(engine, resource)).filter(isField).map(({ path }) => path)
}

/** For messages; only readers with access to personal data can run it. */
export const unknownValueQuery = 'select * from pii.unknown_value'
