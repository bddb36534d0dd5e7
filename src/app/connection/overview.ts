/**
 * Reads the overview of a connection. Opening a DuckDB file takes 0.1 s of CPU, because DuckDB reads all table declarations:
 * each writer leaves the overview in a file beside it, valid while the database file is unchanged.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { StoredConnection } from '../../config/connection.ts'
import { regularFile } from '../../lib/input-file.ts'
import { type Overview, readOverview } from '../../state/overview.ts'
import { FileInUse } from '../../warehouse/duckdb/failure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgresReader } from '../../warehouse/on-demand.ts'

/** Changes with the layout, so that a later version does not misread the file. */
const layout = 2

interface OverviewCache {
  readonly layout: number
  readonly stamp: string
  readonly overview: Overview | null
}

const overviewFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.overview.json`

/** Changes whenever the file or its log is written, or the file is replaced. */
export function stampOf(file: string): string {
  const of = (name: string): string => {
    const found = statSync(name, { throwIfNoEntry: false, bigint: true })
    return found ? `${found.ino}.${found.size}.${found.mtimeNs}` : 'none'
  }
  return `${of(file)} ${of(`${file}.wal`)}`
}

function readCache(file: string): OverviewCache | undefined {
  const beside = overviewFile(file)
  if (!regularFile(beside)) return undefined
  try {
    const cache = JSON.parse(readFileSync(beside, 'utf8')) as OverviewCache
    return cache.layout === layout ? cache : undefined
  } catch {
    // Only a cache: without it the overview is read from the warehouse.
    return undefined
  }
}

/** Ignores failures: a user who may not write the folder reads the warehouse each time. */
function writeCache(file: string, overview: Overview | undefined): void {
  const beside = overviewFile(file)
  const cache: OverviewCache = { layout, stamp: stampOf(file), overview: overview ?? null }
  try {
    writeFileSync(`${beside}.part`, JSON.stringify(cache), { mode: 0o600 })
    renameSync(`${beside}.part`, beside)
  } catch {
    // The folder is read-only, or the disk is full.
    rmSync(`${beside}.part`, { force: true })
  }
}

/** Makes the engine write the overview beside its file when it closes. */
export function leavingOverview(engine: Engine, file: string): Engine {
  const close = engine.close.bind(engine)
  // After a failure, such as a full disk, the next reader reads the overview itself.
  const read = () => readOverview(engine).catch(() => undefined)
  return Object.assign(engine, {
    async close() {
      const overview = await read()
      await close()
      if (overview) writeCache(file, overview)
    },
  })
}

async function ofFile(file: string): Promise<Overview | undefined> {
  if (!existsSync(file)) return undefined
  const cache = readCache(file)
  if (cache?.stamp === stampOf(file)) return cache.overview ?? undefined
  const engine = await openDuckdb(file, { readOnly: true }).catch(error => {
    if (cache && error instanceof FileInUse) return undefined
    throw error
  })
  // Another process is writing: return the previous overview.
  if (!engine) return cache?.overview ?? undefined
  try {
    const overview = await readOverview(engine)
    writeCache(file, overview)
    return overview
  } finally {
    await engine.close()
  }
}

/** Opens a ledger read-only; undefined if there is none yet. Throws MusterError if it cannot be read. */
export async function readerOf(connection: StoredConnection) {
  const { warehouse, schemaPrefix = '' } = connection
  if (warehouse.kind === 'server')
    return openPostgresReader({ url: warehouse.url.reveal(), shown: warehouse.shown }, schemaPrefix)
  return existsSync(warehouse.file) ? openDuckdb(warehouse.file, { readOnly: true }) : undefined
}

/** Undefined before the first sync. Throws MusterError if the warehouse cannot be read. */
export async function overviewOf(connection: StoredConnection): Promise<Overview | undefined> {
  const { warehouse } = connection
  if (warehouse.kind === 'file') return ofFile(warehouse.file)
  const reader = await readerOf(connection)
  if (!reader) return undefined
  try {
    return await readOverview(reader)
  } finally {
    await reader.close()
  }
}
