/** Brings the structure of a warehouse up to the declarations: forward only, and only when something differs. */
import { createHash } from 'node:crypto'
import { builtFile, programVersion } from '../lib/package.ts'
import type { Engine } from '../warehouse/engine.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { addReference, references } from '../warehouse/schema/references.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { createSeedTables, createViews, plantSeeds, structureFiles } from '../warehouse/schema/seed.ts'
import {
  type Commented,
  columnDefinition,
  createIndexes,
  createTable,
  missingComments,
  qualified,
} from '../warehouse/schema/structure.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { existingTables, forgetTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'
import { migrations as declaredMigrations, type Migration, versionAfter } from './migrations.ts'
import { recordedSchema, recordedStructure, refuseLater, schemaOf } from './recorded-structure.ts'
import { isZoneSettled, settleZone } from './reporting-zone.ts'
import { addLedgerColumn, createLedgerIndexes, createLedgerTable } from './structure.ts'
import { ledgerTables } from './tables.ts'

/** What is recorded of a structure when it is applied. */
interface Structure {
  readonly sum: string
  readonly version: string
  /** ISO 8601. */
  readonly now: string
  readonly migrations: readonly Migration[]
}

let known: string | undefined

/** The declarations and the files of a program stay as they are while it runs. */
function checksum(): string {
  known ??= computeChecksum()
  return known
}

function computeChecksum(): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([physicalTables, ledgerTables]))
  hash.update([...serverIndexes(), ...references.map(addReference), identifiedByWholeRows].join())
  for (const file of structureFiles()) hash.update(file.name).update(file.text)
  return hash.digest('hex')
}

async function isCurrent(engine: Engine, { sum, version, migrations }: Structure): Promise<boolean> {
  if (!(await existingTables(engine)).has('migration')) return false
  const recorded = await recordedStructure(engine)
  if (recorded.get('structure') === sum && schemaOf(recorded) === versionAfter(migrations))
    return isZoneSettled(engine)
  refuseLater(engine, recorded, version)
  return false
}

/** Tables and columns that the warehouse has, as `ops.run` and `ops.run.state`. */
async function existingPlaces(engine: Engine): Promise<ReadonlySet<string>> {
  const plain = new Map<string, string>(schemaNames.map(name => [engine.schema(name), name]))
  const rows = await engine.rows<{ schema: string; name: string; column: string }>(
    `select table_schema as schema, table_name as name, column_name as column
     from information_schema.columns where table_catalog = current_database()`,
  )
  return new Set(
    rows.flatMap(({ schema, name, column }) => {
      const table = `${plain.get(schema)}.${name}`
      return [table, `${table}.${column}`]
    }),
  )
}

/** Columns that the declarations gained since their table was made. */
function missingColumns(engine: Engine, places: ReadonlySet<string>): string[] {
  const isMissing = (table: { schema: string; name: string }, column: string): boolean =>
    !places.has(`${table.schema}.${table.name}.${column}`)
  const ofLedger = ledgerTables.flatMap(table =>
    Object.entries(table.columns)
      .filter(([name]) => isMissing(table, name))
      .map(([name, column]) => addLedgerColumn(table, name, column)),
  )
  const ofRecords = physicalTables.flatMap(table =>
    table.columns
      .filter(({ name }) => isMissing(table, name))
      .map(column => `alter table ${qualified(table)} add column ${columnDefinition(engine, column)}`),
  )
  return [...ofLedger, ...ofRecords]
}

/** Foreign keys that the server supports and lacks. */
async function missingReferences(engine: Engine): Promise<string[]> {
  const rows = await engine.rows<{ version: number; held: string | null }>(
    `select cast(current_setting('server_version_num') as integer) as version, c.conname as held
     from (select 1) as one left join pg_catalog.pg_constraint c
       on c.contype = 'f' and c.connamespace = cast($1 as regnamespace)`,
    [engine.schema('star')],
  )
  const held = new Set(rows.map(row => row.held))
  const canSay = (rows[0]?.version ?? 0) >= 180_000
  return canSay ? references.filter(({ name }) => !held.has(name)).map(addReference) : []
}

/**
 * A publication for all tables of the database refuses updates and deletes on a table without a key or this. Where nothing
 * decodes the log it costs nothing.
 */
const identifiedByWholeRows = `do $muster$ declare one record; begin
  for one in select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(string_to_array('%schemas%', ',')) and c.relkind = 'r' and c.relpersistence = 'p' and c.relreplident in ('d', 'n')
      and not exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary)
  loop execute format('alter table %I.%I replica identity full', one.nspname, one.relname); end loop;
end $muster$`

const serverIndexes = (): string[] => [
  ...ledgerTables.flatMap(createLedgerIndexes),
  ...physicalTables.flatMap(createIndexes),
]

