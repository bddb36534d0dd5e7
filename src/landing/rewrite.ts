/**
 * Rewrites stored pages to erase a person. The manifest names either all old or all new files, so an interrupted
 * rewrite can run again.
 */
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pageBytes } from '../lib/stored-page.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { putArchive, storedPages } from './archive.ts'
import { damageIn, ScanDamaged } from './damage.ts'
import { fetchPages, type LandedPage, type Landing, type Scrub } from './landing.ts'
import { fileKey, type LandedPageFacts, pageFacts, pageName } from './layout.ts'
import { deleteUnnamed, putManifest, type ScanFile } from './manifest.ts'
import { type Packing, packing } from './packing.ts'
import type { LandingStore } from './store.ts'
import { allFiles, type VerifiedScan, verifyScan, withoutManifest } from './verify.ts'

export interface RewriteResult {
  /** Pages changed. */
  readonly pages: number
  /** Scans with damaged files, which may contain anything. */
  readonly damaged: readonly string[]
}

export interface Rewrite {
  readonly scrub: Scrub
  /** Count only. */
  readonly isDry: boolean
  readonly signal: AbortSignal
  /** Called after each scan. */
  readonly onScan?: ((done: number, scans: number) => void) | undefined
}

type RewriteWork = Rewrite & { readonly pack: Packing }

/**
 * Rewrites the pages of an open scan: stores changed pages under new names, then updates the manifest, then deletes the
 * old files.
 */
async function rewritePages(
  store: LandingStore,
  { manifest, files }: VerifiedScan,
  { scrub, isDry }: RewriteWork,
): Promise<number> {
  const changed = new Map<string, ScanFile>()
  for (const page of await fetchPages(store, manifest.scan, files)) {
    const bytes = pageBytes(page)
    const rest = scrub(bytes, manifest)
    if (rest === bytes) continue
    const name = pageName(page, rest)
    changed.set(basename(page.file), { name, bytes: rest.length })
    if (!isDry) await store.put(fileKey(manifest.scan, name), rest, { isLasting: true })
  }
  if (changed.size === 0 || isDry) return changed.size
  await putManifest(store, {
    ...manifest,
    files: manifest.files.map(file => changed.get(file.name) ?? file),
  })
  await store.delete([...changed.keys()].map(name => fileKey(manifest.scan, name)))
  return changed.size
}

/** Puts all pages of a complete scan into a new archive. */
async function rewriteComplete(
  store: LandingStore,
  verified: VerifiedScan,
  { scrub, isDry, pack }: RewriteWork,
): Promise<number> {
  const folder = makeScratch(store.home)
  const pages: LandedPage[] = []
  let changed = 0
  try {
    for await (const { name, bytes } of storedPages(store, verified, pack)) {
      const rest = scrub(bytes, verified.manifest)
      if (rest !== bytes) changed += 1
      if (isDry) continue
      const facts = pageFacts(name) as LandedPageFacts
      const file = join(folder.path, pageName(facts, rest))
      writeFileSync(file, rest, { mode: 0o600 })
      pages.push({ ...facts, file, bytes: rest.length })
    }
    if (changed > 0 && !isDry) await putArchive(store, { ...verified, pages }, pack)
    return changed
  } finally {
    folder.remove()
  }
}

/** Throws ScanDamaged. */
async function rewriteScan(store: LandingStore, scan: string, work: RewriteWork): Promise<number> {
  const verified = await verifyScan(store, scan)
  if (!verified) return 0
  const [what] = verified.damaged
  if (what !== undefined) throw new ScanDamaged(scan, what)
  // A process that archived, rewrote or removed the scan may have been killed before it deleted the old files.
  if (!work.isDry) await deleteUnnamed(store, verified.manifest)
  const rewrite = verified.manifest.state === 'open' ? rewritePages : rewriteComplete
  return rewrite(store, verified, work)
}

export async function rewriteLanding(landing: Landing, rewrite: Rewrite): Promise<RewriteResult> {
  const { store } = landing
  const files = await allFiles(landing)
  const scans = await landing.scans()
  const damaged = (await withoutManifest(landing, scans, files)).map(({ scan }) => scan)
  let pages = 0
  await packing(async pack => {
    for (const [index, scan] of scans.entries()) {
      rewrite.signal.throwIfAborted()
      try {
        pages += await rewriteScan(store, scan, { ...rewrite, pack })
      } catch (error) {
        if (!damageIn(scan, error)) throw error
        damaged.push(scan)
      }
      store.release(scan)
      rewrite.onScan?.(index + 1, scans.length)
    }
  })
  return { pages, damaged }
}
