/** Records the scans of a snapshot, one per scope. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { ScanRow } from './tables.ts'

/** A scope that was read completely. */
export interface AcceptedScope {
  readonly scanId: string
  readonly pages: number
  readonly loadedSequence: number
  /** Rows that the service counts, and how many of them it showed. */
  readonly total: number
  readonly shown: number
}

/** Runs in the transaction that writes the rows of all these scopes; `at` is ISO 8601. */
export async function acceptScopes(
  engine: Engine,
  scopes: readonly AcceptedScope[],
  at: string,
): Promise<void> {
  const values = scopes.map(
    ({ scanId, pages, loadedSequence, total, shown }) =>
      `(${[quoteText(scanId), pages, loadedSequence, total, shown].join(', ')})`,
  )
  await engine.run(
    `update ops.scan as s set state = 'accepted', accepted_at = cast($1 as timestamptz), next_page = 0,
       pages = q.pages, loaded_sequence = q.sequence, first_total = q.total,
       last_total = q.total, expected_ids = q.shown, distinct_ids = q.shown
     from (values ${values.join(', ')}) as q (scan_id, pages, sequence, total, shown) where s.scan_id = q.scan_id`,
    [at],
  )
}

/** Times of one scope's scan; ISO 8601. */
export interface LastReading {
  readonly started_at: string
  readonly accepted_at: string
}

/** The last accepted scan of each scope, by the name of the scope. */
export async function lastReadings(
  engine: Engine,
  resource: string,
): Promise<ReadonlyMap<string, LastReading>> {
  const rows = await engine.rows<LastReading & { scope: string }>(
    `select scope, max(started_at) as started_at, max(accepted_at) as accepted_at from ops.scan
     where resource = $1 and state = 'accepted' and scope is not null group by scope`,
    [resource],
  )
  return new Map(rows.map(row => [row.scope, row]))
}

/** Rows that the service counted in the last complete scan of a scope, and how many of them were hidden. */
export interface CompleteReading {
  readonly total: number
  readonly hidden: number
}

/** Undefined for a scope that was never read completely. */
export async function lastCompleteReading(
  engine: Engine,
  resource: string,
  scope: string,
): Promise<CompleteReading | undefined> {
  const [last] = await ledger(engine)
    .selectFrom('ops.scan')
    .select(['last_total', 'expected_ids'])
    .where('resource', '=', resource)
    .where('scope', '=', scope)
    .where('state', '=', 'accepted')
    .orderBy('started_at', 'desc')
    .limit(1)
    .execute()
  if (!last) return undefined
  const total = Number(last.last_total)
  return { total, hidden: total - Number(last.expected_ids) }
}

/** Suffix of retired scope names. */
const noLongerReadable = ', no longer readable'

/** Hidden rows of a snapshot, by its current scans. */
export function hiddenInScopes(scans: readonly ScanRow[]): number {
  const read = scans.filter(
    ({ kind, state, scope }) =>
      kind === 'snapshot' && state === 'accepted' && !scope?.endsWith(noLongerReadable),
  )
  return read.reduce((sum, one) => sum + Math.max(0, Number(one.last_total) - Number(one.expected_ids)), 0)
}

/** Retires the scans of a scope that is no longer readable, as if it had never been. */
export async function retireReadings(engine: Engine, resource: string, scope: string): Promise<void> {
  await ledger(engine)
    .updateTable('ops.scan')
    .set({ scope: `${scope}${noLongerReadable}` })
    .where('resource', '=', resource)
    .where('scope', '=', scope)
    .execute()
}
