/** Opens what a connection names: its warehouse to write, or whatever copy of it can be read now. */
import { readFileSync } from 'node:fs'
import type { Connection } from '../config/connection.ts'
import { ConfigError } from '../lib/errors.ts'
import type { RunConnection } from '../sync/run.ts'
import { openDuckdb } from '../warehouse/duckdb/open.ts'
import type { Engine } from '../warehouse/engine.ts'

/** Of the package this file belongs to. */
export const programVersion: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

export function duckdbFile({ warehouse, name }: Connection): string {
  if (warehouse.engine === 'duckdb') return warehouse.file
  throw new ConfigError({
    what: 'this version writes DuckDB warehouses only',
    where: `connection ${name}`,
    next: 'set warehouse to duckdb:FILE',
  })
}

/** The one writer of the warehouse. */
export const openToWrite = (connection: Connection): Promise<Engine> => openDuckdb(duckdbFile(connection))

export function runConnection(connection: Connection): RunConnection {
  return {
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    landing: connection.landing,
    retentionDays: connection.retentionDays,
    lookbackMinutes: connection.lookbackMinutes,
    pageCapBytes: connection.pageCapMegabytes * 1_048_576,
  }
}
