/** Rebuilds a warehouse from its landed pages beside the one in use, and puts it in its place. */

import type { Connection } from '../../config/connection.ts'
import { catalogue } from '../../contract/catalogue.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/program-version.ts'
import type { Rng } from '../../lib/rng.ts'
import { migrate } from '../../state/migrate.ts'
import { type Lease, releaseLease, renewLease, takeLease } from '../../state/runs/leases.ts'
import { newRunId } from '../../state/runs/run-id.ts'
import { startRun, updateRun } from '../../state/runs/runs.ts'
import { usualLeaseMs } from '../../sync/run/context.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/postgres/open.ts'
import { dropSide, missingFromSide, replaceRows, sidePrefix } from '../../warehouse/postgres/rebuild.ts'
import { isMade, openToWrite, type PostgresPlace, postgresPlace } from '../connection/warehouse.ts'
import { type ReplayOutcome, type ReplayProgress, replay } from './replay.ts'
import { carryOver, type Missing, removeFile, swapIn } from './swap.ts'
import { tombstoneAgain } from './tombstone-again.ts'

export interface Rebuilt {
  readonly outcome: ReplayOutcome
  readonly missing: readonly Missing[]
}

export interface Rebuild {
  readonly clock: Clock
  readonly rng: Rng
  readonly onProgress: (progress: ReplayProgress) => void
  readonly connection: Connection
  /** Also when the pages hold less than the warehouse. */
  readonly acceptLoss: boolean
}

const iso = ({ clock }: Rebuild): string => new Date(clock.now()).toISOString()

async function recordRun(
  rebuild: Rebuild,
  engine: Engine,
  { records, quarantined }: ReplayOutcome,
): Promise<void> {
  const runId = newRunId(rebuild.clock, rebuild.rng)
  await startRun(engine, {
    runId,
    command: 'replay',
    arguments: '',
    startedAt: iso(rebuild),
    version: programVersion,
  })
  await updateRun(engine, runId, {
    state: 'done',
    finished_at: iso(rebuild),
    records_read: records,
    quarantined,
  })
}

function requireNothingMissing(missing: readonly Missing[]): void {
  if (missing.length === 0) return
  const rows = missing.map(({ table, rows }) => `${formatNumber(rows)} of ${table}`).join(', ')
  throw new MusterError({
    what: `the landed pages no longer hold everything the warehouse does: ${rows} would be missing`,
    next: 'nothing was changed; raise retentionDays, read them again with muster backfill, or pass --accept-loss',
  })
}

/** Loads every landed page into an empty warehouse. */
async function fill(
  rebuild: Rebuild,
  engine: Engine,
  onWalk: () => Promise<void> = async () => undefined,
): Promise<ReplayOutcome> {
  await migrate(engine, iso(rebuild))
  return replay(engine, rebuild.connection.landing, async progress => {
    rebuild.onProgress(progress)
    await onWalk()
  })
}

function requireSomething({ connection }: Rebuild, { walks }: ReplayOutcome): void {
  if (walks > 0 || isMade(connection)) return
  throw new MusterError({
    what: 'there are no landed pages, and no warehouse either',
    where: connection.landing,
    next: 'run muster sync first, or name the folder of the pages as landing',
  })
}

/**
 * Opening the file to write proves that nobody else writes it while it is rebuilt. A file that is lost is made of its
 * pages; what is known of them, such as marks, is lost with it.
 */
export async function rebuildFile(rebuild: Rebuild, file: string): Promise<Rebuilt> {
  if (isMade(rebuild.connection)) await (await openToWrite(rebuild.connection)).close()
  const target = `${file}.replay`
  removeFile(target)
  const engine = await openDuckdb(target)
  let rebuilt: Rebuilt
  try {
    const outcome = await fill(rebuild, engine)
    requireSomething(rebuild, outcome)
    rebuilt = { outcome, missing: await carryOver(engine, file) }
    await engine.transaction(tombstoneAgain)
    await recordRun(rebuild, engine, outcome)
    if (!rebuild.acceptLoss) requireNothingMissing(rebuilt.missing)
  } catch (error) {
    await engine.close()
    removeFile(target)
    throw error
  }
  await engine.close()
  swapIn(target, file)
  return rebuilt
}

/** Holding the lease of every resource keeps syncs of other processes away. */
async function takeAll(rebuild: Rebuild, engine: Engine): Promise<Lease[]> {
  const { clock, rng } = rebuild
  const holder = newRunId(clock, rng)
  await engine.announce(holder)
  const leases: Lease[] = []
  try {
    for (const { name: resource } of catalogue) {
      leases.push(await takeLease(engine, { resource, holder, ms: usualLeaseMs }))
    }
    return leases
  } catch (error) {
    for (const lease of leases) await releaseLease(engine, lease)
    throw error
  }
}

async function replaceFromSide(rebuild: Rebuild, engine: Engine, place: PostgresPlace): Promise<Rebuilt> {
  const { address, options } = place
  const side = sidePrefix(options.schemaPrefix)
  const leases = await takeAll(rebuild, engine)
  const renewAll = async (engine: Engine): Promise<void> => {
    for (const lease of leases) await renewLease(engine, lease)
  }
  try {
    await dropSide(engine, side)
    const aside = await openPostgres(address, { ...options, schemaPrefix: side })
    const outcome = await fill(rebuild, aside, () => renewAll(engine)).finally(() => aside.close())
    const missing = await missingFromSide(engine, side)
    if (!rebuild.acceptLoss) requireNothingMissing(missing)
    await engine.merge(async engine => {
      await replaceRows(engine, side)
      await tombstoneAgain(engine)
      await renewAll(engine)
    })
    await recordRun(rebuild, engine, outcome)
    return { outcome, missing }
  } finally {
    await dropSide(engine, side)
    for (const lease of leases) await releaseLease(engine, lease)
  }
}

export async function rebuildServer(rebuild: Rebuild): Promise<Rebuilt> {
  const place = postgresPlace(rebuild.connection)
  if (!place) throw new Error('a rebuild of schemas is for PostgreSQL')
  const engine = await openToWrite(rebuild.connection)
  try {
    await migrate(engine, iso(rebuild))
    return await replaceFromSide(rebuild, engine, place)
  } finally {
    await engine.close()
  }
}
