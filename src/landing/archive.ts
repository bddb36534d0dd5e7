/** Packs the loaded pages of a scan into a few large archive files, which its manifest then names. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Busy } from '../lib/errors.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { damageIn, ScanDamaged } from './damage.ts'
import { fetchPages, type LandedPage, type Landing } from './landing.ts'
import { archiveName, fileKey, isArchive } from './layout.ts'
import {
  completed,
  deleteScan,
  deleteUnnamed,
  putManifest,
  type ScanFile,
  type StoredManifest,
} from './manifest.ts'
import { type PackedPage, type Packing, packing, UnpackedFile } from './packing.ts'
import type { LandingStore } from './store.ts'
import { type VerifiedScan, verifyScan } from './verify.ts'

/**
 * Writes archives, then switches the manifest to them: at any time the files it names hold all pages. Throws Busy when
 * another process has written the manifest since this one read it.
 */
export async function putArchive(
  store: LandingStore,
  scan: StoredManifest & { readonly pages: readonly LandedPage[] },
  pack: Packing,
): Promise<void> {
  const part = makeScratch(store.home)
  const files: ScanFile[] = []
  try {
    await pack.write(scan.pages, part.path)
    for (const [index, made] of readdirSync(part.path).sort().entries()) {
      const content = readFileSync(join(part.path, made))
      const name = archiveName(index + 1, content)
      await store.put(fileKey(scan.manifest.scan, name), content)
      files.push({ name, bytes: content.length })
    }
  } finally {
    part.remove()
  }
  const next = completed(
    scan.manifest,
    files,
    scan.pages.map(({ file }) => basename(file)),
  )
  if (!(await putManifest(store, next, scan.stored)))
    throw new Busy({
      what: 'another process archived the same pages first',
      where: store.where,
      next: 'nothing is lost; run again',
    })
  await deleteUnnamed(store, next)
}

/** Leaves a damaged scan alone, so that `muster check` reports it. */
async function archiveScan(store: LandingStore, scan: string, pack: Packing): Promise<void> {
  const verified = await verifyScan(store, scan)
  if (!verified || verified.damaged.length > 0) return
  const { manifest, files } = verified
  // A process that archived or removed the scan may have been killed before it deleted the pages.
  if (manifest.state === 'removed') await deleteScan(store, scan)
  else if (files.some(({ name }) => isArchive(name))) await deleteUnnamed(store, manifest)
  else await putArchive(store, { ...verified, pages: await fetchPages(store, scan, files) }, pack)
}

export async function archive(
  { store }: Landing,
  scans: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  await packing(async pack => {
    for (const scan of scans) {
      if (signal?.aborted) return
      try {
        await archiveScan(store, scan, pack)
      } catch (error) {
        if (!damageIn(scan, error)) throw error
      }
      store.release(scan)
    }
  })
}

/** Yields the pages of a scan, one file after the other. Throws ScanDamaged. */
export async function* storedPages(
  store: LandingStore,
  { manifest: { scan }, files }: VerifiedScan,
  pack: Packing,
): AsyncGenerator<PackedPage> {
  for (const { name } of files) {
    const file = await store.fetch(fileKey(scan, name))
    if (file === undefined) throw new ScanDamaged(scan, `${name} is missing`)
    if (isArchive(name))
      yield* await pack.read(file).catch(error => {
        throw new ScanDamaged(scan, `${name} cannot be read`, error)
      })
    else yield { name, bytes: readFileSync(file) }
  }
}

/**
 * Returns the pages of a scan for a replay. Archived ones are unpacked into `file`, which the caller removes. Throws
 * ScanDamaged.
 */
export async function readablePages(
  store: LandingStore,
  verified: VerifiedScan,
  { file, pack }: { readonly file: () => string; readonly pack: Packing },
): Promise<readonly LandedPage[]> {
  const { manifest, files } = verified
  if (!files.some(({ name }) => isArchive(name))) return fetchPages(store, manifest.scan, files)
  const unpacked = new UnpackedFile(file())
  try {
    for await (const page of storedPages(store, verified, pack)) unpacked.add(page)
  } finally {
    unpacked.close()
  }
  return unpacked.pages
}
