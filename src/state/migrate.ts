/** Updates the structure of a warehouse to the declarations: forward only, and only when they differ. */
import { createHash } from 'node:crypto'
import { builtFile, programVersion } from '../lib/package.ts'
import { columnsIn } from '../warehouse/catalogue.ts'
import { type Engine, runTogether } from '../warehouse/engine.ts'
import { foreignKeysIn, setFullReplicaIdentity } from '../warehouse/postgres/catalogue.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { addReference, references } from '../warehouse/schema/references.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { createSeedTables, createViews, plantSeeds, structureFiles } from '../warehouse/schema/seed.ts'
import {
  type CommentedTable,
  columnDefinition,
  createIndexes,
  createTable,
  missingComments,
  qualified,
} from '../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../warehouse/sql-text.ts'
import type { LedgerColumn } from './declaration.ts'
import { existingTables, forgetTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'
import {
  migrations as declaredMigrations,
  type Migration,
  recordedSchema,
  recordedStructure,
  refuseLater,
  schemaOf,
  versionAfter,
} from './migrations.ts'
import { areDaysCurrent, recountDays } from './reporting-zone.ts'
import { ledgerTables, type NamedTable } from './tables.ts'

const bareColumn = (name: string, { sql }: LedgerColumn): string => `${quoteName(name)} ${sql}`

export function createLedgerTable(table: NamedTable): string {
  const columns = Object.entries(table.columns).map(
    ([name, column]) => `${bareColumn(name, column)}${column.isOptional ? '' : ' not null'}`,
  )
  const key = table.key.length > 0 ? [`primary key (${quoteNames(table.key)})`] : []
  return `create table if not exists ${qualified(table)} (${[...columns, ...key].join(', ')})`
}

/** Without `not null`, which DuckDB cannot add; declare columns added later as optional. */
const addLedgerColumn = (table: NamedTable, name: string, column: LedgerColumn): string =>
  `alter table ${qualified(table)} add column ${bareColumn(name, column)}`

/** For PostgreSQL. */
const createLedgerIndexes = (table: NamedTable): string[] =>
  table.indexes.map(
    ({ name, columns, isUnique, where }) =>
      `create ${isUnique ? 'unique ' : ''}index if not exists ${quoteName(name)}
       on ${qualified(table)} (${quoteNames(columns)})${where ? ` where ${where}` : ''}`,
  )

/** What ops.migration records when a structure is applied. */
interface Structure {
  readonly sum: string
  readonly version: string
  /** ISO 8601. */
  readonly now: string
  readonly migrations: readonly Migration[]
}

let known: string | undefined

/** Computed once: declarations and files do not change while the program runs. */
function checksum(): string {
  known ??= computeChecksum()
  return known
}

function computeChecksum(): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([physicalTables, ledgerTables]))
  hash.update([...serverIndexes(), ...references.map(addReference), setFullReplicaIdentity([])].join())
  for (const file of structureFiles()) hash.update(file.name).update(file.text)
  return hash.digest('hex')
}

async function isCurrent(engine: Engine, { sum, version, migrations }: Structure): Promise<boolean> {
  if (!(await existingTables(engine)).has('migration')) return false
  const recorded = await recordedStructure(engine)
  if (recorded.get('structure') === sum && schemaOf(recorded) === versionAfter(migrations))
    return areDaysCurrent(engine)
  refuseLater(engine, recorded, version)
  return false
}

/** Names of existing tables and columns, such as `ops.run` and `ops.run.state`. */
async function existingNames(engine: Engine): Promise<ReadonlySet<string>> {
  const columns = await columnsIn(engine, schemaNames)
  return new Set(
    columns.flatMap(({ schema, table, name }) => [`${schema}.${table}`, `${schema}.${table}.${name}`]),
  )
}

/** Statements that add columns declared after their table was created. */
function missingColumns(engine: Engine, names: ReadonlySet<string>): string[] {
  const isMissing = (table: { schema: string; name: string }, column: string): boolean =>
    !names.has(`${table.schema}.${table.name}.${column}`)
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

/** Statements that add missing foreign keys, if the engine supports them. */
async function missingReferences(engine: Engine): Promise<string[]> {
  const foreignKeys = await foreignKeysIn(engine, 'star')
  return foreignKeys ? references.filter(({ name }) => !foreignKeys.has(name)).map(addReference) : []
}

const serverIndexes = (): string[] => [
  ...ledgerTables.flatMap(createLedgerIndexes),
  ...physicalTables.flatMap(createIndexes),
]

/** Adds indexes, foreign keys and replica identities, on PostgreSQL only: DuckDB would lose time or does not support them. */
async function addKeys(engine: Engine): Promise<void> {
  await runTogether(engine, serverIndexes())
  await runTogether(engine, await missingReferences(engine))
  await engine.run(setFullReplicaIdentity(schemaNames.map(name => engine.schema(name))))
}

const commented: readonly CommentedTable[] = [
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
  await runTogether(engine, missingColumns(engine, await existingNames(engine)))
  if (engine.keepsKeys) await addKeys(engine)
  await runTogether(engine, await missingComments(engine, commented))
  await createViews(engine)
}

/**
 * Creates the empty warehouse that the build keeps for `copyEmpty`. Its structure is not recorded in it: `migrate` does that
 * after copying. Returns the name of its file, which contains the checksum of the structure.
 */
export async function makeEmpty(engine: Engine): Promise<string> {
  await engine.transaction(shape)
  await engine.transaction(plantSeeds)
  return emptyWarehouse(checksum())
}

const emptyWarehouse = (sum: string): string => `empty-${sum.slice(0, 16)}.duckdb`

/** Copies the empty warehouse from the build: a new file takes 0.15 s of CPU this way, and 1.0 s statement by statement. */
export async function copyEmpty(engine: Engine, file: string | undefined): Promise<boolean> {
  if (file === undefined || !(await engine.copyDatabase?.(file))) return false
  // Copied views give the same rows, but DuckDB nests their text differently; create them again.
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

/** Applies pending migrations and records the schema number together: a kill leaves all of them or none. */
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
  await recountDays(engine, structure.now)
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

/** Returns whether anything changed. `now` is ISO 8601; `version` is the program's. */
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
