/** Archives of loaded pages: the files of a scan become a few large ones. */
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
import { basename, dirname, join } from 'node:path'
import { dayMs } from '../lib/dates.ts'
import { encryptedEnd } from '../lib/encryption/stored-page.ts'
import { ConfigError } from '../lib/errors.ts'
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
import { isOfKey, type LandingKeys, noteKey } from './encryption.ts'
import { factsFile, type Landing, openLanding } from './folder.ts'
import { recordFile, recordScan, recordScanGone } from './journal.ts'
import { type Packing, packedFiles, packing } from './packed-pages.ts'

const suffix = '.archive'

const archiveOf = (landing: Landing, scanId: string): string => join(landing.root, `${scanId}${suffix}`)

async function writeArchive(
  pack: Packing,
  landing: Landing,
  { scanId, part }: { scanId: string; part: string },
) {
  writeFileSync(join(part, 'scan.json'), JSON.stringify(landing.facts(scanId)), { mode: 0o600 })
  await pack.write(landing.pages(scanId), part)
  writeFileSync(manifestFile(part), manifestOf(part), { mode: 0o600 })
}

/** Replaces the archive of a scan by one of its pages in another landing. */
async function putArchive(
  pack: Packing,
  { from, to }: { from: Landing; to: Landing },
  scanId: string,
): Promise<void> {
  const archive = archiveOf(to, scanId)
  const part = temporaryFolder(`${archive}.part`, 'an archive of pages, before it takes its place')
  try {
    await writeArchive(pack, from, { scanId, part: part.path })
    rmSync(archive, { recursive: true, force: true })
    renameSync(part.path, archive)
  } finally {
    part.remove()
  }
}

/** Its age stays, as retention counts from it. */
export async function rearchive(to: Landing, from: Landing, scanId: string): Promise<void> {
  const { atime, mtime } = statSync(archiveOf(to, scanId))
  await packing(to.keys, pack => putArchive(pack, { from, to }, scanId))
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
  await packing(landing.keys, async pack => {
    // A scan whose facts are damaged stays as it is, for the check to name.
    for (const scanId of scanIds.filter(scan => folderDamage(landing, scan) === undefined)) {
      if (signal?.aborted) return
      await putArchive(pack, { from: landing, to: landing }, scanId)
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

/** The pages of an archived scan, written back as files below `folder`; the caller removes them. Throws Damaged. */
export async function unpack(landing: Landing, scanId: string, folder: string): Promise<void> {
  const archive = archiveOf(landing, scanId)
  const damage = archiveDamage(archive, factsFile(archive), true)
  if (damage !== undefined) throw new Damaged(scanId, damage)
  const target = join(folder, scanId)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  // The manifest has shown that the pages are as they were landed.
  const isProved = existsSync(manifestFile(archive))
  writeFileSync(join(target, 'scan.json'), readFileSync(factsFile(archive) ?? join(archive, 'scan.json')))
  await packing(landing.keys, async pack => {
    for (const file of packedFiles(archive)) {
      const pages = await pack.read(join(archive, file)).catch(error => {
        if (error instanceof ConfigError) throw error
        throw new Damaged(scanId, `${file} cannot be read`, error)
      })
      for (const { name, bytes } of pages) {
        const stored = landing.keys ? landing.keys.encrypt(bytes) : bytes
        const storedName = landing.keys ? `${name}${encryptedEnd}` : name
        writeFileSync(join(target, storedName), stored, { mode: 0o600 })
        if (isProved) recordFile(target, storedName, stored)
      }
    }
  })
}

/** Whether all of an archive is encrypted with the key that encrypts now. */
const isCurrent = (archive: string, keys: LandingKeys): boolean =>
  packedFiles(archive).every(name => name.endsWith(encryptedEnd) && isOfKey(join(archive, name), keys))

/** Archives of before there was a key, or of an earlier key, are encrypted with today's; returns how many. Damaged ones stay. */
export async function encryptArchives(landing: Landing, signal: AbortSignal): Promise<number> {
  const { keys } = landing
  if (!keys) return 0
  let encrypted = 0
  for (const scan of archives(landing).filter(scan => !isCurrent(archiveOf(landing, scan), keys))) {
    signal.throwIfAborted()
    if (await encryptArchive(landing, scan)) encrypted += 1
  }
  if (encrypted > 0) noteKey(landing.root, keys)
  return encrypted
}

async function encryptArchive(landing: Landing, scan: string): Promise<boolean> {
  const folder = temporaryFolder(join(dirname(landing.root), '.muster-encrypt'), 'pages of an archive')
  try {
    await unpack(landing, scan, folder.path)
    await rearchive(landing, openLanding(folder.path, { keys: landing.keys }), scan)
    return true
  } catch (error) {
    if (error instanceof Damaged) return false
    throw error
  } finally {
    folder.remove()
  }
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
