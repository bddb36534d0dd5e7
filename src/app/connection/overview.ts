/**
 * The overview of a connection. To open a DuckDB file costs 0.1 s of CPU, as DuckDB reads the declarations of all its
 * tables: each writer leaves the overview beside the file, and it counts for as long as the file is as the writer left it.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { StoredConnection } from '../../config/connection.ts'
import { regularFile } from '../../lib/input-file.ts'
import { type Overview, readOverview } from '../../state/overview.ts'
import { InUse } from '../../warehouse/duckdb/failure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgresReader } from '../../warehouse/on-demand.ts'

/** Another layout has another number, so that a later program does not read it wrong. */
const layout = 1

interface Kept {
  readonly layout: number
  readonly stamp: string
  readonly overview: Overview | null
}

const overviewFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.overview.json`

/** Differs whenever the file or its log was written, or another file took its place. */
export function stampOf(file: string): string {
  const of = (name: string): string => {
    const found = statSync(name, { throwIfNoEntry: false, bigint: true })
    return found ? `${found.ino}.${found.size}.${found.mtimeNs}` : 'none'
  }
  return `${of(file)} ${of(`${file}.wal`)}`
}

function keptBeside(file: string): Kept | undefined {
  const beside = overviewFile(file)
  if (!regularFile(beside)) return undefined
  try {
    const kept = JSON.parse(readFileSync(beside, 'utf8')) as Kept
    return kept.layout === layout ? kept : undefined
  } catch {
    // Only a short cut: what cannot be read is read from the warehouse.
    return undefined
  }
}

/** Whoever may not write there reads the warehouse each time. */
function keepBeside(file: string, overview: Overview | undefined): void {
  const beside = overviewFile(file)
  const kept: Kept = { layout, stamp: stampOf(file), overview: overview ?? null }
  try {
    writeFileSync(`${beside}.part`, JSON.stringify(kept), { mode: 0o600 })
    renameSync(`${beside}.part`, beside)
  } catch {
    // A folder that is read-only, or a full disk.
    rmSync(`${beside}.part`, { force: true })
  }
}

/** The engine, which leaves the overview beside its file as it closes. */
export function leavingOverview(engine: Engine, file: string): Engine {
  const close = engine.close.bind(engine)
  // After a failure, such as a full disk, the overview is read when somebody asks for it.
  const read = () => readOverview(engine).catch(() => undefined)
  return Object.assign(engine, {
    async close() {
      const overview = await read()
      await close()
      if (overview) keepBeside(file, overview)
    },
  })
}

async function ofFile(file: string): Promise<Overview | undefined> {
  if (!existsSync(file)) return undefined
  const kept = keptBeside(file)
  if (kept?.stamp === stampOf(file)) return kept.overview ?? undefined
  const engine = await openDuckdb(file, { readOnly: true }).catch(error => {
    if (kept && error instanceof InUse) return undefined
    throw error
  })
  // Somebody writes: how it was before is what can be told.
  if (!engine) return kept?.overview ?? undefined
  try {
    const overview = await readOverview(engine)
    keepBeside(file, overview)
    return overview
  } finally {
    await engine.close()
  }
}

/** Opens a ledger only to read it; undefined where there is none yet. Throws MusterError when it cannot be read. */
export async function readerOf(connection: StoredConnection) {
  const { warehouse, schemaPrefix = '' } = connection
  if (warehouse.kind === 'server')
    return openPostgresReader({ url: warehouse.url.reveal(), shown: warehouse.shown }, schemaPrefix)
  return existsSync(warehouse.file) ? openDuckdb(warehouse.file, { readOnly: true }) : undefined
}

/** Undefined where no sync has written yet. Throws MusterError when the warehouse cannot be read. */
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
