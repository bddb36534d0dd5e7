/** Brings the structure of a warehouse up to the declarations: forward only, and only when something differs. */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { MusterError } from '../lib/errors.ts'
import { isLaterVersion, programVersion } from '../lib/program-version.ts'
import type { Engine } from '../warehouse/engine.ts'
import { requireOwner } from '../warehouse/postgres/may-migrate.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { missingComments } from '../warehouse/schema/comments.ts'
import { memberTables, physicalTables } from '../warehouse/schema/physical.ts'
import { addReference, references } from '../warehouse/schema/references.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import {
  columnDefinition,
  createIndexes,
  createTable,
  ledgerIndexes,
  qualified,
} from '../warehouse/schema/structure.ts'
import { type SqlFile, sqlFiles } from '../warehouse/sql-files.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { existingTables, forgetTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'

/** What is recorded of a structure when it is applied. */
interface Structure {
  readonly sum: string
  readonly version: string
  /** ISO 8601. */
  readonly now: string
}

/** Columns that the declarations gained since their table was made. */
async function missingColumns(engine: Engine): Promise<string[]> {
  const rows = await engine.rows<{ at: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as at from information_schema.columns where table_catalog = current_database()`,
  )
  const held = new Set(rows.map(row => row.at))
  return physicalTables.flatMap(table =>
    table.columns
      .filter(({ name }) => !held.has(`${engine.schema(table.schema)}.${table.name}.${name}`))
      .map(column => `alter table ${qualified(table)} add column ${columnDefinition(engine.name, column)}`),
  )
}

/** '-1' stands for "the record names none", so that no join loses a row. */
function unknownMember(name: string, key: string): string {
  const columns = [key, 'is_stub', 'is_deleted', 'run_id', 'row_hash']
  return `insert into star.${quoteName(`dim_${name}`)} (${columns.map(quoteName).join(', ')})
    select '-1', false, false, 'seed', '-' where not exists (select 1 from star.${quoteName(`dim_${name}`)} where ${quoteName(key)} = '-1')`
}

/** The table a seed fills is named for the file. */
const seededTable = ({ name }: SqlFile): string => `star.${quoteName(basename(name, '.sql'))}`

/** Dimensions that records add to: a new version of the seed replaces the seeded rows only. */
async function plantSeed(engine: Engine, file: SqlFile): Promise<void> {
  const table = seededTable(file)
  const shared = memberTables.has(basename(file.name, '.sql').replace('dim_', ''))
  const id = memberTables.get(basename(file.name, '.sql').replace('dim_', ''))?.key
  await engine.run(
    shared
      ? `delete from ${table} where run_id = 'seed' and ${quoteName(id ?? '')} <> '-1'`
      : `delete from ${table}`,
  )
  await engine.run(file.text)
  if (!shared) return
  await engine.run(
    `update ${table} set run_id = 'seed', row_hash = '-', is_stub = false, is_deleted = false where run_id is null`,
  )
}

async function runStatements(engine: Engine, text: string): Promise<void> {
  const bare = text.replace(/^\s*--.*$/gm, '')
  await runTogether(
    engine,
    bare.split(/;\s*$/m).filter(statement => statement.trim()),
  )
}

const views = (): SqlFile[] => sqlFiles('view')
const seeds = (): SqlFile[] => sqlFiles('seed').filter(file => file.name !== 'seed/schema.sql')
const seedSchema = (): SqlFile[] => sqlFiles('seed').filter(file => file.name === 'seed/schema.sql')

let known: string | undefined

/** The declarations and the files of a program stay as they are while it runs. */
function checksum(): string {
  known ??= sumOf()
  return known
}

function sumOf(): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(physicalTables))
  hash.update(
    [...ledgerIndexes, ...physicalTables.flatMap(createIndexes), ...references.map(addReference)].join(),
  )
  for (const file of [...sqlFiles('ops'), ...sqlFiles('seed'), ...views()])
    hash.update(file.name).update(file.text)
  return hash.digest('hex')
}

/** What the ledger says of the structure: its checksum, and the program that made it; undefined before the first. */
async function heldStructure(engine: Engine): Promise<ReadonlyMap<string, string> | undefined> {
  if (!(await existingTables(engine)).has('migration')) return undefined
  const rows = await ledger(engine).selectFrom('ops.migration').selectAll().execute()
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Throws MusterError for the warehouse of a later program: it may hold what this one would not keep up. */
async function isCurrent(engine: Engine, { sum, version }: Structure): Promise<boolean> {
  const held = await heldStructure(engine)
  const maker = held?.get('program')
  if (held?.get('structure') === sum) return true
  if (maker === undefined || !isLaterVersion(maker, version)) return false
  throw new MusterError({
    what: `this warehouse was made by muster ${maker}, which is later than this one, ${version}`,
    where: engine.location,
    next: `install muster ${maker} or later; nothing was changed`,
  })
}

/** References that a server can be told of, and has not been. */
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

/** What DuckDB does without: indexes and references would cost it more than they give. */
async function shapeServer(engine: Engine): Promise<void> {
  await runTogether(engine, [...ledgerIndexes, ...physicalTables.flatMap(createIndexes)])
  await runTogether(engine, await missingReferences(engine))
}

async function shape(engine: Engine): Promise<void> {
  for (const schema of schemaNames)
    await engine.run(`create schema if not exists ${quoteName(engine.schema(schema))}`)
  for (const file of [...sqlFiles('ops'), ...seedSchema()]) await runStatements(engine, file.text)
  await runTogether(
    engine,
    physicalTables.map(table => createTable(engine.name, table)),
  )
  await runTogether(engine, await missingColumns(engine))
  if (engine.name === 'postgres') await shapeServer(engine)
  await runTogether(engine, await missingComments(engine, physicalTables))
  for (const file of views()) await runStatements(engine, file.text)
}

async function fill(engine: Engine): Promise<void> {
  for (const file of seeds()) await plantSeed(engine, file)
  for (const [name, { key }] of memberTables) await engine.run(unknownMember(name, key))
}

async function record(engine: Engine, { sum, version, now }: Structure): Promise<void> {
  forgetTables(engine)
  await ledger(engine).deleteFrom('ops.migration').execute()
  await ledger(engine)
    .insertInto('ops.migration')
    .values([
      { name: 'structure', checksum: sum, applied_at: now },
      { name: 'program', checksum: version, applied_at: now },
    ])
    .execute()
}

/** Returns whether anything had to change. `now` is ISO 8601; `version` is that of the program. */
export async function migrate(engine: Engine, now: string, version = programVersion): Promise<boolean> {
  const structure = { sum: checksum(), version, now }
  const finish = async (engine: Engine): Promise<void> => {
    await fill(engine)
    await record(engine, structure)
  }
  return engine.exclusive(async engine => {
    if (await isCurrent(engine, structure)) return false
    if (engine.name === 'postgres') {
      return engine.merge(async engine => {
        // Another process may have done it while this one waited for its turn.
        if (await isCurrent(engine, structure)) return false
        await requireOwner(engine)
        await shape(engine)
        await finish(engine)
        return true
      })
    }
    await engine.transaction(shape)
    await engine.transaction(finish)
    return true
  })
}
