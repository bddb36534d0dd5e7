/** Chooses the warehouse for the dashboard: the published copy if there is one, since it has no personal data. */
import { existsSync, statSync } from 'node:fs'
import type { StoredConnection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { FileInUse } from '../../warehouse/duckdb/failure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../../warehouse/on-demand.ts'
import { duckdbFile, postgresTarget } from './storage.ts'

export interface DashboardSource {
  open(): Promise<Engine>
  stamp(): string
  readonly idleMs?: number
}

/** How long a file stays open. A sync waits for a reader of the working file, but not of the copy, which is renamed. */
const copyIdleMs = 60_000
const fileIdleMs = 1_000

/** Muster replaces the copy and never writes it, so a process that holds it is another program. */
async function openCopy(copy: string): Promise<Engine> {
  try {
    return await openDuckdb(copy, { readOnly: true })
  } catch (error) {
    if (!(error instanceof FileInUse)) throw error
    throw new FileInUse({
      what: 'another process has the published copy open for writing',
      where: copy,
      next: 'close it there and open it read-only, then read this page again',
      cause: error,
    })
  }
}

function ofFile(file: string): DashboardSource {
  const copy = publishedFile(file)
  const current = (): string => (existsSync(copy) ? copy : file)
  return {
    open: async () => {
      if (existsSync(copy)) return openCopy(copy)
      if (existsSync(file)) return openDuckdb(file, { readOnly: true })
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

/** While a process has the working file open for writing, only the copy can be read. */
function ofCopy(file: string): DashboardSource {
  const copy = publishedFile(file)
  const { stamp } = ofFile(file)
  return {
    open: async () => {
      if (existsSync(copy)) return openCopy(copy)
      throw new MusterError({
        what: 'there is no published copy yet, and the dashboard can read nothing else while muster serve runs',
        where: copy,
        next: 'run muster publish, or the nightly DAG',
      })
    },
    stamp,
    idleMs: copyIdleMs,
  }
}

/** Reads only marts, so rights to their schema are enough. */
export function dashboardSource(
  connection: StoredConnection,
  { isWriting = false }: { readonly isWriting?: boolean } = {},
): DashboardSource {
  const place = postgresTarget(connection)
  const file = duckdbFile(connection) ?? ''
  if (!place) return isWriting ? ofCopy(file) : ofFile(file)
  return { open: () => openPostgres(place.address, place.options), stamp: () => place.address.shown }
}
