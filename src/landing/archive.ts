/** Archives of loaded pages: the files of a scan become a few large ones. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeScratch } from '../temporary/scratch.ts'
import { Damaged } from './damage/damaged.ts'
import { archiveDamage, folderDamage } from './damage/of-files.ts'
import type { Landing } from './folder.ts'
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
  await packing(async pack => {
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
  const archive = await checkedArchive(landing, scanId)
  const target = join(folder, scanId)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  writeFileSync(join(target, factsName), JSON.stringify(archive.facts), { mode: 0o600 })
  const write = ({ name, bytes }: PackedPage): void => {
    writeFileSync(join(target, name), bytes, { mode: 0o600 })
    if (archive.isProved) writeSum(join(folder, pagesJournalOf(scanId)), sumOf(name, bytes))
  }
  for await (const pages of archive.pages(pack)) for (const page of pages) write(page)
  archive.release()
}

function readPacked(pack: Packing, scanId: string, file: string): Promise<PackedPage[]> {
  return pack.read(file).catch(error => {
    throw new Damaged(scanId, `${basename(file)} cannot be read`, error)
  })
}
