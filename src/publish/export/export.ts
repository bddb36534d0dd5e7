/** Exports star and mart as Parquet files with a manifest, for tools that read files and for archives. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { holdOffErasing } from '../../state/privacy/forgotten.ts'
import { lastDoneSync } from '../../state/runs/resource-state.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { SchemaName } from '../../warehouse/schema/schemas.ts'
import { recordOutput } from '../outputs.ts'
import { beginFolder, manifestFormat, manifestName } from './export-folder.ts'
import { type ExportedTable, exportedTables } from './exported-tables.ts'
import { type ExportedFile, partitionColumn, writeParquet } from './parquet-pieces.ts'

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

export interface Manifest {
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
  /** Of the warehouse whose list of outputs it is to be in; left out where it is in it already. */
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
    what: 'there is no pii here, or this user may not read it',
    where: engine.location,
    next: 'export from the working warehouse while no other process holds it, or leave --include-pii out',
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
export async function exportParquet(effects: ExportEffects, request: ExportRequest): Promise<Manifest> {
  const { engine, clock, version } = effects
  // Only its owner may enter a folder with personal data.
  const { includePii, listedOf } = request
  const place = resolve(request.folder)
  const folder = beginFolder(place, includePii ? 0o700 : 0o755)
  try {
    const there = await existingTables(engine)
    return await engine.atOneMoment(async (engine): Promise<Manifest> => {
      if (includePii && there.has('forgotten')) await holdOffErasing(engine)
      const manifest: Manifest = {
        format: manifestFormat,
        version,
        exportedAt: new Date(clock.now()).toISOString(),
        asOf: there.has('run') ? await lastDoneSync(engine) : null,
        engine: engine.kind,
        includesPii: includePii,
        tables: await writeTables({ ...effects, engine }, request, folder.draft),
      }
      writeFileSync(join(folder.draft, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
      // Within the transaction, and listed first: whoever is forgotten afterwards is forgotten in it too.
      if (listedOf !== undefined) recordOutput(listedOf, { place, made: 'export', includesPii: includePii })
      folder.finish()
      return manifest
    })
  } catch (error) {
    folder.abandon()
    throw error
  }
}
