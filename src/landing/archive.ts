/** Archives of loaded pages: the files of a scan become a few large ones. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { encryptedEnd } from '../lib/encryption/stored-page.ts'
import { ConfigError } from '../lib/errors.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { Damaged } from './damage/damaged.ts'
import { archiveDamage, folderDamage } from './damage/of-files.ts'
import { isOfKey, keyBytes, type LandingKeys, noteKey } from './encryption.ts'
import { type Landing, openLanding } from './folder.ts'
import { pagesJournalOf, scanSum, scansJournal, sumOf, writeSum } from './journal.ts'
import { isPacked, manifestName, manifestOf, sumsIn } from './manifest.ts'
import { type PackedPage, type Packing, packing } from './packed-pages.ts'
import { factsName, readFacts, type ScanFacts } from './scan-facts.ts'
import type { LandingStore, Stored } from './store.ts'

const suffix = '.archive'

export const archiveOf = (scanId: string): string => `${scanId}${suffix}`

interface Between {
  readonly from: Landing
  readonly to: Landing
  /** Whether it replaces an archive, and is as old as that one. */
  readonly keepsAge?: boolean
}

/** The archive of a scan, of its pages in this landing or in another one. */
async function putArchive(pack: Packing, { from, to, keepsAge }: Between, scanId: string): Promise<void> {
  const { store } = to
  const archive = archiveOf(scanId)
  const part = makeScratch(store.root)
  const write = (name: string, text: string): void =>
    writeFileSync(join(part.path, name), text, { mode: 0o600 })
  try {
    write(factsName, JSON.stringify({ scan: scanId, ...(await from.facts(scanId)) }))
    await pack.write(await from.pages(scanId), part.path, store.unique())
    write(manifestName, manifestOf(part.path))
    await store.putFolder(archive, part.path, keepsAge)
  } finally {
    part.remove()
  }
}

/** Its age stays, as retention counts from it. */
export const rearchive = (
  pack: Packing,
  between: Pick<Between, 'from' | 'to'>,
  scanId: string,
): Promise<void> => putArchive(pack, { ...between, keepsAge: true }, scanId)

async function archivesAmong(landing: Landing, scans: readonly string[]): Promise<string[]> {
  const names = (await landing.store.folders()).filter(name => name.endsWith(suffix))
  return names.map(name => basename(name, suffix)).filter(scan => !scans.includes(scan))
}

/** Scans that are kept as archives. While a scan has pages its archive does not count: whoever made it was killed. */
export async function archives(landing: Landing): Promise<string[]> {
  return archivesAmong(landing, await landing.scans())
}

/** Turns the folders of these scans into archives. At any moment a scan exists as a folder or as an archive. */
export async function compact(
  landing: Landing,
  scanIds: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (scanIds.length === 0) return
  const { store } = landing
  await packing(landing.keys, async pack => {
    for (const scanId of scanIds) {
      // A scan whose facts are damaged stays as it is, for the check to name.
      if ((await folderDamage(landing, scanId)) !== undefined) continue
      if (signal?.aborted) return
      await putArchive(pack, { from: landing, to: landing }, scanId)
      await landing.discard(scanId)
      await store.note(scansJournal, scanSum(scanId))
    }
  })
}

/** Every scan that can be replayed, oldest first, folders and archives alike. */
export async function keptScans(landing: Landing): Promise<string[]> {
  const scans = await landing.scans()
  return [...(await archivesAmong(landing, scans)), ...scans].sort()
}

/** The files of an archive that have pages; those of earlier releases have no manifest. */
async function packedIn(store: LandingStore, archive: string): Promise<Stored[]> {
  const sums = (await sumsIn(store, archive)) ?? (await store.list(archive))
  return sums.filter(({ name }) => isPacked(name)).sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** An archived scan whose files are brought here and checked. */
export interface CheckedArchive {
  readonly facts: ScanFacts
  /** Whether its manifest has shown that the pages are as they were landed. */
  readonly isProved: boolean
  /** The pages of one file after those of another. Throws Damaged. */
  pages(pack: Packing): AsyncGenerator<readonly PackedPage[]>
  /** What was brought here goes. */
  release(): void
}

/** Throws Damaged. */
export async function checkedArchive({ store }: Landing, scanId: string): Promise<CheckedArchive> {
  const archive = archiveOf(scanId)
  const packed = await packedIn(store, archive)
  await store.bring(archive, packed)
  const damage = await archiveDamage(store, archive, true)
  if (damage !== undefined) throw new Damaged(scanId, damage)
  return {
    facts: await readFacts(store, archive),
    isProved: await store.has(`${archive}/${manifestName}`),
    async *pages(pack) {
      for (const { name } of packed) yield await readPacked(pack, scanId, join(store.root, archive, name))
    },
    release: () => store.release(archive),
  }
}

/** The pages of an archived scan, written back as files below `folder`; the caller removes them. Throws Damaged. */
export async function unpack(
  landing: Landing,
  scanId: string,
  { folder, pack }: { readonly folder: string; readonly pack: Packing },
): Promise<void> {
  const { keys } = landing
  const archive = await checkedArchive(landing, scanId)
  const target = join(folder, scanId)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  writeFileSync(join(target, factsName), JSON.stringify(archive.facts), { mode: 0o600 })
  const write = ({ name, bytes }: PackedPage): void => {
    const stored = keys ? keys.encrypt(bytes) : bytes
    const storedName = keys ? `${name}${encryptedEnd}` : name
    writeFileSync(join(target, storedName), stored, { mode: 0o600 })
    if (archive.isProved) writeSum(join(folder, pagesJournalOf(scanId)), sumOf(storedName, stored))
  }
  for await (const pages of archive.pages(pack)) for (const page of pages) write(page)
  archive.release()
}

function readPacked(pack: Packing, scanId: string, file: string): Promise<PackedPage[]> {
  return pack.read(file).catch(error => {
    if (error instanceof ConfigError) throw error
    throw new Damaged(scanId, `${basename(file)} cannot be read`, error)
  })
}

/** Whether all of an archive is encrypted with the key that encrypts now. */
async function isCurrent({ store }: Landing, scan: string, keys: LandingKeys): Promise<boolean> {
  const archive = archiveOf(scan)
  for (const { name } of await packedIn(store, archive)) {
    // A file that is missing is for the check to name.
    const isThere = await store.has(`${archive}/${name}`)
    const start = isThere ? (await store.edges(`${archive}/${name}`, keyBytes)).start : ''
    if (!name.endsWith(encryptedEnd) || !isOfKey(start, keys)) return false
  }
  return true
}

/** Archives of before there was a key, or of an earlier key, are encrypted with today's; returns how many. Damaged ones stay. */
export async function encryptArchives(landing: Landing, signal: AbortSignal): Promise<number> {
  const { keys } = landing
  if (!keys) return 0
  let encrypted = 0
  await packing(keys, async pack => {
    for (const scan of await archives(landing)) {
      if (await isCurrent(landing, scan, keys)) continue
      signal.throwIfAborted()
      if (await encryptArchive(landing, scan, pack)) encrypted += 1
    }
  })
  if (encrypted > 0) await noteKey(landing.store, keys)
  return encrypted
}

async function encryptArchive(landing: Landing, scan: string, pack: Packing): Promise<boolean> {
  const folder = makeScratch(landing.store.home)
  try {
    await unpack(landing, scan, { folder: folder.path, pack })
    const from = await openLanding(folder.path, { keys: landing.keys })
    await rearchive(pack, { from, to: landing }, scan)
    return true
  } catch (error) {
    if (error instanceof Damaged) return false
    throw error
  } finally {
    folder.remove()
  }
}
