/** Loads the landed pages of every stored scan into an empty warehouse, without any request. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvelope } from '../../api/client/envelope.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { rowsAt } from '../../contract/fields/resource.ts'
import { readablePages } from '../../landing/archive.ts'
import { ScanDamaged } from '../../landing/damage.ts'
import { type LandedPage, Landing, openStore } from '../../landing/landing.ts'
import type { ScanRequest } from '../../landing/manifest.ts'
import { type Packing, packing } from '../../landing/packing.ts'
import type { LandingPlace } from '../../landing/store.ts'
import { allFiles, hasChanged, type VerifiedScan, verifyScan, withoutManifest } from '../../landing/verify.ts'
import { ConfigError, MusterError } from '../../lib/errors.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import type { Engine } from '../../warehouse/engine.ts'
import {
  belongs,
  type KnownScan,
  noteDamage,
  type ReadyScan,
  Replay,
  type ReplayResult,
  replayGroup,
} from './replay-group.ts'

export type { ReplayResult } from './replay-group.ts'

export interface ReplayProgress {
  readonly resource: string
  /** Scans loaded so far, and in total. */
  readonly done: number
  readonly scans: number
}

/** The total that a landed page reports. Throws MusterError or SyntaxError. */
const totalOf = (landed: LandedPage): number =>
  readEnvelope(pageBytes(landed), { page: landed.page, limit: pageLimit }).meta?.total ?? 0

/** The last pass of a snapshot that was read several times; none if a page of it is missing. */
function completePass(pages: readonly LandedPage[], rows: 'list' | 'object'): readonly LandedPage[] {
  const start = pages.map(({ page }) => page).lastIndexOf(1)
  const pass = start < 0 ? [] : pages.slice(start)
  if (rows === 'object' || pass.length === 0) return pass
  return pass.length === lastPage(totalOf(pass[0] as LandedPage)) ? pass : []
}

/** Only a snapshot has an extent. Throws ScanDamaged. */
function pagesToLoad(
  pages: readonly LandedPage[],
  { scan, facts, resource }: KnownScan,
): readonly LandedPage[] {
  if (!facts.extent) return pages
  try {
    return completePass(pages, rowsAt(resource) === 'data' ? 'list' : 'object')
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof MusterError || error instanceof SyntaxError))
      throw error
    throw new ScanDamaged(scan, 'its first page does not say how many records there are', error)
  }
}

/** Throws ScanDamaged. */
function knownScan(scan: string, facts: ScanRequest): KnownScan {
  const resource = findResource(facts.resource)
  if (!resource) throw new ScanDamaged(scan, 'its manifest names no resource that this version knows')
  return { scan, facts, resource }
}

export interface LandedPagesSource {
  /** A string is a folder. */
  readonly root: string | LandingPlace
  /** Limits of a record. */
  readonly limits: RecordLimits
  /** Once aborted, requests to a bucket end soon. */
  readonly signal?: AbortSignal
}

/** The temporary folder in which archives are unpacked. */
class UnpackingFolder {
  readonly #home: string
  #folder: Scratch | undefined

  constructor(home: string) {
    this.#home = home
  }

  /** A file for the pages of this scan. */
  fileOf(scan: string): string {
    this.#folder ??= makeScratch(this.#home)
    return join(this.#folder.path, scan)
  }

  removeFile(scan: string): void {
    if (this.#folder) rmSync(join(this.#folder.path, scan), { force: true })
  }

  remove(): void {
    this.#folder?.remove()
  }
}

interface ReplaySource {
  readonly landing: Landing
  readonly pack: Packing
  readonly unpacking: UnpackingFolder
}

/** Undefined for a scan that is left out. */
async function readScan(replaying: Replay, from: ReplaySource, scan: string): Promise<ReadyScan | undefined> {
  const { landing, pack, unpacking } = from
  const remove = (): void => {
    unpacking.removeFile(scan)
    landing.store.release(scan)
  }
  let verified: VerifiedScan | undefined
  try {
    verified = await verifyScan(landing.store, scan)
    if (!verified || verified.manifest.state === 'removed') return undefined
    const known = knownScan(scan, verified.manifest)
    const pages = await readablePages(landing.store, verified, { file: () => unpacking.fileOf(scan), pack })
    replaying.scans += 1
    replaying.damaged.push(...verified.damaged.map(what => ({ scan, what })))
    return { ...known, pages: pagesToLoad(pages, known), remove }
  } catch (error) {
    remove()
    // Another machine may have archived the pages that were read here.
    if (verified && (await hasChanged(landing.store, verified.manifest)))
      return readScan(replaying, from, scan)
    noteDamage(replaying, scan, error)
    return undefined
  }
}

type OnProgress = (progress: ReplayProgress) => void | Promise<void>

/** No scans if the landing cannot be read at all. */
async function scansToReplay(replaying: Replay, { landing }: ReplaySource): Promise<readonly string[]> {
  try {
    const files = await allFiles(landing)
    const scans = await landing.scans()
    replaying.damaged.push(...(await withoutManifest(landing, scans, files)))
    return scans
  } catch (error) {
    noteDamage(replaying, 'landing', error)
    return []
  }
}

async function replayAll(replaying: Replay, from: ReplaySource, onProgress: OnProgress): Promise<void> {
  const group: ReadyScan[] = []
  const scanNames = await scansToReplay(replaying, from)
  try {
    for (const [index, scan] of scanNames.entries()) {
      const ready = await readScan(replaying, from, scan)
      if (!ready) continue
      if (ready.pages.length === 0) {
        ready.remove()
        continue
      }
      if (!belongs(group, ready)) await replayGroup(replaying, group.splice(0))
      group.push(ready)
      await onProgress({ resource: ready.resource.name, done: index, scans: scanNames.length })
    }
    await replayGroup(replaying, group.splice(0))
  } finally {
    for (const { remove } of group) remove()
  }
}

/** Loads the oldest scan first; rows get the times and runs of their pages. Awaits `onProgress` before each scan. */
export async function replay(
  engine: Engine,
  { root, limits, signal }: LandedPagesSource,
  onProgress: OnProgress,
): Promise<ReplayResult> {
  const store = openStore(root, signal)
  const replaying = new Replay(engine, limits)
  const unpacking = new UnpackingFolder(store.home)
  try {
    const landing = new Landing(store)
    await packing(pack => replayAll(replaying, { landing, pack, unpacking }, onProgress))
  } finally {
    unpacking.remove()
    store.close()
  }
  const { scans, pages, records, quarantined, damaged } = replaying
  return { scans, pages, records, quarantined, damaged }
}
