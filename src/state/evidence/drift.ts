/** Schema drift: fields and values that the declarations do not know, recorded once each. */
import type { Engine } from '../../warehouse/engine.ts'
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

/** A server takes 65,535 parameters with a statement. */
const rowsAtOnce = 1000

/** The report is kept to this many rows of a resource beyond its undeclared fields, which the load limits. */
const mostOthers = 1000

function slices<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / rowsAtOnce)
  return Array.from({ length: count }, (_, index) => rows.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce))
}

const isField = ({ kind }: { readonly kind: Kind }): boolean => kind === 'unknown field'

/** Rows that the report does not have yet. */
async function fresh(
  engine: Engine,
  resource: string,
  rows: readonly SchemaDriftRow[],
): Promise<readonly SchemaDriftRow[]> {
  const known = await driftOf(engine, resource)
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
  for (const some of slices(await fresh(engine, resource, rows)))
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

/** At most so many of a batch are found. */
async function recordValues(engine: Engine, rows: readonly UnknownValueRow[]): Promise<void> {
  if (rows.length === 0) return
  await ledger(engine)
    .insertInto('pii.unknown_value')
    .values(rows)
    .onConflict(conflict => conflict.columns(['resource', 'path', 'value']).doNothing())
    .execute()
}

async function driftOf(engine: Engine, resource: string): Promise<Pick<SchemaDriftRow, 'path' | 'kind'>[]> {
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
