/**
 * Reads and writes the manifest of a scan: its request, and the files with its pages (while it is open, the loaded
 * ones).
 */
import { basename } from 'node:path'
import { ScanDamaged } from './damage.ts'
import { archiveFolder, fileKey, isArchive, manifestKey, pageFacts, pageFolder, sumOf } from './layout.ts'
import type { LandingStore, StoredContent } from './store.ts'

export interface ScanRequest {
  readonly resource: string
  /** Scope columns that the request implies, such as company_id. */
  readonly scope: Readonly<Record<string, string>>
  /** For a snapshot: the warehouse rows that it replaces, as conditions by column. */
  readonly extent?: Readonly<Record<string, string>>
  /** Whether each page is one record, read by its id. */
  readonly isById?: boolean
}

export interface ScanFile {
  /** Includes the checksum. */
  readonly name: string
  readonly bytes: number
}

export interface ScanManifest extends ScanRequest {
  readonly scan: string
  /** An open scan may still get pages; the files of a removed one are about to be deleted. */
  readonly state: 'open' | 'complete' | 'removed'
  /** All files with its pages; for an open scan only the loaded ones, which must not get lost. */
  readonly files: readonly ScanFile[]
  /** ISO 8601 time of its last fetched page, once the scan is complete; absent without pages. */
  readonly lastAt?: string
}

const isTexts = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(one => typeof one === 'string')

function isManifest(json: object): json is ScanManifest {
  const { scan, resource, scope, extent = {}, files } = json as Partial<ScanManifest>
  const isNamed = typeof scan === 'string' && typeof resource === 'string'
  return isNamed && isTexts(scope) && isTexts(extent) && Array.isArray(files)
}

/** Adds a checksum: nothing else would show that a scope was altered. */
function contentOf(manifest: ScanManifest): Buffer {
  const sum = sumOf(Buffer.from(JSON.stringify(manifest)))
  return Buffer.from(JSON.stringify({ ...manifest, sum }))
}

function parsed(content: Buffer): ScanManifest | undefined {
  try {
    const { sum, ...rest } = Object(JSON.parse(content.toString('utf8'))) as { readonly sum?: string }
    return sumOf(Buffer.from(JSON.stringify(rest))) === sum && isManifest(rest) ? rest : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export interface StoredManifest {
  readonly manifest: ScanManifest
  readonly stored: StoredContent
}

/** Undefined when there is no manifest. Throws ScanDamaged. */
export async function readManifest(store: LandingStore, scan: string): Promise<StoredManifest | undefined> {
  const stored = await store.get(manifestKey(scan))
  if (!stored) return undefined
  const manifest = parsed(stored.content)
  if (!manifest) throw new ScanDamaged(scan, 'its manifest cannot be read')
  if (manifest.scan !== scan) throw new ScanDamaged(scan, `its manifest belongs to ${manifest.scan}`)
  return { manifest, stored }
}

/** Returns false when the stored manifest is no longer `over`. */
export const putManifest = (
  store: LandingStore,
  manifest: ScanManifest,
  over?: StoredContent,
): Promise<boolean> => store.put(manifestKey(manifest.scan), contentOf(manifest), { over })

/** `pages` lists the names of its pages, whether the files are pages or archives. */
export function completed(
  manifest: ScanManifest,
  files: readonly ScanFile[],
  pages: readonly string[],
): ScanManifest {
  const [lastAt] = pages
    .flatMap(name => pageFacts(name)?.fetchedAt ?? [])
    .sort()
    .slice(-1)
  return { ...manifest, state: 'complete', files, ...(lastAt !== undefined && { lastAt }) }
}

/** Returns the files with a scan's pages; for an open scan also those that have arrived and are not loaded yet. */
export async function filesOf(
  store: LandingStore,
  { scan, state, files }: ScanManifest,
): Promise<readonly ScanFile[]> {
  if (state !== 'open') return files
  const named = new Set(files.map(({ name }) => name))
  const others = (await landedFiles(store, scan)).filter(({ name }) => !named.has(name))
  return [...files, ...others].sort((one, other) => (one.name < other.name ? -1 : 1))
}

export async function landedFiles(store: LandingStore, scan: string): Promise<ScanFile[]> {
  const prefix = `${pageFolder}${scan}/`
  const found = await store.list(prefix)
  return found
    .map(({ key, bytes }) => ({ name: key.slice(prefix.length), bytes }))
    .filter(({ name }) => pageFacts(name))
}

const allKeys = async (store: LandingStore, scan: string): Promise<string[]> => {
  const found = [
    ...(await store.list(`${pageFolder}${scan}/`)),
    ...(await store.list(`${archiveFolder}${scan}/`)),
  ]
  return found.map(({ key }) => key)
}

/**
 * Deletes what a killed process left behind: drafts of an archive, or files that an archive or a rewrite has replaced.
 */
export async function deleteUnnamed(
  store: LandingStore,
  { scan, state, files }: ScanManifest,
): Promise<void> {
  const named = new Set(files.map(({ name }) => fileKey(scan, name)))
  const isLeft = (key: string): boolean => !named.has(key) && (state !== 'open' || isArchive(basename(key)))
  await store.delete((await allKeys(store, scan)).filter(isLeft))
}

/** Deletes the manifest last: if the process is killed before, it still marks the scan as removed. */
export async function deleteScan(store: LandingStore, scan: string): Promise<void> {
  await putManifest(store, { scan, resource: '', scope: {}, state: 'removed', files: [] })
  await store.delete(await allKeys(store, scan))
  await store.delete([manifestKey(scan)])
}
