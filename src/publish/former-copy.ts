/** What is in the place of the published copy: only a copy of before is replaced. */
import { lstatSync } from 'node:fs'
import { MusterError, UsageError } from '../lib/errors.ts'
import { wasDone } from '../state/runs/runs.ts'
import { tableInQueries } from '../state/tables.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'

const refuse = (file: string, what: string, next: string): UsageError =>
  new UsageError({ what, where: file, next: `${next}; nothing was changed` })

/** It has runs and no personal data; a working warehouse has both. */
async function isCopy(engine: Engine, file: string): Promise<boolean> {
  return engine.exclusive(async engine => {
    await engine.run(`attach ${quoteText(file)} as former (read_only)`)
    try {
      const tables = await engine.rows<{ name: string }>(
        `select distinct case when schema_name = 'pii' then 'pii' else schema_name || '.' || table_name end as name
         from duckdb_tables() where database_name = 'former'`,
      )
      const names = new Set(tables.map(({ name }) => name))
      return names.has(tableInQueries('run')) && !names.has('pii')
    } finally {
      await engine.run('detach former')
    }
  })
}

/** An analyst who has the copy open to write keeps it from being looked at: the ledger knows whether there was one. */
async function isOurs(engine: Engine, file: string): Promise<boolean> {
  try {
    return await isCopy(engine, file)
  } catch (error) {
    const isLocked = /could not set lock|being used by another process/i.test(String(error))
    return isLocked && (await wasDone(engine, 'publish'))
  }
}

/** Throws for whatever may not be replaced. `engine` has the working file open. */
export async function requirePublished(engine: Engine, file: string, isForced: boolean): Promise<void> {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink())
    throw refuse(file, 'the published copy would replace a link', 'move the link away')
  if (found.isDirectory())
    throw new MusterError({
      what: 'the published copy cannot be written: there is a folder in its place',
      where: file,
      next: 'check its folder, and move it away',
    })
  if (!found.isFile()) throw refuse(file, 'there is a device or a pipe in its place', 'move it away')
  if (isForced || (await isOurs(engine, file))) return
  throw refuse(
    file,
    'there is a file in the place of the published copy that muster did not write',
    'move it away, or publish with --force',
  )
}
