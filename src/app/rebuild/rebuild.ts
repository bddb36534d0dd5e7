/** Shared by rebuilds on both engines: the steps, and when to refuse to replace the warehouse. */
import type { Connection } from '../../config/connection.ts'
import { catalogue, findResource } from '../../contract/catalogue.ts'
import type { ScanDamage } from '../../landing/damage.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatNumber } from '../../lib/counted.ts'
import { Busy, MusterError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import type { Rng } from '../../lib/rng.ts'
import { type GoneRecord, tombstone } from '../../load/merge/tombstone.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { requirePolicy } from '../../privacy/fields/stored-policy.ts'
import { standingDeletions } from '../../state/evidence/evidence.ts'
import { newRunId, startRun, updateRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { landingPlace, withLanding } from '../connection/storage.ts'
import { fieldSettings, limitsOf } from '../connection/warehouse.ts'
import type { LandedPagesSource, ReplayProgress, ReplayResult } from './replay.ts'

export interface WarehouseRebuild {
  readonly connection: Connection
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  /** Replaces the warehouse even if the pages contain fewer records. */
  readonly acceptLoss: boolean
  readonly onProgress: (progress: ReplayProgress) => void
}

export const landedPages = ({ connection, signal }: WarehouseRebuild): LandedPagesSource => ({
  root: landingPlace(connection),
  signal,
  limits: limitsOf(connection),
})

/** Throws ConfigError if the landed pages follow another field policy than the settings; those of a lost warehouse are cleaned. */
export const requireFieldPolicy = (
  engine: Engine,
  { connection, clock, signal }: WarehouseRebuild,
): Promise<void> =>
  withLanding(connection, signal, landing =>
    requirePolicy(engine, {
      policy: new FieldPolicy(fieldSettings(connection)),
      ...{ landing, signal },
      now: new Date(clock.now()).toISOString(),
    }),
  )

export interface MissingRows {
  readonly table: string
  /** Records of the old warehouse that are missing from the rebuilt one. */
  readonly rows: number
}

export interface WarehouseRebuildResult {
  readonly result: ReplayResult
  readonly missing: readonly MissingRows[]
}

export const instant = ({ clock }: WarehouseRebuild): string => new Date(clock.now()).toISOString()

export async function recordRun(
  rebuild: WarehouseRebuild,
  engine: Engine,
  { records, quarantined }: ReplayResult,
): Promise<void> {
  const runId = newRunId(rebuild.clock, rebuild.rng)
  const startedAt = instant(rebuild)
  await startRun(engine, { runId, command: 'replay', arguments: '', startedAt, version: programVersion })
  await updateRun(engine, runId, {
    state: 'done',
    finished_at: instant(rebuild),
    records_read: records,
    quarantined,
  })
}

/** Records of star in one schema that are missing from another; both names are quoted SQL. */
export async function missingFrom(
  engine: Engine,
  schemas: { readonly old: string; readonly rebuilt: string },
): Promise<MissingRows[]> {
  const missing: MissingRows[] = []
  for (const { table } of catalogue) {
    const [name, key] = [quoteName(table.name), quoteName(table.key)]
    const [row] = await engine.rows<{ n: number }>(
      `select count(*) as n from ${schemas.old}.${name} o
       where not exists (select 1 from ${schemas.rebuilt}.${name} n where n.${key} = o.${key})`,
    )
    if (Number(row?.n) > 0) missing.push({ table: `star.${table.name}`, rows: Number(row?.n) })
  }
  return missing
}

/** Another process wrote to the warehouse during the rebuild: its rows would be lost. */
export function changedMeanwhile({ location }: Pick<Engine, 'location'>): Busy {
  return new Busy({
    what: 'the warehouse changed while it was rebuilt: another process wrote to it',
    where: location,
    next: 'nothing was changed by this rebuild; run it again while nothing else writes',
  })
}

/** Exit code 3: a check of the landed pages failed, because files are damaged. */
class LandedPagesDamaged extends MusterError {
  override readonly exitCode = 3
}

const maxNamed = 10

function damageWords(damaged: readonly ScanDamage[]): string {
  const named = damaged.slice(0, maxNamed).map(({ scan, what }) => `${scan}: ${what}`)
  const others = damaged.length - named.length
  return [
    ...named,
    ...(others > 0 ? [`and ${formatNumber(others)} more, which muster check names`] : []),
  ].join('; ')
}

export function requireNothingMissing(
  { acceptLoss }: WarehouseRebuild,
  missing: readonly MissingRows[],
  { damaged }: ReplayResult,
): void {
  if (acceptLoss || missing.length === 0) return
  const Failure = damaged.length > 0 ? LandedPagesDamaged : MusterError
  const why = damaged.length > 0 ? ` (damaged: ${damageWords(damaged)})` : ''
  const rows = missing.map(({ table, rows }) => `${formatNumber(rows)} of ${table}`).join(', ')
  throw new Failure({
    what: `the landed pages no longer have everything that the warehouse has: ${rows} would be missing${why}`,
    next: 'nothing was changed; raise retentionDays, read them again with muster backfill, or pass --accept-loss',
  })
}

/**
 * Tombstones deleted records again, because the pages have every record ever read. Runs inside the transaction that replaces
 * the rows, once the ledger has the deletions.
 */
export async function tombstoneAgain(engine: Engine): Promise<void> {
  const byResource = new Map<string, GoneRecord[]>()
  for (const { resource, record_id: id, deleted_at: at } of await standingDeletions(engine))
    byResource.set(resource, [...(byResource.get(resource) ?? []), { id, at }])
  for (const [name, rows] of byResource) {
    const resource = findResource(name)
    if (resource) await tombstone(engine, stagePlan(resource), rows)
  }
}
