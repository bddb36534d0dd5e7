/** Moves a warehouse from one engine to another, with its ledger: the next sync goes on where the last one ended. */
import { MusterError } from '../lib/errors.ts'
import type { Engine, SharedColumn } from './engine.ts'
import { physicalTables } from './physical.ts'
import { quoteName, quoteNames } from './sql-text.ts'

interface CopiedTable {
  readonly schema: 'star' | 'pii' | 'history' | 'ops'
  readonly name: string
  readonly columns: readonly SharedColumn[]
}

export interface Copied {
  readonly table: string
  readonly rows: number
}

/** A warehouse to copy from: its own engine, and how the stage of the target gets at its rows. */
export interface CopySource {
  readonly engine: Engine
  /** Makes the rows readable in the target's stage and gives the name of the table there. */
  present(table: string, columns: readonly SharedColumn[]): Promise<string>
}

/** Made by the migration of each side, built there, or told of processes that hold something of the source. */
const notCopied = new Set(['migration', 'lease', 'request_budget', 'mart'])

const placed = ({ schema, name }: Pick<CopiedTable, 'schema' | 'name'>): string =>
  `${schema}.${quoteName(name)}`

/** Types as the engine calls them; both read the other's text of a value of such a type. */
async function tablesOf(engine: Engine): Promise<CopiedTable[]> {
  const rows = await engine.rows<{ schema: string; name: string; column: string; type: string }>(
    `select c.table_schema as schema, c.table_name as name, c.column_name as column, c.data_type
       || case when c.data_type = 'numeric' then '(' || c.numeric_precision || ',' || c.numeric_scale || ')' else '' end as type
     from information_schema.columns c join information_schema.tables t
       on t.table_catalog = c.table_catalog and t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_catalog = current_database() and t.table_type = 'BASE TABLE'
     order by c.ordinal_position`,
  )
  const star = new Set(physicalTables.map(table => placed(table)))
  const tables = new Map<string, CopiedTable & { columns: SharedColumn[] }>()
  for (const schema of ['star', 'pii', 'history', 'ops'] as const)
    for (const row of rows) {
      if (row.schema !== engine.schema(schema)) continue
      const at = placed({ schema, name: row.name })
      if (schema === 'ops' ? notCopied.has(row.name) : !star.has(at)) continue
      const table = tables.get(at) ?? { schema, name: row.name, columns: [] }
      table.columns.push({ name: row.column, sql: row.type })
      tables.set(at, table)
    }
  return [...tables.values()]
}

async function count(engine: Engine, table: string, where = ''): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(`select count(*) as n from ${table} ${where}`)
  return Number(row?.n ?? 0)
}

/** The seeded rows that a migration makes are no rows of anybody. */
async function requireEmpty(target: Engine, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables) {
    const own = table.schema === 'ops' ? '' : `where run_id is distinct from 'seed'`
    const rows = await count(target, placed(table), own)
    if (rows === 0) continue
    throw new MusterError({
      what: `the target already holds rows: ${rows} in ${table.schema}.${table.name}`,
      where: target.location,
      next: 'copy into an empty file, database or schemaPrefix; nothing was changed',
    })
  }
}

async function structureOf(engine: Engine): Promise<string | undefined> {
  const rows = await engine.rows<{ checksum: string }>(
    `select checksum from ops.migration where name = 'structure'`,
  )
  return rows[0]?.checksum
}

async function requireSameStructure(source: Engine, target: Engine): Promise<void> {
  if ((await structureOf(source)) === (await structureOf(target))) return
  throw new MusterError({
    what: 'the warehouse to copy was made by another version of muster',
    where: source.location,
    next: 'run muster sync on it with this version first; nothing was changed',
  })
}

async function copyTable(source: CopySource, target: Engine, table: CopiedTable): Promise<Copied> {
  const at = placed(table)
  const columns = table.columns.map(({ name }) => name)
  const from = await source.present(at, table.columns)
  await target.run(`delete from ${at}`)
  const select = `select ${quoteNames(columns)} from ${from}`
  const parcel = target.pack([{ table: at, columns, select }])
  try {
    await parcel.deliver()
  } finally {
    parcel.discard()
  }
  const [before, after] = [await count(source.engine, at), await count(target, at)]
  if (before === after) return { table: `${table.schema}.${table.name}`, rows: after }
  throw new MusterError({
    what: `${table.schema}.${table.name} has ${before} rows and its copy ${after}`,
    where: target.location,
    next: 'nothing was changed; run the copy again while no sync is under way',
  })
}

/**
 * All or nothing on the target, from one state of the source; `target` is migrated. Rows are not held in memory: they
 * cross as files, table by table.
 */
export async function copyWarehouse(
  source: CopySource,
  target: Engine,
  onTable: (copied: Copied) => void,
): Promise<Copied[]> {
  await requireSameStructure(source.engine, target)
  const tables = await tablesOf(target)
  const copyAll = (): Promise<Copied[]> =>
    target.merge(async () => {
      await requireEmpty(target, tables)
      const copied: Copied[] = []
      for (const table of tables) {
        const one = await copyTable(source, target, table)
        copied.push(one)
        onTable(one)
      }
      return copied
    })
  if (source.engine.name === 'duckdb') return copyAll()
  return source.engine.transaction(async () => {
    await source.engine.run('set transaction isolation level repeatable read read only')
    return copyAll()
  })
}
