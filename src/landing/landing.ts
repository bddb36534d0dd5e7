/** Manages the landing of one warehouse: pages of scans as they arrive, each written completely or not at all. */
import { basename, dirname } from 'node:path'
import { DiskFull, MusterError } from '../lib/errors.ts'
import type { StoredPage } from '../lib/stored-page.ts'
import { requireFree } from '../temporary/free-space.ts'
import { Bucket } from './bucket/client.ts'
import { BucketStore } from './bucket/store.ts'
import { ScanDamaged } from './damage.ts'
import { FolderStore } from './folder-store.ts'
import {
  byScan,
  fileKey,
  type LandedPageFacts,
  manifestFolder,
  pageFacts,
  pageFolder,
  pageName,
  withoutSum,
} from './layout.ts'
import {
  completed,
  deleteScan,
  landedFiles,
  putManifest,
  readManifest,
  type ScanFile,
  type ScanManifest,
  type ScanRequest,
} from './manifest.ts'
import { type LandingFile, type LandingPlace, type LandingStore, together } from './store.ts'

export interface LandedPage extends StoredPage, LandedPageFacts {
  readonly bytes: number
}

export interface ArrivedPage extends LandedPageFacts {
  readonly bytes: Buffer
}

/** Removes what may not be stored from a page. */
export type Scrub = (bytes: Buffer, facts: ScanRequest) => Buffer

export interface LandingOptions {
  readonly scrub?: Scrub
  /** Lands no page when fewer bytes than this are free. */
  readonly reserve?: number
}

/** The last five codes: the folder is gone, or something else is in the place of a file or folder. */
const unwritable = ['EACCES', 'EROFS', 'EPERM', 'ENXIO', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENOENT']

function writeError(where: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new DiskFull({
      what: 'the disk is full',
      where,
      next: 'free some space and run the command again; everything read so far is stored',
      cause: error,
    })
  }
  if (unwritable.includes(String(code))) {
    return new MusterError({
      what: 'pages cannot be written',
      where,
      next: 'check that the folder exists and is writable, or set landing to another one',
      cause: error,
    })
  }
  return error
}

/** Returns the pages in the given order, with files that can be read. Throws ScanDamaged when one is missing. */
export async function fetchPages(
  store: LandingStore,
  scan: string,
  files: readonly ScanFile[],
): Promise<LandedPage[]> {
  const pages = new Map<string, LandedPage>()
  await together(files, async ({ name, bytes }) => {
    const facts = pageFacts(name)
    const file = await store.fetch(fileKey(scan, name))
    if (file === undefined) throw new ScanDamaged(scan, `${name} is missing`)
    if (facts) pages.set(name, { file, bytes, ...facts })
  })
  return files.flatMap(({ name }) => pages.get(name) ?? [])
}

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof ScanDamaged)) throw error
}

/** A scan that this process has begun. Its manifest names its pages, even one that is lost before the run ends. */
interface OpenScan {
  manifest: ScanManifest
  /** Bytes by name. */
  readonly pages: Map<string, number>
}

export class Landing {
  readonly store: LandingStore
  readonly #scrub: Scrub
  readonly #reserve: number
  readonly #begun = new Map<string, OpenScan>()

  constructor(store: LandingStore, { scrub = bytes => bytes, reserve = 0 }: LandingOptions = {}) {
    this.store = store
    this.#scrub = scrub
    this.#reserve = reserve
  }

  /** Opens a new scan, or one that was interrupted and may have pages already. */
  async begin(scan: string, facts: ScanRequest): Promise<void> {
    try {
      const before = await readManifest(this.store, scan).catch(unlessDamaged)
      // Also files of a complete scan: a ledger restored from a backup may continue one.
      const files = before && before.manifest.state !== 'removed' ? before.manifest.files : []
      // The manifest's size wins: the file may have been truncated since.
      const landed = [...(await landedFiles(this.store, scan)), ...files]
      const manifest: ScanManifest = { scan, ...facts, state: 'open', files }
      await putManifest(this.store, manifest)
      this.#begun.set(scan, { manifest, pages: new Map(landed.map(({ name, bytes }) => [name, bytes])) })
    } catch (error) {
      throw writeError(this.store.where, error)
    }
  }

