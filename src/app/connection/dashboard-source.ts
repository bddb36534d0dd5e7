/** The warehouse that the dashboard reads: the published copy where there is one, because it holds nothing personal. */
import { existsSync, statSync } from 'node:fs'
import type { StoredConnection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../../warehouse/on-demand.ts'
import { duckdbFile, postgresPlace } from './warehouse.ts'

export interface DashboardSource {
  open(): Promise<Engine>
  stamp(): string
  readonly idleMs?: number
}

/** A published copy is replaced by renaming, so nobody waits for its reader; a sync waits for that of the working file. */
const copyIdleMs = 60_000
const fileIdleMs = 1_000

function ofFile(file: string): DashboardSource {
  const copy = publishedFile(file)
  const current = (): string => (existsSync(copy) ? copy : file)
  return {
    open: async () => {
      if (existsSync(current())) return openDuckdb(current(), { readOnly: true })
      throw new MusterError({
        what: 'there is no warehouse file',
        where: file,
        next: 'run muster sync, then muster build',
      })
    },
    stamp: () => {
      const found = statSync(current(), { throwIfNoEntry: false })
      return `${current()} ${found?.ino} ${found?.mtimeMs} ${found?.size}`
    },
    idleMs: existsSync(copy) ? copyIdleMs : fileIdleMs,
  }
}

/** While a process has the working file open to write, nothing but the copy may be read. */
function ofCopy(file: string): DashboardSource {
  const copy = publishedFile(file)
  const { stamp } = ofFile(file)
  return {
    open: async () => {
      if (existsSync(copy)) return openDuckdb(copy, { readOnly: true })
      throw new MusterError({
        what: 'there is no published copy yet, which the dashboard reads while muster serve has the file',
        where: copy,
        next: 'run muster publish, or the nightly DAG',
      })
    },
    stamp,
    idleMs: copyIdleMs,
  }
}

/** Rights to the schema of the marts are enough: nothing else is read. */
export function dashboardSource(
  connection: StoredConnection,
  { isWriting = false }: { readonly isWriting?: boolean } = {},
): DashboardSource {
  const place = postgresPlace(connection)
  const file = duckdbFile(connection) ?? ''
  if (!place) return isWriting ? ofCopy(file) : ofFile(file)
  return { open: () => openPostgres(place.address, place.options), stamp: () => place.address.shown }
}
