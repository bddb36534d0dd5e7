/** Where a copy is written: into the schemas of a server, or into a draft that replaces the file when it is complete. */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Busy, MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
import { makeScratch } from '../../temporary/scratch.ts'
import { realFile, removeDatabase, replaceDatabase, stampOf } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../../warehouse/on-demand.ts'
import type { PostgresOptions } from '../../warehouse/postgres/open.ts'
import type { Address } from '../../warehouse/postgres/session.ts'
import { schemaNames } from '../../warehouse/schema/schemas.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { requireEmpty } from './copy.ts'

export interface CopyTarget {
  /** Migrated and empty. */
  readonly engine: Engine
  /** Puts the copy in place; the engine is closed. */
  finish(): Promise<void>
  /** Removes all of the copy. */
  abandon(): Promise<void>
}

/** The file is replaced by another, which would not have these tables. */
async function requireNothingElse(engine: Engine): Promise<void> {
  const [other] = await engine.rows<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_catalog = current_database() and table_schema not in (${schemaNames.map(quoteText).join(', ')}) limit 1`,
  )
  if (!other) return
  throw new MusterError({
    what: `the target has a table that does not belong to a warehouse: ${other.name}`,
    where: engine.location,
    next: 'copy into a new file; nothing was changed',
  })
}

/** `now` is ISO 8601. Throws MusterError for a file that another process uses, or that has rows. */
export async function fileTarget(name: string, now: string): Promise<CopyTarget> {
  const isNew = !existsSync(name)
  // Open to the end: its lock keeps other copies and syncs away until the copy is in its place.
  const locked = await openDuckdb(name)
  const file = realFile(name)
  const scratch = makeScratch(dirname(file))
  const draft = join(scratch.path, basename(file))
  let engine: Engine | undefined
  const abandon = async (): Promise<void> => {
    await engine?.close()
    await locked.close()
    scratch.remove()
    if (isNew) removeDatabase(file)
  }
  try {
    await requireNothingElse(locked)
    await requireEmpty(locked)
    await locked.run('checkpoint')
    engine = await openDuckdb(draft, { isDraft: true })
    await migrate(engine, now)
  } catch (error) {
    await abandon()
    throw error
  }
  const stamp = stampOf(file)
  return {
    engine,
    abandon,
    async finish() {
      await engine?.close()
      if (stampOf(file) !== stamp) {
        await abandon()
        throw filledMeanwhile(name)
      }
      replaceDatabase(draft, file)
      scratch.remove()
      await locked.close()
    },
  }
}

const filledMeanwhile = (location: string): Busy =>
  new Busy({
    what: 'another process wrote into the target while it was copied to',
    where: location,
    next: 'nothing was changed by this copy; see what is there now',
  })

/** A copy is one transaction there. */
export async function serverTarget(
  address: Address,
  options: PostgresOptions,
  now: string,
): Promise<CopyTarget> {
  const engine = await openPostgres(address, options)
  try {
    // Before its structure is changed.
    await requireEmpty(engine)
    await migrate(engine, now)
  } catch (error) {
    await engine.close()
    throw error
  }
  return { engine, finish: () => engine.close(), abandon: () => engine.close() }
}
