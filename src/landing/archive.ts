/** Archives of loaded pages: the JSON files of a scan become a few zstd Parquet files. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBBlobValue } from '@duckdb/node-api'
import { dayMs } from '../lib/dates.ts'
import { temporaryFolder } from '../temporary/places.ts'
import {
  archiveDamage,
  type Damage,
  Damaged,
  folderDamage,
  manifestFile,
  manifestOf,
  missingScans,
} from './damage.ts'
import { factsFile, type LandedPage, type Landing } from './folder.ts'
import { recordFile, recordScan, recordScanGone } from './journal.ts'

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Texts of one Parquet file are in memory together while it is written. */
const bytesPerFile = 16_000_000

const suffix = '.archive'

async function withDuckdb<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '150MB', threads: '1' })
  const connection = await instance.connect()
  try {
    return await work(async sql => (await connection.runAndReadAll(sql)).getRows())
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const archiveOf = (landing: Landing, scanId: string): string => join(landing.root, `${scanId}${suffix}`)

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

type Run = (sql: string) => Promise<unknown[][]>

async function writeArchive(run: Run, landing: Landing, { scanId, part }: { scanId: string; part: string }) {
  writeFileSync(join(part, 'scan.json'), JSON.stringify(landing.facts(scanId)), { mode: 0o600 })
  for (const [index, pages] of slices(landing.pages(scanId)).entries()) {
    const files = pages.map(page => quote(page.file)).join(', ')
    const target = quote(join(part, `${String(index + 1).padStart(6, '0')}.parquet`))
    await run(`copy (select parse_filename(filename) as name, content from read_blob([${files}]))
      to ${target} (format parquet, compression zstd)`)
  }
  writeFileSync(manifestFile(part), manifestOf(part), { mode: 0o600 })
}

/** Replaces the archive of a scan by one of its pages in another landing. */
async function putArchive(
  run: Run,
  { from, to }: { from: Landing; to: Landing },
  scanId: string,
): Promise<void> {
  const archive = archiveOf(to, scanId)
  const part = temporaryFolder(`${archive}.part`, 'an archive of pages, before it takes its place')
  try {
    await writeArchive(run, from, { scanId, part: part.path })
    rmSync(archive, { recursive: true, force: true })
    renameSync(part.path, archive)
  } finally {
    part.remove()
  }
}

/** Its age stays, as retention counts from it. */
export async function rearchive(to: Landing, from: Landing, scanId: string): Promise<void> {
  const { atime, mtime } = statSync(archiveOf(to, scanId))
  await withDuckdb(run => putArchive(run, { from, to }, scanId))
  utimesSync(archiveOf(to, scanId), atime, mtime)
}

/** Scans that are kept as archives. */
export const archives = (landing: Landing): string[] => folders(landing).map(name => basename(name, suffix))

/** Turns the folders of these scans into archives. At any moment a scan exists as a folder or as an archive. */
export async function compact(
  landing: Landing,
  scanIds: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (scanIds.length === 0) return
  await withDuckdb(async run => {
    // A scan whose facts are damaged stays as it is, for the check to name.
    for (const scanId of scanIds.filter(scan => folderDamage(landing, scan) === undefined)) {
      if (signal?.aborted) return
      await putArchive(run, { from: landing, to: landing }, scanId)
      landing.discard(scanId)
      recordScan(landing.root, scanId)
    }
  })
}

function folders(landing: Landing): string[] {
  return existsSync(landing.root) ? readdirSync(landing.root).filter(name => name.endsWith(suffix)) : []
}

/** Every scan that can be replayed, oldest first, folders and archives alike. */
export function keptScans(landing: Landing): string[] {
  return [...new Set([...folders(landing).map(name => basename(name, suffix)), ...landing.scans()])].sort()
}

/** Earlier releases kept pages as texts. */
const bytesOf = (content: unknown): Buffer =>
  Buffer.from(typeof content === 'string' ? content : (content as DuckDBBlobValue).bytes)

/** The pages of an archived scan, written back as files below `folder`; the caller removes them. Throws Damaged. */
export async function unpack(landing: Landing, scanId: string, folder: string): Promise<void> {
  const archive = archiveOf(landing, scanId)
  const damage = archiveDamage(archive, factsFile(archive), true)
  if (damage !== undefined) throw new Damaged(scanId, damage)
  const target = join(folder, scanId)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  // The manifest has shown that the pages are as they were landed.
  const isProved = existsSync(manifestFile(archive))
  const files = readdirSync(archive).filter(name => name.endsWith('.parquet'))
  writeFileSync(join(target, 'scan.json'), readFileSync(factsFile(archive) ?? join(archive, 'scan.json')))
  await withDuckdb(async run => {
    for (const file of files) {
      const select = `select name, content from read_parquet(${quote(join(archive, file))})`
      const pages = await run(select).catch(error => {
        throw new Damaged(scanId, `${file} cannot be read`, error)
      })
      for (const [path, content] of pages) {
        const name = basename(String(path))
        const bytes = bytesOf(content)
        writeFileSync(join(target, name), bytes, { mode: 0o600 })
        if (isProved) recordFile(target, name, bytes)
      }
    }
  })
}

/** Reads so much of the archives at once: 2 s of a disk that gives 500 MB/s. */
const mostAtOnce = 1_000_000_000

/** Checksums of larger landings are compared a seventh a day, so that each archive is read once a week. */
const parts = 7

function isTurn(name: string, day: number): boolean {
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return sum % parts === day % parts
}

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

/** What of the landed pages cannot be replayed; `now` in milliseconds since the epoch. Pages of open scans are read again. */
export function damageOf(landing: Landing, now: number, open: ReadonlySet<string>): Damage[] {
  const all = folders(landing)
  const isSmall = all.reduce((sum, name) => sum + bytesIn(join(landing.root, name)), 0) <= mostAtOnce
  const archived = all.flatMap((name): Damage[] => {
    const folder = join(landing.root, name)
    const deep = isSmall || isTurn(name, Math.floor(now / dayMs))
    const what = archiveDamage(folder, factsFile(folder), deep)
    return what === undefined ? [] : [{ scan: basename(name, suffix), what }]
  })
  const unarchived = landing.scans().flatMap((scan): Damage[] => {
    const what = open.has(scan) ? undefined : folderDamage(landing, scan, isSmall)
    return what === undefined ? [] : [{ scan, what }]
  })
  const missing = missingScans(landing, keptScans(landing)).filter(({ scan }) => !open.has(scan))
  return [...archived, ...unarchived, ...missing]
}

const expired = (landing: Landing, before: number): string[] =>
  folders(landing).filter(name => statSync(join(landing.root, name)).mtimeMs < before)

export const isAnyExpired = (landing: Landing, before: number): boolean => expired(landing, before).length > 0

/** Removes archives last written before `before` (milliseconds); returns how many. */
export function expire(landing: Landing, before: number): number {
  const old = expired(landing, before)
  for (const name of old) {
    recordScanGone(landing.root, basename(name, suffix))
    rmSync(join(landing.root, name), { recursive: true, force: true })
  }
  return old.length
}
