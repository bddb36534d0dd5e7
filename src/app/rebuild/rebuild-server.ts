/** Rebuilds a PostgreSQL warehouse: schemas beside those in use are filled, and one transaction exchanges the rows. */
import { activityOf } from '../../state/activity.ts'
import { takeReplayedLedger } from '../../state/carry-over.ts'
import { countChange, everyTable } from '../../state/marts/writes.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId } from '../../state/runs/runs.ts'
import { takeWhole, type WholeLease } from '../../state/runs/whole-lease.ts'
import { usualLeaseMs } from '../../sync/run/context.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/on-demand.ts'
import { temporarySchemas } from '../../warehouse/postgres/temporary-schemas.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../../warehouse/sql-text.ts'
import { openToWrite, type PostgresPlace, postgresPlace } from '../connection/warehouse.ts'
import {
  changedMeanwhile,
  instant,
  landedPages,
  missingFrom,
  type Rebuild,
  type Rebuilt,
  recordRun,
  requireNothingMissing,
  tombstoneAgain,
} from './rebuild.ts'
import { type ReplayResult, replay } from './replay.ts'

/**
 * Rows are deleted and inserted rather than tables exchanged: readers wait for nothing, and views, grants, comments and
 * indexes stay. Runs inside a transaction.
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

interface Beside extends PostgresPlace {
  /** Before the names of the schemas that are filled. */
  readonly prefix: string
}

async function fillBeside(rebuild: Rebuild, { address, options, prefix }: Beside): Promise<ReplayResult> {
  const beside = await openPostgres(address, { ...options, schemaPrefix: prefix })
  try {
    await migrate(beside, instant(rebuild))
    return await replay(beside, landedPages(rebuild), rebuild.onProgress)
  } finally {
    await beside.close()
  }
}

/** Runs inside a merge, which no other overlaps: nothing can be committed between the look and the exchange. */
async function requireStillness(engine: Engine, before: string): Promise<void> {
  if ((await activityOf(engine)) !== before) throw changedMeanwhile(engine)
}

async function replaceFromBeside(
  rebuild: Rebuild,
  engine: Engine,
  { place, leases }: { readonly place: PostgresPlace; readonly leases: WholeLease },
): Promise<Rebuilt> {
  const before = await activityOf(engine)
  const schemas = await temporarySchemas(engine, 'replay')
  const { prefix } = schemas
  try {
    const result = await fillBeside(rebuild, { ...place, prefix })
    const missing = await missingFrom(engine, { old: 'star', rebuilt: quoteName(`${prefix}star`) })
    requireNothingMissing(rebuild, missing, result)
    await engine.merge(async engine => {
      // First of all: whoever took over waits from here on until this has ended.
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

export async function rebuildServer(rebuild: Rebuild): Promise<Rebuilt> {
  const place = postgresPlace(rebuild.connection)
  if (!place) throw new Error('a rebuild of schemas is for PostgreSQL')
  const engine = await openToWrite(rebuild.connection)
  try {
    await migrate(engine, instant(rebuild))
    const holder = `replay-${newRunId(rebuild.clock, rebuild.rng)}`
    const leases = await takeWhole(engine, { holder, ms: usualLeaseMs, work: 'written' })
    try {
      return await replaceFromBeside(rebuild, engine, { place, leases })
    } finally {
      await leases.release()
    }
  } finally {
    await engine.close()
  }
}