  async land(scan: string, { bytes: arrived, ...facts }: ArrivedPage): Promise<LandedPage> {
    const { store } = this
    const bytes = this.#scrub(arrived, this.#begun.get(scan)?.manifest ?? (await this.facts(scan)))
    const name = pageName(facts, bytes)
    const key = fileKey(scan, name)
    try {
      if (this.#reserve > 0) requireFree(store.disk, this.#reserve)
      await store.put(key, bytes)
    } catch (error) {
      throw writeError(store.where, error)
    }
    this.#begun.get(scan)?.pages.set(name, bytes.length)
    return { file: (await store.fetch(key)) ?? key, bytes: bytes.length, ...facts }
  }

  /**
   * Call under the resource's lease, before pages are committed as loaded. From then on a lost page is noticed, even if
   * this process is killed.
   */
  async noteLoaded(pages: readonly LandedPage[]): Promise<void> {
    for (const [scan, loaded] of byScan(pages.map(({ file, bytes }) => ({ key: file, bytes })))) {
      const begun = this.#begun.get(scan)
      if (!begun) continue
      const files = new Map(begun.manifest.files.map(({ name, bytes }) => [name, bytes]))
      for (const { key, bytes } of loaded) files.set(basename(key), bytes)
      await this.#note(begun, files)
    }
  }

  /** Returns the unarchived pages of a scan in order of arrival, with files that can be read. */
  async pages(scan: string): Promise<LandedPage[]> {
    return fetchPages(this.store, scan, await landedFiles(this.store, scan))
  }

  /** Throws ScanDamaged. */
  async facts(scan: string): Promise<ScanRequest> {
    const found = await readManifest(this.store, scan)
    if (!found) throw new ScanDamaged(scan, 'its manifest is missing')
    return found.manifest
  }

  /** Scans that this process has begun and not completed. */
  get begun(): string[] {
    return [...this.#begun.keys()]
  }

  /**
   * Marks scans of this process as complete: no more pages will come. If another process has archived, rewritten or
   * removed one, its manifest stays.
   */
  async complete(scans: readonly string[]): Promise<void> {
    for (const scan of scans) {
      const begun = this.#begun.get(scan)
      if (!begun) continue
      this.#begun.delete(scan)
      // `muster check` reports damage.
      const { manifest, stored } = (await readManifest(this.store, scan).catch(unlessDamaged)) ?? {}
      if (manifest?.state !== 'open') continue
      const landed = new Map((await landedFiles(this.store, scan)).map(file => [withoutSum(file.name), file]))
      // A page that is gone stays named, so that its loss is noticed.
      const files = [...begun.pages].map(([name, bytes]) => {
        const there = landed.get(withoutSum(name))
        return there && there.name !== name ? there : { name, bytes }
      })
      await putManifest(
        this.store,
        completed(
          manifest,
          files,
          files.map(({ name }) => name),
        ),
        stored,
      )
    }
  }

  /** Returns every scan that can be replayed. Ids begin with the time of their run, so they sort by time. */
  async scans(): Promise<string[]> {
    const manifests = await this.store.list(manifestFolder)
    return manifests.map(({ key }) => basename(key, '.json')).sort()
  }

  /** Files of the scans that are not archived yet. */
  async unarchived(): Promise<ReadonlyMap<string, readonly LandingFile[]>> {
    return byScan(await this.store.list(pageFolder))
  }

  async forget({ file }: LandedPage): Promise<void> {
    const [scan, name] = [basename(dirname(file)), basename(file)]
    const begun = this.#begun.get(scan)
    begun?.pages.delete(name)
    const files = new Map(begun?.manifest.files.map(one => [one.name, one.bytes]))
    // It was noted for a commit that then failed.
    if (begun && files.delete(name)) await this.#note(begun, files)
    await this.store.delete([fileKey(scan, name)])
  }

  async #note(begun: OpenScan, files: ReadonlyMap<string, number>): Promise<void> {
    begun.manifest = { ...begun.manifest, files: [...files].map(([name, bytes]) => ({ name, bytes })) }
    try {
      await putManifest(this.store, begun.manifest)
    } catch (error) {
      throw writeError(this.store.where, error)
    }
  }

  async discard(scan: string): Promise<void> {
    this.#begun.delete(scan)
    await deleteScan(this.store, scan)
  }
}

/** A string names a folder. After `signal`, requests to a bucket end soon. */
export function openStore(place: string | LandingPlace, signal?: AbortSignal): LandingStore {
  if (typeof place === 'string') return new FolderStore(place)
  const { folder, bucket } = place
  return bucket ? new BucketStore(new Bucket(bucket, signal), dirname(folder)) : new FolderStore(folder)
}

export const openLanding = (
  place: string | LandingPlace | LandingStore,
  options: LandingOptions = {},
): Landing => new Landing(typeof place === 'object' && 'where' in place ? place : openStore(place), options)
