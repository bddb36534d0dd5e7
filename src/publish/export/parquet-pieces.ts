/** Writes one table as Parquet: one file, or a folder with a file a month in the layout of Hive. */

import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MusterError } from '../../lib/errors.ts'
import { asPattern } from '../../lib/input-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import type { ExportedTable } from './exported-tables.ts'

export interface ExportedFile {
  /** Below the folder of the export, with forward slashes. */
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

/** Rows of a table that go into one file. */
interface Piece {
  readonly path: string
  readonly where: string
  readonly rows: number
}

/** No column of the warehouse has this name. */
export const partitionColumn = 'partition_month'

/** Hive, Spark and DuckDB read this name as null. */
const withoutDay = '__HIVE_DEFAULT_PARTITION__'

/**
 * A writer keeps one row group per thread in memory: with DuckDB's default of 122,880 rows a wide fact does not fit
 * the engine's 256 MB.
 */
const rowsPerGroup = 40_960

async function countRows(engine: Engine, table: ExportedTable): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(`select count(*) as n from ${qualified(table)}`)
  return Number(row?.n ?? 0)
}

async function monthPieces(engine: Engine, table: ExportedTable, day: string): Promise<Piece[]> {
  const at = quoteName(day)
  const months = await engine.rows<{ month: string | null; n: number }>(
    `select cast(cast(date_trunc('month', ${at}) as date) as varchar) as month, count(*) as n
     from ${qualified(table)} group by 1 order by 1 nulls last`,
  )
  return months.map(({ month, n }) => {
    const name = month === null ? withoutDay : month.slice(0, 7)
    const path = posix.join(table.schema, table.name, `${partitionColumn}=${name}`, 'rows.parquet')
    if (month === null) return { path, where: `${at} is null`, rows: Number(n) }
    const end = `cast(date ${quoteText(month)} + interval '1 month' as date)`
    return { path, where: `${at} >= date ${quoteText(month)} and ${at} < ${end}`, rows: Number(n) }
  })
}

async function piecesOf(engine: Engine, table: ExportedTable, max: number): Promise<Piece[]> {
  const rows = await countRows(engine, table)
  if (table.day !== undefined && rows > max) return monthPieces(engine, table, table.day)
  return [{ path: posix.join(table.schema, `${table.name}.parquet`), where: 'true', rows }]
}

async function copyRows(
  engine: Engine,
  table: ExportedTable,
  { piece, file }: { piece: Piece; file: string },
): Promise<void> {
  const names = quoteNames(table.columns.map(({ name }) => name))
  const select = `select ${names} from ${qualified(table)} where ${piece.where}`
  const options = `format parquet, compression zstd, row_group_size ${rowsPerGroup}`
  await engine.rowsInStage(table.columns, select, async rows => {
    await engine.stage.run(`copy (${rows}) to ${quoteText(file)} (${options})`)
  })
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** Reads the number of rows from the footer of the file. */
async function rowsIn(engine: Engine, file: string): Promise<number> {
  const [row] = await engine.stage.rows<{ n: number }>(
    `select cast(sum(num_rows) as bigint) as n from parquet_file_metadata(${quoteText(asPattern(file))})`,
  )
  return Number(row?.n ?? -1)
}

async function writePiece(
  engine: Engine,
  table: ExportedTable,
  { piece, folder }: { piece: Piece; folder: string },
): Promise<ExportedFile> {
  const file = join(folder, piece.path)
  mkdirSync(dirname(file), { recursive: true })
  await copyRows(engine, table, { piece, file })
  const rows = await rowsIn(engine, file)
  if (rows === piece.rows)
    return { path: piece.path, rows, bytes: statSync(file).size, sha256: await sha256(file) }
  throw new MusterError({
    what: `${piece.path} has ${rows} rows where the warehouse has ${piece.rows}`,
    where: engine.location,
    next: 'run the export again; the previous export, if there is one, is unchanged',
  })
}

export interface PieceRequest {
  /** Where the export is written. */
  readonly folder: string
  /** A fact or mart with more rows is partitioned by month. */
  readonly monthRows: number
  readonly signal: AbortSignal
}

/** Writes the files of one table and counts the rows of each. Throws MusterError when a count differs. */
export async function writeParquet(
  engine: Engine,
  table: ExportedTable,
  { folder, monthRows, signal }: PieceRequest,
): Promise<ExportedFile[]> {
  const files: ExportedFile[] = []
  for (const piece of await piecesOf(engine, table, monthRows)) {
    signal.throwIfAborted()
    files.push(await writePiece(engine, table, { piece, folder }))
  }
  return files
}
