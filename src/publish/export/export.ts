/** Exports star and mart as Parquet files with a manifest, for tools that read files and for archives. */
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { ConfigError, MusterError, UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { blockErasures } from '../../state/privacy.ts'
import { lastDoneSync } from '../../state/runs/resource-state.ts'
import { syncToDisk } from '../../temporary/output-file.ts'
import { makeScratch, replaceFolder } from '../../temporary/scratch.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { SchemaName } from '../../warehouse/schema/schemas.ts'
import { recordOutput } from '../outputs.ts'
import { type ExportedTable, exportedTables } from './exported-tables.ts'
import { type ExportedFile, partitionColumn, writeParquet } from './parquet-pieces.ts'

const manifestName = 'manifest.json'

/** Format in the manifest, which identifies an export. */
const manifestFormat = 'muster export 1'

/** Max bytes of a manifest: enough for many thousand files. */
const largestManifest = 16 * 1_048_576

function isExport(folder: string): boolean {
  const text = readInputText(join(folder, manifestName), { maxBytes: largestManifest })
  if (typeof text !== 'string') return false
  try {
    const manifest: unknown = JSON.parse(text)
    return (
      typeof manifest === 'object' &&
      manifest !== null &&
      'format' in manifest &&
      manifest.format === manifestFormat
    )
  } catch (error) {
    // Another program wrote a file of that name.
    if (error instanceof SyntaxError) return false
    throw error
  }
}

interface ExportFolder {
  /** Where to write. */
  readonly draft: string
  /** Replaces the previous export by the draft. */
  finish(): void
  /** Removes the draft; the previous export stays. */
  abandon(): void
}

/** Throws for a link, and for a folder that contains anything but an export, as it would be lost. */
function requireReplaceable(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory())
    throw new UsageError({
      what: found.isSymbolicLink() ? 'this is a link, not a folder' : 'this is a file, not a folder',
      where: folder,
      next: 'name a new or empty folder; nothing was changed',
    })
  if (isExport(folder) || readdirSync(folder).length === 0) return
  throw new ConfigError({
    what: 'the folder contains something other than an export of muster',
    where: folder,
    next: 'name a new or empty folder; nothing was changed',
  })
}

/** Flushes the files to disk: DuckDB's writes may still be only in the memory of the system. */
function syncAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    syncToDisk(join(entry.parentPath, entry.name))
  syncToDisk(folder)
}

/**
 * Writes the export as a draft beside the previous one, which it replaces when it is complete. Throws UsageError or
 * ConfigError for a place that cannot take an export.
 */
function beginFolder(folder: string, mode: number): ExportFolder {
  requireReplaceable(folder)
  mkdirSync(dirname(folder), { recursive: true })
  const scratch = makeScratch(dirname(folder))
  const draft = join(scratch.path, basename(folder))
  mkdirSync(draft, { mode })
  return {
    draft,
    finish() {
      syncAll(draft)
      // The folder may have changed since the beginning.
      requireReplaceable(folder)
      replaceFolder(draft, folder)
      scratch.remove()
      syncToDisk(dirname(folder))
    },
    abandon: scratch.remove,
  }
}

interface ManifestTable {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly rows: number
  /** Columns in the files; a table partitioned by month has `partition_month` in the names of its folders too. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly description: string }[]
  readonly partitionedBy: typeof partitionColumn | null
  readonly files: readonly ExportedFile[]
}

export interface ExportManifest {
  readonly format: typeof manifestFormat
  readonly version: string
  /** ISO 8601. */
  readonly exportedAt: string
  /** ISO 8601: end of the last sync that finished; null before the first. */
  readonly asOf: string | null
  readonly engine: Engine['kind']
  readonly includesPii: boolean
  readonly tables: readonly ManifestTable[]
}

export interface ExportRequest {
  /** Where to export; a previous export there is replaced. */
  readonly folder: string
  readonly includePii: boolean
  /** A fact or mart with more rows is partitioned by month. */
  readonly monthRows: number
  /** Stem of the warehouse whose outputs list the export; left out if it is listed already. */
  readonly listedOf?: string
}

/** Facts and marts with more rows are split by month. */
export const monthRowsUnlessGiven = 500_000

export interface ExportEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly version: string
  readonly onTable: (name: string, rows: number) => void
}

const manifestTable = (
  { schema, name, description, columns }: ExportedTable,
  files: readonly ExportedFile[],
): ManifestTable => ({
  schema,
  name,
  description,
  rows: files.reduce((sum, file) => sum + file.rows, 0),
  columns: columns.map(column => ({ name: column.name, type: column.sql, description: column.description })),
  partitionedBy: files.some(({ path }) => path.includes(`/${partitionColumn}=`)) ? partitionColumn : null,
  files,
})

async function tablesToExport(engine: Engine, includePii: boolean): Promise<ExportedTable[]> {
  const tables = await exportedTables(engine, ['star', 'mart', ...(includePii ? (['pii'] as const) : [])])
  if (tables.length === 0) {
    throw new MusterError({
      what: 'there is nothing to export',
      where: engine.location,
      next: 'run muster sync first',
    })
  }
  if (!includePii || tables.some(({ schema }) => schema === 'pii')) return tables
  throw new UsageError({
    what: 'this warehouse has no schema pii, or this user may not read it',
    where: engine.location,
    next: 'export from the working warehouse while no other process has it open, or leave out --include-pii',
  })
}

async function writeTables(
  { engine, signal, onTable }: ExportEffects,
  { includePii, monthRows }: ExportRequest,
  folder: string,
): Promise<ManifestTable[]> {
  const written: ManifestTable[] = []
  for (const table of await tablesToExport(engine, includePii)) {
    signal.throwIfAborted()
    const one = manifestTable(table, await writeParquet(engine, table, { folder, monthRows, signal }))
    written.push(one)
    onTable(`${table.schema}.${table.name}`, one.rows)
  }
  return written
}

/** Rows are not held in memory. Throws MusterError, after which the previous export is unchanged. */
export async function exportParquet(effects: ExportEffects, request: ExportRequest): Promise<ExportManifest> {
  const { engine, clock, version } = effects
  // Only its owner may enter a folder with personal data.
  const { includePii, listedOf } = request
  const place = resolve(request.folder)
  const folder = beginFolder(place, includePii ? 0o700 : 0o755)
  try {
    const there = await existingTables(engine)
    return await engine.inOneSnapshot(async (engine): Promise<ExportManifest> => {
      if (includePii && there.has('forgotten')) await blockErasures(engine)
      const manifest: ExportManifest = {
        format: manifestFormat,
        version,
        exportedAt: new Date(clock.now()).toISOString(),
        asOf: there.has('run') ? await lastDoneSync(engine) : null,
        engine: engine.kind,
        includesPii: includePii,
        tables: await writeTables({ ...effects, engine }, request, folder.draft),
      }
      writeFileSync(join(folder.draft, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
      // Listed first, in the transaction: forgetting a person later then reaches this export too.
      if (listedOf !== undefined) recordOutput(listedOf, { place, made: 'export', includesPii: includePii })
      folder.finish()
      return manifest
    })
  } catch (error) {
    folder.abandon()
    throw error
  }
}
