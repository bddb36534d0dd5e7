/** Copies a warehouse from one engine to another, with its ledger: the next sync continues where the last one ended. */
import { MusterError } from '../lib/errors.ts'
import { isLaterVersion, programVersion } from '../lib/package.ts'
import { existingTables } from '../state/existing-tables.ts'
import { recordedStructure } from '../state/migrations.ts'
import { ledgerTables } from '../state/tables.ts'
import { tablesIn } from '../warehouse/catalogue.ts'
import type { Engine, TypedColumn } from '../warehouse/engine.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { type SchemaName, schemaNames } from '../warehouse/schema/schemas.ts'
import { quoteName, quoteNames } from '../warehouse/sql-text.ts'

interface CopiedTable {
  readonly schema: 'star' | 'pii' | 'history' | 'ops'
  readonly name: string
  readonly columns: readonly TypedColumn[]
  /** SQL condition for real rows; seed data does not make a target non-empty. */
  readonly isRecord: string
}

export interface CopiedRows {
  readonly table: string
  readonly rows: number
}

/** A warehouse to copy from: its own engine, and how the stage of the target reads its rows. */
export interface CopySource {
  readonly engine: Engine
  /** Makes the rows readable in the target's stage; returns the name of the table there. */
  present(table: string, columns: readonly TypedColumn[]): Promise<string>
  /** Reads one state of the source, regardless of concurrent writes. */
  inOneSnapshot<Result>(work: (source: CopySource) => Promise<Result>): Promise<Result>
}

const placed = ({ schema, name }: { readonly schema: SchemaName; readonly name: string }): string =>
  `${schema}.${quoteName(name)}`

const copiedTables: readonly CopiedTable[] = [
  ...physicalTables.map(table => ({ ...table, isRecord: `run_id is distinct from 'seed'` })),
  ...ledgerTables
    .filter(({ lifetime }) => lifetime !== 'local')
    .map(({ schema, name, columns }) => ({
      schema,
      name,
      columns: Object.entries(columns).map(([name, { sql }]) => ({ name, sql })),
      isRecord: 'true',
    })),
]

async function count(engine: Engine, table: string, where = ''): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(`select count(*) as n from ${table} ${where}`)
  return Number(row?.n ?? 0)
}

/** Throws MusterError. */
export async function requireEmpty(target: Engine): Promise<void> {
  const there = new Set((await tablesIn(target, schemaNames)).map(placed))
  for (const table of copiedTables) {
    if (!there.has(placed(table))) continue
    const rows = await count(target, placed(table), `where ${table.isRecord}`)
    if (rows === 0) continue
    throw new MusterError({
      what: `the target already has rows: ${rows} in ${table.schema}.${table.name}`,
      where: target.location,
      next: 'copy into an empty file, database or schemaPrefix; nothing was changed',
    })
  }
}

export async function requireSameStructure(source: CopySource, target: Engine): Promise<void> {
  const where = source.engine.location
  if (!(await existingTables(source.engine)).has('migration'))
    throw new MusterError({
      what: 'the warehouse to copy has no synced data, or this user may not read it',
      where,
      next: 'check the address, its prefix and the user; nothing was changed',
    })
  const [from, to] = [await recordedStructure(source.engine), await recordedStructure(target)]
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

/** `rows`: the table itself, or a named SELECT of some of its rows in brackets. */
export async function copyTable(
  source: CopySource,
  target: Engine,
  { table, rows }: { readonly table: Omit<CopiedTable, 'isRecord'>; readonly rows: string },
): Promise<CopiedRows> {
  const at = placed(table)
  const columns = table.columns.map(({ name }) => name)
  const from = await source.present(rows, table.columns)
  const before = await count(source.engine, rows)
  const write = async (target: Engine): Promise<CopiedRows> => {
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
      next: 'nothing was changed; run the copy again while no sync is running',
    })
  }
  // DuckDB keeps a transaction in memory until it commits. A draft file has no readers, so each table gets its own
  // transaction.
  return target.isShared ? write(target) : target.transaction(write)
}

/** Each end waits while a large table is transferred, longer than the default idle timeout of a session. */
export const patient = `set local idle_in_transaction_session_timeout = '1h'`

type OnTable = (copied: CopiedRows) => void

async function copyTables(source: CopySource, target: Engine, onTable: OnTable): Promise<CopiedRows[]> {
  const copied: CopiedRows[] = []
  for (const table of copiedTables) {
    const one = await copyTable(source, target, { table, rows: placed(table) })
    copied.push(one)
    onTable(one)
  }
  return copied
}

/**
 * Reads one state of the source. Rows are not held in memory: they are transferred as files, table by table. On a server
 * the copy is one transaction; a file is put in place by the caller. `target` is migrated. Throws MusterError.
 */
export async function copyWarehouse(
  source: CopySource,
  target: Engine,
  onTable: OnTable,
): Promise<CopiedRows[]> {
  await requireSameStructure(source, target)
  return source.inOneSnapshot(async source => {
    if (!target.isShared) return copyTables(source, target, onTable)
    return target.merge(async target => {
      await target.run(patient)
      // A run that begins during the copy must wait before it writes its first row, which the copy would delete.
      await target.run(`lock table ${copiedTables.map(placed).join(', ')} in exclusive mode`)
      await requireEmpty(target)
      return copyTables(source, target, onTable)
    })
  })
}
