/** What a warehouse records of its own structure, and whether this program knows that structure. */
import { MusterError } from '../lib/errors.ts'
import { isLaterVersion, programVersion } from '../lib/package.ts'
import type { Engine } from '../warehouse/engine.ts'
import { existingTables } from './existing-tables.ts'
import { schemaVersion } from './migrations.ts'

/** What ops.migration records: the checksum of the structure, its number, and the program that made it. */
export async function recordedStructure(engine: Pick<Engine, 'rows'>): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ name: string; checksum: string }>(
    'select name, checksum from ops.migration',
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** The number of the structure: 1 where none is recorded. */
export const schemaOf = (recorded: ReadonlyMap<string, string>): number => Number(recorded.get('schema') ?? 1)

/** Throws MusterError for the warehouse of a later program, which may have tables that this one would not maintain. */
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

/** Undefined where there is no warehouse yet. */
export const recordedSchema = async (engine: Engine): Promise<number | undefined> =>
  (await existingTables(engine)).has('migration') ? schemaOf(await recordedStructure(engine)) : undefined

/** Whether the warehouse has a structure with a lower number. Throws MusterError for one of a later program. */
export async function isBehind(engine: Engine): Promise<boolean> {
  if (!(await existingTables(engine)).has('migration')) return false
  const recorded = await recordedStructure(engine)
  if (schemaOf(recorded) > schemaVersion) refuseLater(engine, recorded)
  return schemaOf(recorded) < schemaVersion
}

/**
 * For commands that read the ledger: throws MusterError for a structure with other tables than this program reads. The same
 * number with another checksum has the same tables. A published copy records nothing, and has only what readers need.
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
