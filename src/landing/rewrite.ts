/** Rewrites stored pages in place: each file is replaced as a whole, so that a rewrite that was cut off is run again. */
import { basename } from 'node:path'
import { pageBytes } from '../lib/stored-page.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { archiveOf, archives, rearchive, unpack } from './archive.ts'
import { Damaged } from './damage/damaged.ts'
import { type Landing, openLanding, type Scrub } from './folder.ts'
import { pagesJournalOf, scansJournal, sumOf } from './journal.ts'
import { type Packing, packing } from './packed-pages.ts'
import { removeLeftArchives, removeLeftPages } from './tidy.ts'

export interface Rewritten {
  /** Pages that were changed. */
  readonly pages: number
  /** Scans whose files are damaged, so that nobody can tell what is in them. */
  readonly damaged: readonly string[]
}

/** Bytes that `scrub` changes; nothing is written with `isDry`. */
async function rewriteFolder(landing: Landing, scan: string, { scrub, isDry }: Rewrite): Promise<number> {
  let changed = 0
  const facts = await landing.facts(scan)
  for (const page of await landing.pages(scan)) {
    const bytes = pageBytes(page)
    const rest = scrub(bytes, facts)
    if (rest === bytes) continue
    changed += 1
    if (!isDry) await replaceFile(landing, `${scan}/${basename(page.file)}`, rest)
  }
  landing.store.release(scan)
  return changed
}

/** Its sum goes into the journal first: after a kill in between, the same rewrite is done again. */
async function replaceFile({ store }: Landing, name: string, bytes: Buffer): Promise<void> {
  const [scan = ''] = name.split('/')
  await store.note(pagesJournalOf(scan), sumOf(basename(name), bytes))
  await store.replace(name, bytes)
}

async function rewriteArchive(
  landing: Landing,
  scan: string,
  { pack, ...rewrite }: Rewrite & { readonly pack: Packing },
): Promise<number> {
  const folder = makeScratch(landing.store.home)
  try {
    await unpack(landing, scan, { folder: folder.path, pack })
    const unpacked = openLanding(folder.path)
    const changed = await rewriteFolder(unpacked, scan, rewrite)
    if (changed > 0 && !rewrite.isDry) await rearchive(pack, { from: unpacked, to: landing }, scan)
    return changed
  } finally {
    folder.remove()
  }
}

export interface Rewrite {
  readonly scrub: Scrub
  /** Only counts. */
  readonly isDry: boolean
  readonly signal: AbortSignal
  /** Called after each scan. */
  readonly onScan?: ((done: number, scans: number) => void) | undefined
}

export async function rewriteLanding(landing: Landing, rewrite: Rewrite): Promise<Rewritten> {
  const damaged: string[] = []
  let pages = 0
  const count = async (scan: string, work: () => Promise<number>): Promise<void> => {
    rewrite.signal.throwIfAborted()
    try {
      pages += await work()
    } catch (error) {
      if (!(error instanceof Damaged || error instanceof SyntaxError)) throw error
      damaged.push(scan)
    }
  }
  if (!rewrite.isDry) {
    await removeLeftPages(landing)
    await removeLeftArchives(landing, await landing.scans())
  }
  const [unarchived, archived] = [await landing.scans(), await archives(landing)]
  let done = 0
  const next = (): void => {
    done += 1
    rewrite.onScan?.(done, unarchived.length + archived.length)
  }
  for (const scan of unarchived) {
    await count(scan, () => rewriteFolder(landing, scan, rewrite))
    next()
  }
  await packing(async pack => {
    for (const scan of archived) {
      await count(scan, () => rewriteArchive(landing, scan, { ...rewrite, pack }))
      next()
    }
  })
  return { pages, damaged }
}

/** What of the landing cannot be read, and so cannot be cleared of a person either. */
export async function removeScan(landing: Landing, scan: string): Promise<void> {
  await landing.discard(scan)
  await landing.store.noteGone(scansJournal, scan)
  await landing.store.remove(archiveOf(scan))
}
