/** Where a copy is written: into the schemas of a server, or into a draft that replaces the file when it is complete. */
import { existsSync } from 'node:fs'
import { MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
import { temporaryPlace } from '../../temporary/places.ts'
import { removeDatabase, replaceDatabase } from '../../warehouse/duckdb/database-file.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres, type PostgresOptions } from '../../warehouse/postgres/open.ts'
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
export async function fileTarget(file: string, now: string): Promise<CopyTarget> {
  const isNew = !existsSync(file)
  // Open to the end: its lock keeps other copies and syncs away.
  const locked = await openDuckdb(file)
  const place = temporaryPlace(`${file}.copying`, 'the warehouse that a copy makes')
  const draft = place.path
  let engine: Engine | undefined
  const close = async (): Promise<void> => {
    await engine?.close()
    await locked.close()
  }
  const abandon = async (): Promise<void> => {
    await close()
    place.remove()
    if (isNew) removeDatabase(file)
  }
  try {
    await requireNothingElse(locked)
    await requireEmpty(locked)
    engine = await openDuckdb(draft)
    await migrate(engine, now)
  } catch (error) {
    await abandon()
    throw error
  }
  return {
    engine,
    abandon,
    async finish() {
      await close()
      replaceDatabase(draft, file)
      place.remove()
    },
  }
}

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
