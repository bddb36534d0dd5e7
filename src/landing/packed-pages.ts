/** Files of an archive: zstd Parquet, or with a key encrypted gzip, as DuckDB encrypts no Parquet with what it carries itself. */

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { DuckDBBlobValue } from '@duckdb/node-api'
import { pageBytes, pageName } from '../lib/encryption/stored-page.ts'
import { asPattern } from '../lib/input-file.ts'
import { decryptWith, type LandingKeys } from './encryption.ts'
import type { LandedPage } from './folder.ts'
import { packedEnd } from './manifest.ts'

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

type FileOf = (index: number, end: string) => string

const filesIn =
  (folder: string, unique: string): FileOf =>
  (index, end) =>
    join(folder, `${String(index + 1).padStart(6, '0')}${unique}${end}`)

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

type Run = (sql: string) => Promise<unknown[][]>

async function writeParquet(run: Run, pages: readonly LandedPage[], fileOf: FileOf): Promise<void> {
  for (const [index, slice] of slices(pages).entries()) {
    const files = slice.map(page => quote(asPattern(page.file))).join(', ')
    await run(`copy (select parse_filename(filename) as name, content from read_blob([${files}]))
      to ${quote(fileOf(index, '.parquet'))} (format parquet, compression zstd)`)
  }
}

const bytesOf = (content: unknown): Buffer => Buffer.from((content as DuckDBBlobValue).bytes)

async function readParquet(run: Run, file: string): Promise<PackedPage[]> {
  const rows = await run(`select name, content from read_parquet(${quote(asPattern(file))})`)
  return rows.map(([path, content]) => ({ name: basename(String(path)), bytes: bytesOf(content) }))
}

/** Each page after a line with its name and size. */
async function writeEncrypted(keys: LandingKeys, pages: readonly LandedPage[], fileOf: FileOf) {
  for (const [index, slice] of slices(pages).entries()) {
    const parts = slice.flatMap(page => {
      const bytes = pageBytes(page)
      return [Buffer.from(`${JSON.stringify({ name: pageName(page), bytes: bytes.length })}\n`), bytes]
    })
    const packed = keys.encrypt(await promisify(gzip)(Buffer.concat(parts)))
    writeFileSync(fileOf(index, packedEnd), packed, { mode: 0o600 })
  }
}

async function readEncrypted(keys: LandingKeys | undefined, file: string): Promise<PackedPage[]> {
  const content = await promisify(gunzip)(decryptWith(keys)(readFileSync(file)))
  const pages: PackedPage[] = []
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf('\n', at)
    const { name, bytes } = JSON.parse(content.toString('utf8', at, end)) as { name: string; bytes: number }
    pages.push({ name: basename(name), bytes: content.subarray(end + 1, end + 1 + bytes) })
    at = end + 1 + bytes
  }
  return pages
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

/**
 * What is written is encrypted where there are keys; what was written before is read, however it was. One for many archives, as
 * to open and close a DuckDB takes 25 ms of the processor.
 */
export const packing = <Result>(
  keys: LandingKeys | undefined,
  work: (packing: Packing) => Promise<Result>,
): Promise<Result> =>
  withDuckdb(run =>
    work({
      write: (pages, folder, unique) =>
        keys
          ? writeEncrypted(keys, pages, filesIn(folder, unique))
          : writeParquet(run, pages, filesIn(folder, unique)),
      read: file => (file.endsWith(packedEnd) ? readEncrypted(keys, file) : readParquet(run, file)),
    }),
  )
