/** Rebuilds a PostgreSQL warehouse: fills schemas beside those in use, and exchanges the rows in one transaction. */
import { takeReplayedLedger } from '../../state/carry-over.ts'
import { countChange, everyTable } from '../../state/marts/writes.ts'
import { migrate } from '../../state/migrate.ts'
import { leaseWarehouse, type WarehouseLease } from '../../state/runs/leases.ts'
import { activityOf, newRunId } from '../../state/runs/runs.ts'
import { defaultLeaseMs } from '../../sync/run/context.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/on-demand.ts'
import { temporarySchemas } from '../../warehouse/postgres/temporary-schemas.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../../warehouse/sql-text.ts'
import { type PostgresTarget, postgresTarget } from '../connection/storage.ts'
import { openToWrite } from '../connection/warehouse.ts'
import {
  changedMeanwhile,
  instant,
  landedPages,
  missingFrom,
  recordRun,
  requireFieldPolicy,
  requireNothingMissing,
  tombstoneAgain,
  type WarehouseRebuild,
  type WarehouseRebuildResult,
} from './rebuild.ts'
import { type ReplayResult, replay } from './replay.ts'

/**
 * Deletes and inserts rows instead of exchanging tables: readers never wait, and views, grants, comments and indexes stay.
 * Runs inside a transaction.
 */
async function replaceRows(engine: Engine, prefix: string): Promise<void> {
  for (const table of physicalTables) {
    const names = quoteNames(table.columns.map(({ name }) => name))
    const from = `${quoteName(prefix + table.schema)}.${quoteName(table.name)}`
    await engine.run(`delete from ${qualified(table)}`)
    await engine.run(`insert into ${qualified(table)} (${names}) select ${names} from ${from}`)
  }
  await takeReplayedLedger(engine, prefix)
  await countChange(engine, everyTable)
}

interface RebuildTarget extends PostgresTarget {
  /** Prefix of the schemas to fill. */
  readonly prefix: string
}

async function fillBeside(
  rebuild: WarehouseRebuild,
  { address, options, prefix }: RebuildTarget,
): Promise<ReplayResult> {
  const beside = await openPostgres(address, { ...options, schemaPrefix: prefix })
  try {
    await migrate(beside, instant(rebuild))
    return await replay(beside, landedPages(rebuild), rebuild.onProgress)
  } finally {
    await beside.close()
  }
}

/** Throws if another process has written. Runs inside a merge, so nothing can commit between this check and the exchange. */
async function requireStillness(engine: Engine, before: string): Promise<void> {
  if ((await activityOf(engine)) !== before) throw changedMeanwhile(engine)
}

async function replaceFromBeside(
  rebuild: WarehouseRebuild,
  engine: Engine,
  { place, leases }: { readonly place: PostgresTarget; readonly leases: WarehouseLease },
): Promise<WarehouseRebuildResult> {
  const before = await activityOf(engine)
  const schemas = await temporarySchemas(engine, 'replay')
  const { prefix } = schemas
  try {
    const result = await fillBeside(rebuild, { ...place, prefix })
    const missing = await missingFrom(engine, { old: 'star', rebuilt: quoteName(`${prefix}star`) })
    requireNothingMissing(rebuild, missing, result)
    await engine.merge(async engine => {
      // Comes first: a process that took over the lease waits from here until this ends.
      await leases.renew(engine)
      await requireStillness(engine, before)
      await replaceRows(engine, prefix)
      await tombstoneAgain(engine)
      await leases.renew(engine)
    })
    await recordRun(rebuild, engine, result)
    return { result, missing }
  } finally {
    await schemas.drop()
  }
}

export async function rebuildServer(rebuild: WarehouseRebuild): Promise<WarehouseRebuildResult> {
  const place = postgresTarget(rebuild.connection)
  if (!place) throw new Error('a rebuild of schemas is for PostgreSQL')
  const engine = await openToWrite(rebuild.connection)
  try {
    await migrate(engine, instant(rebuild))
    await requireFieldPolicy(engine, rebuild)
    const holder = `replay-${newRunId(rebuild.clock, rebuild.rng)}`
    const leases = await leaseWarehouse(engine, { holder, ms: defaultLeaseMs, work: 'written' })
    try {
      return await replaceFromBeside(rebuild, engine, { place, leases })
    } finally {
      await leases.release()
    }
  } finally {
    await engine.close()
  }
}
