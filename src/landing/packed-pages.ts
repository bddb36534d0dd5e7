/** Files of an archive: zstd Parquet. */
import { basename, join } from 'node:path'
import type { DuckDBBlobValue } from '@duckdb/node-api'
import { asPattern } from '../lib/input-file.ts'
import type { LandedPage } from './folder.ts'

export interface PackedPage {
  readonly name: string
  readonly bytes: Buffer
}

export interface Packing {
  /** Makes the files of an archive in a folder; `unique` is part of their names. */
  write(pages: readonly LandedPage[], folder: string, unique: string): Promise<void>
  /** Rejects when the file cannot be read. */
  read(file: string): Promise<PackedPage[]>
}

/** Pages of one file are in memory together while it is written. */
const bytesPerFile = 16_000_000

/** The pages in order, cut into slices of about `bytesPerFile`. */
function slices(pages: readonly LandedPage[]): LandedPage[][] {
  const result: LandedPage[][] = []
  let room = 0
  for (const page of pages) {
    if (page.bytes > room || result.length === 0) {
      result.push([])
      room = bytesPerFile
    }
    result.at(-1)?.push(page)
    room -= page.bytes
  }
  return result
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

type Run = (sql: string) => Promise<unknown[][]>

async function writeParquet(
  run: Run,
  pages: readonly LandedPage[],
  { folder, unique }: { readonly folder: string; readonly unique: string },
): Promise<void> {
  for (const [index, slice] of slices(pages).entries()) {
    const files = slice.map(page => quote(asPattern(page.file))).join(', ')
    const name = `${String(index + 1).padStart(6, '0')}${unique}.parquet`
    await run(`copy (select parse_filename(filename) as name, content from read_blob([${files}]))
      to ${quote(join(folder, name))} (format parquet, compression zstd)`)
  }
}

const bytesOf = (content: unknown): Buffer => Buffer.from((content as DuckDBBlobValue).bytes)

async function readParquet(run: Run, file: string): Promise<PackedPage[]> {
  const rows = await run(`select name, content from read_parquet(${quote(asPattern(file))})`)
  return rows.map(([path, content]) => ({ name: basename(String(path)), bytes: bytesOf(content) }))
}

interface OpenedDuckdb {
  readonly run: Run
  close(): void
}

async function openDuckdb(): Promise<OpenedDuckdb> {
  // By its default export: the bundle gives a package that is loaded on demand no other.
  const { DuckDBInstance } = (await import('@duckdb/node-api')).default
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '150MB', threads: '1' })
  const connection = await instance.connect()
  return {
    run: async sql => (await connection.runAndReadAll(sql)).getRows(),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Opened when the first statement needs it: most work reads and writes no archive. Statements come one after the other. */
async function withDuckdb<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
  let opened: OpenedDuckdb | undefined
  try {
    return await work(async sql => {
      opened ??= await openDuckdb()
      return opened.run(sql)
    })
  } finally {
    opened?.close()
  }
}

/** One for many archives, as to open and close a DuckDB takes 25 ms of the processor. */
export const packing = <Result>(work: (packing: Packing) => Promise<Result>): Promise<Result> =>
  withDuckdb(run =>
    work({
      write: (pages, folder, unique) => writeParquet(run, pages, { folder, unique }),
      read: file => readParquet(run, file),
    }),
  )
