/** Packs pages into few files: zstd Parquet, which DuckDB writes and reads. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DuckDBBlobValue } from '@duckdb/node-api'
import { asPattern } from '../lib/input-file.ts'
import type { LandedPage } from './landing.ts'
import { pageFacts } from './layout.ts'

export interface PackedPage {
  readonly name: string
  readonly bytes: Buffer
}

export interface Packing {
  /** Writes Parquet files to an empty folder; their names sort in the order of the pages. */
  write(pages: readonly LandedPage[], folder: string): Promise<void>
  /** Rejects when the file cannot be read. */
  read(file: string): Promise<PackedPage[]>
}

/** All pages of one file are in memory while it is written. */
const bytesPerFile = 16_000_000

/** Cuts the pages, in order, into slices of about `bytesPerFile`. */
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

type SqlRunner = (sql: string) => Promise<unknown[][]>

async function writeParquet(run: SqlRunner, pages: readonly LandedPage[], folder: string): Promise<void> {
  for (const [index, slice] of slices(pages).entries()) {
    const files = slice.map(page => quote(asPattern(page.file))).join(', ')
    const name = `${String(index + 1).padStart(6, '0')}.parquet`
    await run(`copy (select parse_filename(filename) as name, content from read_blob([${files}]))
      to ${quote(join(folder, name))} (format parquet, compression zstd)`)
  }
}

const bytesOf = (content: unknown): Buffer => Buffer.from((content as DuckDBBlobValue).bytes)

async function readParquet(run: SqlRunner, file: string): Promise<PackedPage[]> {
  const rows = await run(`select name, content from read_parquet(${quote(asPattern(file))})`)
  return rows.map(([path, content]) => ({ name: basename(String(path)), bytes: bytesOf(content) }))
}

interface OpenedDuckdb {
  readonly run: SqlRunner
  close(): void
}

async function openDuckdb(): Promise<OpenedDuckdb> {
  // Use the default export: bundled, a package imported on demand has no other.
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

/**
 * Shares one DuckDB between many archives, since opening and closing one takes 25 ms of CPU. Opens it for the first
 * statement only, because most work touches no archive. Statements run one after the other.
 */
export async function packing<Result>(work: (packing: Packing) => Promise<Result>): Promise<Result> {
  let opened: OpenedDuckdb | undefined
  const run: SqlRunner = async sql => {
    opened ??= await openDuckdb()
    return opened.run(sql)
  }
  try {
    return await work({
      write: (pages, folder) => writeParquet(run, pages, folder),
      read: file => readParquet(run, file),
    })
  } finally {
    opened?.close()
  }
}

/** Unpacks pages into one file, one after the other: a file for each page took a quarter of a replay's time. */
export class UnpackedFile {
  readonly #file: string
  readonly #opened: number
  #end = 0
  /** By name: if an archive holds a page twice, the later copy counts. */
  readonly #pages = new Map<string, LandedPage>()

  constructor(file: string) {
    this.#file = file
    this.#opened = openSync(file, 'w', 0o600)
  }

  get pages(): LandedPage[] {
    return [...this.#pages.values()].sort((one, other) => (one.file < other.file ? -1 : 1))
  }

  add({ name, bytes }: PackedPage): void {
    const facts = pageFacts(name)
    if (!facts) return
    const start = this.#end
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#opened, bytes, at)
    this.#end += bytes.length
    this.#pages.set(name, {
      ...facts,
      file: join(dirname(this.#file), name),
      within: { file: this.#file, start, bytes: bytes.length },
      bytes: bytes.length,
    })
  }

  close(): void {
    closeSync(this.#opened)
  }
}
