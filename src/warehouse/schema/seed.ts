/** Loads the rows of star that ship with the program: calendars, code lists, and each dimension's unknown member. */
import { basename } from 'node:path'
import type { Table } from '../../contract/fields/table.ts'
import { type Engine, runTogether } from '../engine.ts'
import { keepRights, requireNothingInTheWay } from '../postgres/rights/replaced-table.ts'
import { type SqlFile, sqlFiles } from '../sql-files.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import { memberTables, starColumns } from './physical.ts'
import type { SchemaName } from './schemas.ts'

const isSchema = ({ name }: SqlFile): boolean => name === 'seed/schema.sql'

/** Each file fills the table of the same name. */
const seeds = (): SqlFile[] => sqlFiles('seed').filter(file => !isSchema(file))

/** Files that define tables, views and rows of star beside the declarations. */
export const structureFiles = (): SqlFile[] => [...sqlFiles('seed'), ...sqlFiles('view')]

async function runFile(engine: Engine, { text }: SqlFile): Promise<void> {
  const bare = text.replace(/^\s*--.*$/gm, '')
  await runTogether(
    engine,
    bare.split(/;\s*$/m).filter(statement => statement.trim()),
  )
}

/** Tables that only seeds fill. */
export async function createSeedTables(engine: Engine): Promise<void> {
  for (const file of sqlFiles('seed').filter(isSchema)) await runFile(engine, file)
}

/** Keeps rights granted on a view; throws an error that names foreign views over it. */
export async function createViews(engine: Engine): Promise<void> {
  for (const file of sqlFiles('view')) {
    const [, schema, name = ''] = /drop view if exists (star|ops)\.(\w+)/.exec(file.text) ?? []
    const replaced = { schema: schema as SchemaName, name }
    if (engine.isShared) await requireNothingInTheWay(engine, replaced)
    const regrant = engine.isShared ? await keepRights(engine, replaced) : undefined
    await runFile(engine, file)
    await regrant?.()
  }
}

/** In a dimension, where records add rows too, a new version of the seed replaces only seeded rows. */
async function plantSeed(engine: Engine, file: SqlFile): Promise<void> {
  const name = basename(file.name, '.sql')
  const table = `star.${quoteName(name)}`
  const member = memberTables.get(name.replace('dim_', ''))
  await engine.run(
    member
      ? `delete from ${table} where run_id = 'seed' and ${quoteName(member.key)} <> '-1'`
      : `delete from ${table}`,
  )
  await engine.run(file.text)
  if (!member) return
  await engine.run(
    `update ${table} set run_id = 'seed', row_hash = '-', is_inferred = false, is_deleted = false where run_id is null`,
  )
}

/** Display columns of a member; for '-1' they are Unknown. */
const spoken = ['name', 'label', 'title', 'reference']

/** Key '-1' means that the record names no member, so that no join loses a row. */
function unknownMember(name: string, table: Table): string[] {
  const place = `star.${quoteName(table.name)}`
  const key = quoteName(table.key)
  const columns = [table.key, 'is_inferred', 'is_deleted', 'run_id', 'row_hash']
  const open = new Set(starColumns(table).map(column => column.name))
  const words = [...spoken, `${name}_reference`].filter(column => open.has(column))
  return [
    `insert into ${place} (${quoteNames(columns)})
     select '-1', false, false, 'seed', '-' where not exists (select 1 from ${place} where ${key} = '-1')`,
    ...words.map(
      column =>
        `update ${place} set ${quoteName(column)} = 'Unknown' where ${key} = '-1' and ${quoteName(column)} is null`,
    ),
  ]
}

export async function plantSeeds(engine: Engine): Promise<void> {
  for (const file of seeds()) await plantSeed(engine, file)
  await runTogether(
    engine,
    [...memberTables].flatMap(([name, table]) => unknownMember(name, table)),
  )
}