/** Keys, indexes, foreign keys and identities of rows, which would cost DuckDB more than they gain, or which it lacks. */
async function addKeys(engine: Engine): Promise<void> {
  await runTogether(engine, serverIndexes())
  await runTogether(engine, await missingReferences(engine))
  const schemas = schemaNames.map(name => engine.schema(name)).join()
  await engine.run(identifiedByWholeRows.replace('%schemas%', () => schemas))
}

const commented: readonly Commented[] = [
  ...physicalTables,
  ...ledgerTables.map(table => ({
    ...table,
    columns: Object.entries(table.columns).map(([name, { description }]) => ({ name, description })),
  })),
]

async function shape(engine: Engine): Promise<void> {
  for (const schema of schemaNames)
    await engine.run(`create schema if not exists ${quoteName(engine.schema(schema))}`)
  await createSeedTables(engine)
  await runTogether(engine, [
    ...ledgerTables.map(createLedgerTable),
    ...physicalTables.map(table => createTable(engine, table)),
  ])
  await runTogether(engine, missingColumns(engine, await existingPlaces(engine)))
  if (engine.keepsKeys) await addKeys(engine)
  await runTogether(engine, await missingComments(engine, commented))
  await createViews(engine)
}

/**
 * Makes the empty warehouse that the build keeps for `copyEmpty`. It has no record of its structure: whoever copies it writes one.
 * Returns the name of its file, which tells of which structure it is.
 */
export async function makeEmpty(engine: Engine): Promise<string> {
  await engine.transaction(shape)
  await engine.transaction(plantSeeds)
  return emptyWarehouse(checksum())
}

const emptyWarehouse = (sum: string): string => `empty-${sum.slice(0, 16)}.duckdb`

/** A new file takes 0.15 s of the processor as a copy of the one that the build made, and 1.0 s statement by statement. */
export async function copyEmpty(engine: Engine, file: string | undefined): Promise<boolean> {
  if (file === undefined || !(await engine.copyWhole?.(file))) return false
  // Those of a copy have the same columns and rows, but DuckDB nests the parts of their text otherwise.
  await engine.transaction(createViews)
  return true
}

async function record(engine: Engine, { sum, version, now, migrations }: Structure): Promise<void> {
  forgetTables(engine)
  await ledger(engine).deleteFrom('ops.migration').execute()
  await ledger(engine)
    .insertInto('ops.migration')
    .values([
      { name: 'structure', checksum: sum, applied_at: now },
      { name: 'schema', checksum: String(versionAfter(migrations)), applied_at: now },
      { name: 'program', checksum: version, applied_at: now },
    ])
    .execute()
}

/** Applies the migrations that the warehouse lacks and their number together: a kill leaves all of them or none. */
async function applyMigrations(engine: Engine, migrations: readonly Migration[]): Promise<void> {
  const recorded = await recordedSchema(engine)
  if (recorded === undefined || recorded >= versionAfter(migrations)) return
  for (const { statements } of migrations.slice(recorded - 1)) await runTogether(engine, statements)
  await ledger(engine)
    .updateTable('ops.migration')
    .set({ checksum: String(versionAfter(migrations)) })
    .where('name', '=', 'schema')
    .execute()
  forgetTables(engine)
}

async function settle(engine: Engine, structure: Structure): Promise<void> {
  await settleZone(engine, structure.now)
  await record(engine, structure)
}

async function shapeAndFill(engine: Engine, structure: Structure): Promise<void> {
  await applyMigrations(engine, structure.migrations)
  await shape(engine)
  await plantSeeds(engine)
  await settle(engine, structure)
}

/** Another process may migrate while this one waits for its turn. */
const migrateShared = (engine: Engine, structure: Structure): Promise<boolean> =>
  engine.merge(async engine => {
    if (await isCurrent(engine, structure)) return false
    await engine.requireOwner()
    await shapeAndFill(engine, structure)
    return true
  })

/** DuckDB cannot alter a table that the same transaction has written: three transactions, each of which may run again. */
async function migrateFile(engine: Engine, structure: Structure): Promise<boolean> {
  if (await copyEmpty(engine, builtFile(emptyWarehouse(structure.sum)))) {
    await engine.transaction(engine => settle(engine, structure))
    return true
  }
  await engine.transaction(engine => applyMigrations(engine, structure.migrations))
  await engine.transaction(shape)
  await engine.transaction(async engine => {
    await plantSeeds(engine)
    await settle(engine, structure)
  })
  return true
}

/** Returns whether anything had to change. `now` is ISO 8601; `version` is that of the program. */
export async function migrate(
  engine: Engine,
  now: string,
  {
    version = programVersion,
    migrations = declaredMigrations,
  }: Partial<Pick<Structure, 'version' | 'migrations'>> = {},
): Promise<boolean> {
  const structure = { sum: checksum(), version, now, migrations }
  return engine.exclusive(async engine => {
    if (await isCurrent(engine, structure)) return false
    return engine.isShared ? migrateShared(engine, structure) : migrateFile(engine, structure)
  })
}
