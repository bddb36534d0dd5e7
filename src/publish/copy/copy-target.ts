/** Where a copy is written: into the schemas of a server, or beside the file whose place it takes when it is whole. */
import { existsSync, rmSync } from 'node:fs'
import { removeFile, swapIn } from '../../app/rebuild/swap.ts'
import { MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
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
  /** Shows what was copied; nobody else may use the engine any more. */
  finish(): Promise<void>
  /** Leaves nothing of the copy. */
  abandon(): Promise<void>
}

/** Its place is taken by another file, which would hold nothing of them. */
async function requireNothingElse(engine: Engine): Promise<void> {
  const [other] = await engine.rows<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_catalog = current_database() and table_schema not in (${schemaNames.map(quoteText).join(', ')}) limit 1`,
  )
  if (!other) return
  throw new MusterError({
    what: `the target holds a table that is none of a warehouse: ${other.name}`,
    where: engine.location,
    next: 'copy into a new file; nothing was changed',
  })
}

/** `now` is ISO 8601. Throws MusterError for a file that somebody uses, or that holds anything. */
export async function fileTarget(file: string, now: string): Promise<CopyTarget> {
  const isNew = !existsSync(file)
  // Held open to the end: its lock keeps other copies and syncs away.
  const held = await openDuckdb(file)
  const draft = `${file}.copying`
  let engine: Engine | undefined
  const close = async (): Promise<void> => {
    await engine?.close()
    await held.close()
  }
  const abandon = async (): Promise<void> => {
    await close()
    removeFile(draft)
    if (isNew) removeFile(file)
  }
  try {
    await requireNothingElse(held)
    await requireEmpty(held)
    // Of a copy that was killed.
    removeFile(draft)
    rmSync(`${draft}.tmp`, { recursive: true, force: true })
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
      swapIn(draft, file)
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
    // Before anything of it is brought up to date.
    await requireEmpty(engine)
    await migrate(engine, now)
  } catch (error) {
    await engine.close()
    throw error
  }
  return { engine, finish: () => engine.close(), abandon: () => engine.close() }
}
