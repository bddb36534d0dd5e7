/**
 * Opens the two ends of a copy: the warehouse to read, and the target, which is the schemas of a server or a draft
 * that replaces the file when it is complete.
 */

import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Busy, MusterError } from '../lib/errors.ts'
import { existingTables } from '../state/existing-tables.ts'
import { migrate } from '../state/migrate.ts'
import { blockErasures } from '../state/privacy.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { definitionsIn } from '../warehouse/duckdb/catalogue.ts'
import { realFile, removeDatabase, replaceDatabase, stampOf } from '../warehouse/duckdb/database-file.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../warehouse/on-demand.ts'
import type { PostgresOptions } from '../warehouse/postgres/open.ts'
import type { PostgresAddress } from '../warehouse/postgres/session.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { quoteNames, quoteText } from '../warehouse/sql-text.ts'
import { type CopySource, patient, requireEmpty } from './copy.ts'

/**
 * Opens a file to copy from. The stage of the target attaches it, reads its rows, and keeps other processes from writing it.
 */
export async function fileSource(
  file: string,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  // Opens it once on its own for a clear message when it is locked, damaged or missing.
  await (await openDuckdb(file, { readOnly: true })).close()
  const { stage } = target
  await stage.run(`attach ${quoteText(file)} as copied (read_only)`)
  const within = (sql: string): string =>
    sql
      .replace(/\b(star|pii|history|ops)\./g, 'copied.$1.')
      .replaceAll('current_database()', () => `'copied'`)
  const engine: Engine = {
    ...stage,
    location: file,
    cacheKey: {},
    schema: name => name,
    rows: (sql, values) => stage.rows(within(sql), values),
  }
  const source: CopySource = {
    engine,
    present: async table => within(table),
    // No other process writes the file while it is open.
    inOneSnapshot: work => work(source),
  }
  return {
    ...source,
    close: async () => {
      await stage.run('detach copied')
    },
  }
}

const sourceOn = (engine: Engine): CopySource => ({
  engine,
  async present(table, columns) {
    const names = quoteNames(columns.map(({ name }) => name))
    await engine.sendToStage('copied_rows', columns, `select ${names} from ${table}`)
    return 'copied_rows'
  },
  async inOneSnapshot(work) {
    const there = await existingTables(engine)
    return engine.inOneSnapshot(async engine => {
      if (there.has('forgotten')) await blockErasures(engine)
      await engine.run(patient)
      return work(sourceOn(engine))
    })
  },
})

/** Opens a server to copy from. */
export async function serverSource(
  address: PostgresAddress,
  options: PostgresOptions,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  const engine = await openPostgres(address, { ...options, stage: target.stage })
  return { ...sourceOn(engine), close: () => engine.close() }
}

export interface CopyTarget {
  /** Migrated and empty. */
  readonly engine: Engine
  /** Closes the engine and puts the copy in place. */
  finish(): Promise<void>
  /** Removes the whole copy. */
  abandon(): Promise<void>
}

/** Refuses a file with other tables, as the copy replaces the file. */
async function requireNothingElse(engine: Engine): Promise<void> {
  const other = (await definitionsIn(engine)).find(({ schema }) => !schemaNames.some(name => name === schema))
  if (!other) return
  throw new MusterError({
    what: `the target has a table that does not belong to a warehouse: ${other.schema}.${other.name}`,
    where: engine.location,
    next: 'copy into a new file; nothing was changed',
  })
}

/** `now` is ISO 8601. Throws MusterError for a file that another process uses, or that has rows. */
export async function fileTarget(name: string, now: string): Promise<CopyTarget> {
  const isNew = !existsSync(name)
  // Stays open: its lock keeps other copies and syncs away until the copy is in place.
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
    what: 'another process wrote into the target during the copy',
    where: location,
    next: 'this copy changed nothing; look at what the target contains now',
  })

/** Writes the copy to a server in one transaction. */
export async function serverTarget(
  address: PostgresAddress,
  options: PostgresOptions,
  now: string,
): Promise<CopyTarget> {
  const engine = await openPostgres(address, options)
  try {
    // Before the structure changes.
    await requireEmpty(engine)
    await migrate(engine, now)
  } catch (error) {
    await engine.close()
    throw error
  }
  return { engine, finish: () => engine.close(), abandon: () => engine.close() }
}
