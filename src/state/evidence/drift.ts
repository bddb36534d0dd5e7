/** Schema drift: fields and values that the declarations do not know, recorded once each. */
import type { Engine } from '../../warehouse/engine.ts'
import { chunks } from '../chunks.ts'
import { ledger } from '../ledger.ts'
import type { SchemaDriftRow, UnknownValueRow } from './tables.ts'

type Kind = SchemaDriftRow['kind']

interface Observed {
  readonly found: readonly { readonly path: string; readonly kind: Kind; readonly type: string }[]
  /** Outside the list of their column. */
  readonly values: readonly { readonly path: string; readonly value: string }[]
  /** The page that showed it: when it was fetched, ISO 8601, and by which run. */
  readonly page: { readonly runId: string; readonly fetchedAt: string } | undefined
}

/** The report is kept to this many rows of a resource beyond its undeclared fields, which the load limits. */
const mostOthers = 1000

const isField = ({ kind }: { readonly kind: Kind }): boolean => kind === 'unknown field'

type Difference = Pick<SchemaDriftRow, 'path' | 'kind'>

/** Rows that the report of a resource does not have yet, as far as there is room for them. */
export function freshDrift<Row extends Difference>(
  known: readonly Difference[],
  rows: readonly Row[],
): readonly Row[] {
  const names = new Set(known.map(({ kind, path }) => `${kind} ${path}`))
  const added = rows.filter(({ kind, path }) => !names.has(`${kind} ${path}`))
  const room = Math.max(0, mostOthers - known.filter(row => !isField(row)).length)
  return [...added.filter(isField), ...added.filter(row => !isField(row)).slice(0, room)]
}

export async function recordDrift(engine: Engine, resource: string, observed: Observed): Promise<void> {
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

async function recordValues(engine: Engine, rows: readonly UnknownValueRow[]): Promise<void> {
  for (const some of chunks(rows))
    await ledger(engine)
      .insertInto('pii.unknown_value')
      .values(some)
      .onConflict(conflict => conflict.columns(['resource', 'path', 'value']).doNothing())
      .execute()
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

/** For messages that send people there, as far as they may read personal data. */
export const unknownValueQuery = 'select * from pii.unknown_value'
