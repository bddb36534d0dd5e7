/** Rebuilds a PostgreSQL warehouse: schemas beside those in use are filled, and one transaction exchanges the rows. */
import { catalogue } from '../../contract/catalogue.ts'
import { takeReplayedLedger } from '../../state/carry-over.ts'
import { migrate } from '../../state/migrate.ts'
import { type Lease, releaseLease, renewLease, takeLease } from '../../state/runs/leases.ts'
import { newRunId } from '../../state/runs/runs.ts'
import { usualLeaseMs } from '../../sync/run/context.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/postgres/open.ts'
import { temporarySchemas } from '../../warehouse/postgres/temporary-schemas.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../../warehouse/sql-text.ts'
import { openToWrite, type PostgresPlace, postgresPlace } from '../connection/warehouse.ts'
import {
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
}

/** The lease of every resource keeps syncs of other processes away. */
async function takeAll({ clock, rng }: Rebuild, engine: Engine): Promise<Lease[]> {
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

async function renewAll(engine: Engine, leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await renewLease(engine, lease)
}

interface Beside extends PostgresPlace {
  /** Before the names of the schemas that are filled. */
  readonly prefix: string
  /** Held on the schemas in use. */
  readonly leases: readonly Lease[]
}

async function fillBeside(
  rebuild: Rebuild,
  engine: Engine,
  { address, options, prefix, leases }: Beside,
): Promise<ReplayResult> {
  const beside = await openPostgres(address, { ...options, schemaPrefix: prefix })
  try {
    await migrate(beside, instant(rebuild))
    return await replay(beside, landedPages(rebuild), async progress => {
      rebuild.onProgress(progress)
      await renewAll(engine, leases)
    })
  } finally {
    await beside.close()
  }
}

async function replaceFromBeside(rebuild: Rebuild, engine: Engine, place: PostgresPlace): Promise<Rebuilt> {
  const leases = await takeAll(rebuild, engine)
  const schemas = await temporarySchemas(engine, 'replay')
  const { prefix } = schemas
  try {
    const result = await fillBeside(rebuild, engine, { ...place, prefix, leases })
    const missing = await missingFrom(engine, { old: 'star', rebuilt: quoteName(`${prefix}star`) })
    requireNothingMissing(rebuild, missing, result)
    await engine.merge(async engine => {
      await replaceRows(engine, prefix)
      await tombstoneAgain(engine)
      await renewAll(engine, leases)
    })
    await recordRun(rebuild, engine, result)
    return { result, missing }
  } finally {
    await schemas.drop()
    for (const lease of leases) await releaseLease(engine, lease)
  }
}

export async function rebuildServer(rebuild: Rebuild): Promise<Rebuilt> {
  const place = postgresPlace(rebuild.connection)
  if (!place) throw new Error('a rebuild of schemas is for PostgreSQL')
  const engine = await openToWrite(rebuild.connection)
  try {
    await migrate(engine, instant(rebuild))
    return await replaceFromBeside(rebuild, engine, place)
  } finally {
    await engine.close()
  }
}
