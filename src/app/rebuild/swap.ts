/** Puts a rebuilt warehouse in the place of the old one, when nothing the old one holds is missing from it. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { catalogue } from '../../contract/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

export interface Missing {
  readonly table: string
  /** Rows the old warehouse holds and the rebuilt one does not. */
  readonly rows: number
}

/** Rebuilt from the pages rather than carried over. */
const rebuilt = ['quarantine', 'schema_drift', 'migration', 'lease', 'window_id', 'mart']

async function opsTables(engine: Engine): Promise<string[]> {
  const rows = await engine.rows<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_catalog = current_database() and table_schema = 'ops' and table_type = 'BASE TABLE' order by 1`,
  )
  return rows.map(row => row.name).filter(name => !rebuilt.includes(name))
}

/** Records that one schema of star holds and the rebuilt one does not; schemas as SQL names them. */
export async function missingFrom(
  engine: Engine,
  schemas: { readonly old: string; readonly rebuilt: string },
): Promise<Missing[]> {
  const missing: Missing[] = []
  for (const { table } of catalogue) {
    const key = quoteName(table.key)
    const [row] = await engine.rows<{ n: number }>(
      `select count(*) as n from ${schemas.old}.${quoteName(table.name)} o
       where not exists (select 1 from ${schemas.rebuilt}.${quoteName(table.name)} n where n.${key} = o.${key})`,
    )
    if (Number(row?.n) > 0) missing.push({ table: `star.${table.name}`, rows: Number(row?.n) })
  }
  return missing
}

/** Carries marks, windows and runs over from the old warehouse, and tells which records are missing. */
export async function carryOver(engine: Engine, oldFile: string): Promise<Missing[]> {
  if (!existsSync(oldFile)) return []
  return engine.exclusive(async engine => {
    await engine.run(`attach ${quoteText(oldFile)} as old (read_only)`)
    try {
      for (const name of await opsTables(engine)) {
        await engine.run(`delete from ops.${quoteName(name)}`)
        await engine.run(
          `insert into ops.${quoteName(name)} by name select * from old.ops.${quoteName(name)}`,
        )
      }
      return await missingFrom(engine, { old: 'old.star', rebuilt: 'star' })
    } finally {
      await engine.run('detach old')
    }
  })
}

/** One rename: a reader sees the old warehouse or the new one. The engines of both must be closed. */
export function swapIn(newFile: string, file: string): void {
  renameSync(newFile, file)
  for (const rest of [`${newFile}.wal`, `${file}.wal`]) rmSync(rest, { force: true })
}

export function removeFile(file: string): void {
  for (const path of [file, `${file}.wal`]) rmSync(path, { force: true })
}
