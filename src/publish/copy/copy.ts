/** Moves a warehouse from one engine to another, with its ledger: the next sync goes on where the last one ended. */
import { MusterError } from '../../lib/errors.ts'
import { isLaterVersion, programVersion } from '../../lib/program-version.ts'
import type { Engine, TypedColumn } from '../../warehouse/engine.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteNames } from '../../warehouse/sql-text.ts'

interface CopiedTable {
  readonly schema: 'star' | 'pii' | 'history' | 'ops'
  readonly name: string
  readonly columns: readonly TypedColumn[]
}

export interface Copied {
  readonly table: string
  readonly rows: number
}

/** A warehouse to copy from: its own engine, and how the stage of the target gets at its rows. */
export interface CopySource {
  readonly engine: Engine
  /** Whether there is a warehouse, and this user may read it. */
  isMade(): Promise<boolean>
  /** Makes the rows readable in the target's stage and gives the name of the table there. */
  present(table: string, columns: readonly TypedColumn[]): Promise<string>
  /** Reads one state of the source, whatever is written to it meanwhile. */
  atOneMoment<Result>(work: (source: CopySource) => Promise<Result>): Promise<Result>
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
  const tables = new Map<string, CopiedTable & { columns: TypedColumn[] }>()
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

/** Throws MusterError. The seeded rows that a migration makes are no rows of anybody. */
export async function requireEmpty(target: Engine): Promise<void> {
  for (const table of await tablesOf(target)) {
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

async function ledgerOf(engine: Engine): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ name: string; checksum: string }>(
    'select name, checksum from ops.migration',
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

async function requireSameStructure(source: CopySource, target: Engine): Promise<void> {
  const where = source.engine.location
  if (!(await source.isMade()))
    throw new MusterError({
      what: 'nothing was synced into the warehouse to copy, or this user may not read it',
      where,
      next: 'check the address, its prefix and the user; nothing was changed',
    })
  const [from, to] = [await ledgerOf(source.engine), await ledgerOf(target)]
  if (from.get('structure') === to.get('structure')) return
  const maker = from.get('program')
  const isLater = maker !== undefined && isLaterVersion(maker, programVersion)
  throw new MusterError({
    what: isLater
      ? `the warehouse to copy was made by muster ${maker}, which is later than this one, ${programVersion}`
      : 'the warehouse to copy was made by another version of muster',
    where,
    next: isLater
      ? `install muster ${maker} or later; nothing was changed`
      : 'run muster sync on it with this version first; nothing was changed',
  })
}

async function copyTable(source: CopySource, target: Engine, table: CopiedTable): Promise<Copied> {
  const at = placed(table)
  const columns = table.columns.map(({ name }) => name)
  const from = await source.present(at, table.columns)
  const before = await count(source.engine, at)
  const write = async (target: Engine): Promise<Copied> => {
    await target.run(`delete from ${at}`)
    const select = `select ${quoteNames(columns)} from ${from}`
    const transfer = target.send([{ table: at, columns, select }])
    try {
      await target.receive(transfer)
    } finally {
      transfer.discard()
    }
    const after = await count(target, at)
    if (before === after) return { table: `${table.schema}.${table.name}`, rows: after }
    throw new MusterError({
      what: `${table.schema}.${table.name} has ${before} rows and its copy ${after}`,
      where: target.location,
      next: 'nothing was changed; run the copy again while no sync is under way',
    })
  }
  // What is in memory until it commits: of a file that nobody sees before it is whole, one table at a time.
  return target.isShared ? write(target) : target.transaction(write)
}

/** Each end waits for the other while a large table crosses, for longer than a session usually may. */
export const patient = `set local idle_in_transaction_session_timeout = '1h'`

type OnTable = (copied: Copied) => void

async function copyTables(source: CopySource, target: Engine, onTable: OnTable): Promise<Copied[]> {
  const copied: Copied[] = []
  for (const table of await tablesOf(target)) {
    const one = await copyTable(source, target, table)
    copied.push(one)
    onTable(one)
  }
  return copied
}

/**
 * From one state of the source. Rows are not held in memory: they cross as files, table by table. On a server all of it
 * is one transaction; a file is for the caller to show when it is whole. `target` is migrated. Throws MusterError.
 */
export async function copyWarehouse(source: CopySource, target: Engine, onTable: OnTable): Promise<Copied[]> {
  await requireSameStructure(source, target)
  return source.atOneMoment(async source => {
    if (!target.isShared) return copyTables(source, target, onTable)
    return target.merge(async target => {
      await target.run(patient)
      await requireEmpty(target)
      return copyTables(source, target, onTable)
    })
  })
}
