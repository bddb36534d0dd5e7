/** Opens what a connection names: its warehouse to write, or whatever copy of it can be read now. */
import { existsSync, readFileSync } from 'node:fs'
import type { Connection } from '../config/connection.ts'
import { ConfigError } from '../lib/errors.ts'
import type { RunConnection } from '../sync/run.ts'
import { openDuckdb } from '../warehouse/duckdb/open.ts'
import { OutOfReach } from '../warehouse/duckdb/open-error.ts'
import { publishedFile } from '../warehouse/duckdb/published-file.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { CommandContext } from './context.ts'

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

export interface Opened<Handle> {
  readonly handle: Handle
  readonly file: string
  /** The copy without personal data, as old as the last publish. */
  readonly isPublished: boolean
}

/** The working file, else the published copy, which stderr is told of. `open` opens one file for reading. */
export async function readEither<Handle>(
  connection: Connection,
  context: Pick<CommandContext, 'stderr' | 'globals'>,
  open: (file: string) => Promise<Handle>,
): Promise<Opened<Handle>> {
  const file = duckdbFile(connection)
  try {
    return { handle: await open(file), file, isPublished: false }
  } catch (error) {
    const copy = publishedFile(file)
    if (!(error instanceof OutOfReach) || !existsSync(copy)) throw error
    if (!context.globals.quiet)
      context.stderr.write(`${error.report.what}: reading the published copy ${copy}\n`)
    return { handle: await open(copy), file: copy, isPublished: true }
  }
}

export const openToRead = (
  connection: Connection,
  context: Pick<CommandContext, 'stderr' | 'globals'>,
): Promise<Opened<Engine>> => readEither(connection, context, file => openDuckdb(file, { readOnly: true }))
