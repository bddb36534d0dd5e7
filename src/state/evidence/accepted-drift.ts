/** Reads and accepts schema drift: what a resource with a frozen schema waits for. */
import { UsageError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import { LimitExceeded } from './quarantine-limit.ts'
import type { SchemaDriftRow } from './tables.ts'

export interface DriftEntry extends SchemaDriftRow {
  /** ISO 8601. */
  readonly accepted_at: string | null
}

/** Throws UsageError for a copy without these tables, such as one for a single company. */
export async function readDrift(engine: Engine): Promise<DriftEntry[]> {
  if (!(await existingTables(engine)).has('accepted_drift'))
    throw new UsageError({
      what: 'no differences from the contract are recorded here',
      next: 'name the warehouse itself, after muster sync has written to it',
    })
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
