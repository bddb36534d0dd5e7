/** Reads and accepts schema drift: what a resource with a frozen schema waits for. */
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { ledger } from '../ledger.ts'
import { LimitExceeded } from './quarantine-limit.ts'
import type { SchemaDriftRow } from './tables.ts'

export interface DriftEntry extends SchemaDriftRow {
  /** ISO 8601. */
  readonly accepted_at: string | null
}

export async function readDrift(engine: Engine): Promise<DriftEntry[]> {
  return ledger(engine)
    .selectFrom('ops.schema_drift as d')
    .leftJoin('ops.accepted_drift as a', join =>
      join
        .onRef('a.resource', '=', 'd.resource')
        .onRef('a.path', '=', 'd.path')
        .onRef('a.kind', '=', 'd.kind'),
    )
    .selectAll('d')
    .select('a.accepted_at')
    .orderBy('d.resource')
    .orderBy('d.path')
    .orderBy('d.kind')
    .execute()
}

/** `at` is ISO 8601. */
export async function acceptDrift(engine: Engine, rows: readonly DriftEntry[], at: string): Promise<void> {
  await engine.transaction(async engine => {
    for (const { resource, path, kind } of rows)
      await ledger(engine)
        .insertInto('ops.accepted_drift')
        .values({ resource, path, kind, accepted_at: at })
        .onConflict(conflict => conflict.columns(['resource', 'path', 'kind']).doNothing())
        .execute()
  })
}

/** The error for frozen resources that differ from the contract; undefined without any. */
export async function waitingDrift(
  engine: Engine,
  of: readonly string[],
): Promise<LimitExceeded | undefined> {
  const rows = await engine.rows<{ resource: string }>(
    `${withPart('incomplete_resource')} select resource from frozen_drift order by resource`,
  )
  const frozen = rows.map(({ resource }) => resource).filter(name => of.includes(name))
  if (frozen.length === 0) return undefined
  return new LimitExceeded({
    what: `frozen schemas differ from the contract: ${frozen.join(', ')}`,
    next: `every row is loaded; see muster drift, then accept the differences by muster drift accept ${frozen[0]}`,
  })
}
