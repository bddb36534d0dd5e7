/** Loads the landed pages of every kept scan into an empty warehouse, without one request. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvelope } from '../../api/client/envelope.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { rowsAt } from '../../contract/fields/resource.ts'
import { keptScans } from '../../landing/archive.ts'
import type { LandingPlace } from '../../landing/bucket/place.ts'
import { Damaged } from '../../landing/damage/damaged.ts'
import { missingScans } from '../../landing/damage/missing-scans.ts'
import { type CheckedPages, checkedPages, factsDamage } from '../../landing/damage/of-files.ts'
import { type LandedPage, type Landing, openLanding } from '../../landing/folder.ts'
import { openStore } from '../../landing/open-store.ts'
import { type Packing, packing } from '../../landing/packed-pages.ts'
import type { ScanFacts } from '../../landing/scan-facts.ts'
import { unpackInto } from '../../landing/unpacked.ts'
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
  /** Scans loaded before this one, and all. */
  readonly done: number
  readonly scans: number
}

/** Total that a landed page tells of its list. Throws MusterError or SyntaxError. */
const totalOf = (landed: LandedPage): number =>
  readEnvelope(pageBytes(landed), { page: landed.page, limit: pageLimit }).meta?.total ?? 0

/** A snapshot that was read several times counts from its last first page, and only when no page of it is missing. */
function completePass(pages: readonly LandedPage[], rows: 'list' | 'object'): readonly LandedPage[] {
  const start = pages.map(({ page }) => page).lastIndexOf(1)
  const pass = start < 0 ? [] : pages.slice(start)
  if (rows === 'object' || pass.length === 0) return pass
  return pass.length === lastPage(totalOf(pass[0] as LandedPage)) ? pass : []
}

/** Only a snapshot has an extent. Throws Damaged. */
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
    throw new Damaged(scan, 'its first page does not tell how many there are', error)
  }
}

/** Throws Damaged. */
function knownScan(scan: string, facts: ScanFacts): KnownScan {
  const resource = findResource(facts.resource)
  if (!resource) throw new Damaged(scan, 'scan.json names no resource that this release knows')
  return { scan, facts, resource }
}

export interface LandedPages {
  /** A text is a folder. */
  readonly root: string | LandingPlace
  /** Of a record. */
  readonly limits: RecordLimits
  /** After it, requests to a bucket end soon. */
  readonly signal?: AbortSignal
}

/** Where archives are unpacked. */
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

  remove(): void {
    this.#folder?.remove()
  }
}

interface Source {
  readonly landing: Landing
  readonly pack: Packing
  readonly unpacking: UnpackingFolder
}

interface CheckedScan {
  readonly facts: ScanFacts
  readonly checked: CheckedPages
}

/** Throws Damaged. */
async function landedScan({ landing }: Source, scan: string): Promise<CheckedScan> {
  const damage = await factsDamage(landing, scan)
  if (damage !== undefined) throw new Damaged(scan, damage)
  return { facts: await landing.facts(scan), checked: await checkedPages(landing, scan, true) }
}

/** Throws Damaged. */
async function archivedScan({ landing, pack }: Source, scan: string, file: string): Promise<CheckedScan> {
  const { facts, ...checked } = await unpackInto(landing, scan, { file, pack })
  return { facts, checked }
}

/** Throws Damaged. */
async function readScan(replaying: Replay, from: Source, scan: string): Promise<ReadyScan | undefined> {
  const { landing, unpacking } = from
  const hadPages = await landing.has(scan)
  const file = hadPages ? undefined : unpacking.fileOf(scan)
  const remove = (): void => {
    if (file !== undefined) rmSync(file, { force: true })
    landing.store.release(scan)
  }
  // Another machine may archive the pages that are read here.
  const isArchivedNow = async (): Promise<boolean> => hadPages && !(await landing.has(scan))
  try {
    const { facts, checked } = await (file === undefined
      ? landedScan(from, scan)
      : archivedScan(from, scan, file))
    const known = knownScan(scan, facts)
    if (checked.damaged.length > 0 && (await isArchivedNow())) throw new Damaged(scan, 'it was archived')
    replaying.scans += 1
    replaying.damaged.push(...checked.damaged.map(what => ({ scan, what })))
    return { ...known, pages: pagesToLoad(checked.pages, known), remove }
  } catch (error) {
    remove()
    if (error instanceof Damaged && (await isArchivedNow())) return readScan(replaying, from, scan)
    throw error
  }
}

/** Undefined for a scan that is left out. */
async function readyScan(replaying: Replay, from: Source, scan: string): Promise<ReadyScan | undefined> {
  try {
    return await readScan(replaying, from, scan)
  } catch (error) {
    noteDamage(replaying, scan, error)
    return undefined
  }
}

type OnProgress = (progress: ReplayProgress) => void | Promise<void>

async function replayAll(replaying: Replay, from: Source, onProgress: OnProgress): Promise<void> {
  const group: ReadyScan[] = []
  const kept = await keptScans(from.landing)
  replaying.damaged.push(...(await missingScans(from.landing, kept)))
  try {
    for (const [index, scan] of kept.entries()) {
      const ready = await readyScan(replaying, from, scan)
      if (!ready) continue
      if (ready.pages.length === 0) {
        ready.remove()
        continue
      }
      if (!belongs(group, ready)) await replayGroup(replaying, group.splice(0))
      group.push(ready)
      await onProgress({ resource: ready.resource.name, done: index, scans: kept.length })
    }
    await replayGroup(replaying, group.splice(0))
  } finally {
    for (const { remove } of group) remove()
  }
}

/** Oldest first; rows carry the times and runs of their pages. `onProgress` is awaited before each scan is loaded. */
export async function replay(
  engine: Engine,
  { root, limits, signal }: LandedPages,
  onProgress: OnProgress,
): Promise<ReplayResult> {
  const store = openStore(root, signal)
  const replaying = new Replay(engine, limits)
  const unpacking = new UnpackingFolder(store.home)
  try {
    const landing = openLanding(store)
    await packing(pack => replayAll(replaying, { landing, pack, unpacking }, onProgress))
  } finally {
    unpacking.remove()
    store.close()
  }
  const { scans, pages, records, quarantined, damaged } = replaying
  return { scans, pages, records, quarantined, damaged }
}
