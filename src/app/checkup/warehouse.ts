/** Whether the warehouse can be written; what is not there is left uncreated. */
import { existsSync, statSync } from 'node:fs'
import { existingTables } from '../../state/existing-tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Finding, fail, failed, ok } from './finding.ts'

export interface WarehouseCheck {
  readonly finding: Finding
  /** Open for writing; undefined when there is no file, or it does not open. */
  readonly engine: Engine | undefined
}

/** `open` opens the file for writing: that it opens proves that nobody else holds it. */
export async function checkFile(file: string, open: () => Promise<Engine>): Promise<WarehouseCheck> {
  if (!existsSync(file)) return { finding: ok('warehouse', `${file} will be created`), engine: undefined }
  try {
    const engine = await open()
    const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`
    return { finding: ok('warehouse', `${file}, ${size}, can be written`), engine }
  } catch (error) {
    return { finding: failed('warehouse', error), engine: undefined }
  }
}

/** Schemas that are not there have to be made by this user; those that are there have to take its rows. */
async function mayWrite(engine: Engine): Promise<boolean> {
  const isMade = (await existingTables(engine)).has('run')
  const [row] = isMade
    ? await engine.rows<{ may: boolean }>(`select has_table_privilege($1, 'insert') as may`, [
        `${engine.schema('ops')}.run`,
      ])
    : await engine.rows<{ may: boolean }>(
        `select has_database_privilege(current_database(), 'create') as may`,
      )
  return row?.may === true
}

/** Oldest version whose SQL the warehouse is written in. */
const leastServer = 14

/** `open` connects; what the user may do is asked, not tried. */
export async function checkServer(open: () => Promise<Engine>): Promise<WarehouseCheck> {
  let engine: Engine | undefined
  try {
    engine = await open()
    const [server] = await engine.rows<{ version: string }>(
      `select current_setting('server_version') as version`,
    )
    const version = server?.version.split(' ')[0] ?? ''
    const found = `${engine.location}, PostgreSQL ${version}`
    if (Number.parseInt(version, 10) < leastServer)
      return {
        finding: fail('warehouse', `${found} is too old`, `use PostgreSQL ${leastServer} or later`),
        engine,
      }
    if (!(await mayWrite(engine)))
      return {
        finding: fail(
          'warehouse',
          `${found}, cannot be written`,
          'connect as the user that loads, or grant it what it needs',
        ),
        engine,
      }
    return { finding: ok('warehouse', `${found}, can be written`), engine }
  } catch (error) {
    await engine?.close()
    return { finding: failed('warehouse', error), engine: undefined }
  }
}
