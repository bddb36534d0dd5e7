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

/** Rights to the schema of the marts are enough: nothing else is read. */
export function dashboardSource(connection: StoredConnection): DashboardSource {
  const place = postgresPlace(connection)
  if (!place) return ofFile(duckdbFile(connection) ?? '')
  return { open: () => openPostgres(place.address, place.options), stamp: () => place.address.shown }
}
