/** Declares the migrations from version to version, and decides whether this program can read a warehouse. */
import { MusterError } from '../lib/errors.ts'
import { isLaterVersion, programVersion } from '../lib/package.ts'
import type { Engine } from '../warehouse/engine.ts'
import { existingTables } from './existing-tables.ts'

/**
 * Statements that rename or move things from the previous version to this one, before declared tables and columns are added.
 * On DuckDB one migration must not update a table and also rename it, because DuckDB cannot replay its log after a crash in
 * between.
 */
export interface Migration {
  readonly statements: readonly string[]
}

/** From version 1 on. Never edit a released one. */
export const migrations: readonly Migration[] = []

export const versionAfter = (all: readonly Migration[]): number => all.length + 1

/** Version of the structure: tables, columns and the words in them. A migration raises it by one. */
export const schemaVersion = versionAfter(migrations)

/** What ops.migration records: the checksum of the structure, its number, and the program that made it. */
export async function recordedStructure(engine: Pick<Engine, 'rows'>): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ name: string; checksum: string }>(
    'select name, checksum from ops.migration',
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Version of the structure; 1 if none is recorded. */
export const schemaOf = (recorded: ReadonlyMap<string, string>): number => Number(recorded.get('schema') ?? 1)

/** Throws MusterError for a warehouse of a later program: it may have tables that this one would not maintain. */
export function refuseLater(
  engine: Partial<Pick<Engine, 'location'>>,
  recorded: ReadonlyMap<string, string>,
  version = programVersion,
): void {
  const maker = recorded.get('program') ?? version
  const schema = schemaOf(recorded)
  if (schema <= schemaVersion && !isLaterVersion(maker, version)) return
  const numbers = schema > schemaVersion ? ` (schema ${schema}; this one knows ${schemaVersion})` : ''
  throw new MusterError({
    what: `this warehouse was made by muster ${maker}, which is later than this one, ${version}${numbers}`,
    ...(engine.location !== undefined && { where: engine.location }),
    next: `install muster ${maker} or later; nothing was changed`,
  })
}

/** Undefined if there is no warehouse yet. */
export const recordedSchema = async (engine: Engine): Promise<number | undefined> =>
  (await existingTables(engine)).has('migration') ? schemaOf(await recordedStructure(engine)) : undefined

/** Whether the warehouse has a structure with a lower number. Throws MusterError for a warehouse of a later program. */
export async function isBehind(engine: Engine): Promise<boolean> {
  if (!(await existingTables(engine)).has('migration')) return false
  const recorded = await recordedStructure(engine)
  if (schemaOf(recorded) > schemaVersion) refuseLater(engine, recorded)
  return schemaOf(recorded) < schemaVersion
}

/**
 * For commands that read the ledger: throws MusterError if the tables differ from those that this program reads. A structure
 * with the same number has the same tables, even if its checksum differs. A published copy has no record; it always passes.
 */
export async function requireReadable(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'> & Partial<Pick<Engine, 'location'>>,
): Promise<void> {
  if (!(await existingTables(engine)).has('migration')) return
  const recorded = await recordedStructure(engine)
  const schema = schemaOf(recorded)
  if (schema > schemaVersion) refuseLater(engine, recorded)
  if (schema >= schemaVersion) return
  throw new MusterError({
    what: `this warehouse was made by an earlier muster (schema ${schema}; this one, ${programVersion}, reads ${schemaVersion})`,
    ...(engine.location !== undefined && { where: engine.location }),
    next: 'run muster upgrade; the next sync or build does it as well',
  })
}
