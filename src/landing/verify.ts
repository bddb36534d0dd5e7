/**
 * Finds all damage in a landing: manifests that are missing or cannot be read, and files that do not match their
 * checksums.
 */
import { readFileSync } from 'node:fs'
import { dayMs } from '../lib/dates.ts'
import { damageIn, readable, type ScanDamage, ScanDamaged } from './damage.ts'
import type { Landing } from './landing.ts'
import { archiveFolder, byScan, fileKey, pageFolder, promisedSum, sumOf } from './layout.ts'
import { filesOf, readManifest, type ScanFile, type ScanManifest, type StoredManifest } from './manifest.ts'
import { type LandingFile, type LandingStore, together } from './store.ts'

export interface VerifiedScan extends StoredManifest {
  /** Files that are intact. */
  readonly files: readonly ScanFile[]
  /** Damaged or missing files, one message each. */
  readonly damaged: readonly string[]
}

/** Bytes by key, as the store lists them. */
type Sizes = ReadonlyMap<string, number>

async function differenceOf(
  store: LandingStore,
  scan: string,
  { name, bytes, sizes }: ScanFile & { readonly sizes: Sizes | undefined },
): Promise<string | undefined> {
  const key = fileKey(scan, name)
  if (sizes?.get(key) === bytes) return undefined
  const file = await store.fetch(key)
  if (file === undefined) return `${name} is missing`
  const content = readFileSync(file)
  if (content.length !== bytes) return `${name} has ${content.length} bytes instead of ${bytes}`
  return sumOf(content) === promisedSum(name) ? undefined : `${name} has changed since it was written`
}

/**
 * Undefined without a manifest. Reads every file, unless its size in `sizes` matches. Throws ScanDamaged when nothing
 * of the scan can be replayed.
 */
export async function verifyScan(
  store: LandingStore,
  scan: string,
  sizes?: Sizes,
): Promise<VerifiedScan | undefined> {
  const read = await readManifest(store, scan)
  if (!read) return undefined
  const files = await filesOf(store, read.manifest)
  const whats = new Map<string, string>()
  await together(files, async file => {
    const what = await readable(file.name, () => differenceOf(store, scan, { ...file, sizes }))
    if (what !== undefined) whats.set(file.name, what)
  })
  // Another process may have archived the pages or removed the scan in between.
  if (whats.size > 0 && (await hasChanged(store, read.manifest))) return verifyScan(store, scan, sizes)
  const damaged = files.flatMap(({ name }) => whats.get(name) ?? [])
  return { ...read, files: files.filter(({ name }) => !whats.has(name)), damaged }
}

/** Whether the manifest has changed since it was read. */
export async function hasChanged(store: LandingStore, manifest: ScanManifest): Promise<boolean> {
  const now = await readManifest(store, manifest.scan)
  return JSON.stringify(now?.manifest) !== JSON.stringify(manifest)
}

/** Larger landings are not read in one go: 2 s on a disk that reads 500 MB/s. */
const maxBytesAtOnce = 1_000_000_000

/** For larger landings, reads one seventh of the scans each day, so every scan once a week. */
const parts = 7

function isTurn(scan: string, day: number): boolean {
  const sum = [...scan].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return sum % parts === day % parts
}

/** Scans that have files but no manifest: it is written before them, and deleted after them. */
export async function withoutManifest(
  { store }: Landing,
  scans: readonly string[],
  files: readonly LandingFile[],
): Promise<ScanDamage[]> {
  const known = new Set(scans)
  const damage: ScanDamage[] = []
  for (const scan of byScan(files).keys()) {
    if (known.has(scan)) continue
    const isThere = async (folder: string) => (await store.list(`${folder}${scan}/`)).length > 0
    if ((await isThere(pageFolder)) || (await isThere(archiveFolder)))
      damage.push({ scan, what: 'its manifest is missing' })
  }
  return damage
}

/** Returns all files of the landing. List them before the scans: a new scan's manifest exists before its files. */
export const allFiles = async ({ store }: Landing): Promise<LandingFile[]> => [
  ...(await store.list(pageFolder)),
  ...(await store.list(archiveFolder)),
]

/**
 * Returns what cannot be replayed; `now` in milliseconds since the epoch. Skips open scans, whose pages are fetched
 * again.
 */
export async function verify(
  landing: Landing,
  now: number,
  open: ReadonlySet<string>,
): Promise<ScanDamage[]> {
  const { store } = landing
  const damage: ScanDamage[] = []
  const note = (scan: string, error: unknown): void => {
    const found = damageIn(scan, error)
    if (!found) throw error
    damage.push(found)
  }
  try {
    const files = await allFiles(landing)
    const scans = await landing.scans()
    const sizes = new Map(files.map(({ key, bytes }) => [key, bytes]))
    const isSmall = files.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytesAtOnce
    for (const scan of scans.filter(scan => !open.has(scan))) {
      const isRead = isSmall || isTurn(scan, Math.floor(now / dayMs))
      try {
        const [what] = (await verifyScan(store, scan, isRead ? undefined : sizes))?.damaged ?? []
        if (what !== undefined) note(scan, new ScanDamaged(scan, what))
      } catch (error) {
        note(scan, error)
      }
      store.release(scan)
    }
    const unnamed = await withoutManifest(landing, scans, files)
    damage.push(...unnamed.filter(({ scan }) => !open.has(scan)))
  } catch (error) {
    note('landing', error)
  }
  return damage
}
