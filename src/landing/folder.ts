/** Landed pages: a folder for each scan, a file for each page, written completely or not at all. */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DiskFull, MusterError } from '../lib/errors.ts'
import type { StoredPage } from '../lib/stored-page.ts'
import { requireFree } from '../temporary/free-space.ts'
import type { LandingPlace } from './bucket/place.ts'
import { pagesJournalOf, scanSum, scansJournal, sumOf } from './journal.ts'
import { openStore } from './open-store.ts'
import {
  factsName,
  type PageFacts,
  pageFacts,
  pageFileName,
  readFacts,
  type ScanFacts,
} from './scan-facts.ts'
import type { LandingStore, Stored } from './store.ts'

export interface LandedPage extends StoredPage, PageFacts {
  readonly bytes: number
}

/** The last five: the folder is gone, or something else than a file or a folder is in the place of one. */
const unwritable = ['EACCES', 'EROFS', 'EPERM', 'ENXIO', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENOENT']

function writeError(folder: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new DiskFull({
      what: 'the disk is full',
      where: folder,
      next: 'free some space and run the command again; everything read so far is kept',
      cause: error,
    })
  }
  if (unwritable.includes(String(code))) {
    return new MusterError({
      what: 'pages cannot be written',
      where: folder,
      next: 'check that the folder is there and may be written, or set landing to another one',
      cause: error,
    })
  }
  return error
}

export interface Arrived extends PageFacts {
  readonly bytes: Buffer
}

/** The landing of one warehouse. */
export interface Landing {
  readonly store: LandingStore
  /** Starts the folder of a scan, or finds it. */
  begin(scanId: string, facts: ScanFacts): Promise<void>
  land(scanId: string, arrived: Arrived): Promise<LandedPage>
  /** Pages of a scan in the order of arrival; their files can be read. */
  pages(scanId: string): Promise<LandedPage[]>
  /** Throws SyntaxError when they cannot be read. */
  facts(scanId: string): Promise<ScanFacts>
  /** Whether a scan has pages as files. */
  has(scanId: string): Promise<boolean>
  /** Scans that have pages as files, oldest first. */
  scans(): Promise<string[]>
  forget(page: LandedPage): Promise<void>
  discard(scanId: string): Promise<void>
}

function parsePage(folder: string, { name, bytes }: Stored): LandedPage[] {
  const facts = pageFacts(name)
  return facts ? [{ file: join(folder, name), bytes, ...facts }] : []
}

/** What of a page may be stored. */
export type Scrub = (bytes: Buffer, facts: ScanFacts) => Buffer

export interface LandingOptions {
  readonly scrub?: Scrub
  /** With fewer bytes free than this, no page is landed. */
  readonly reserve?: number
}

class StoredLanding implements Landing {
  readonly store: LandingStore
  readonly #scrub: Scrub
  readonly #reserve: number
  /** Of scans that this process has begun. */
  readonly #begun = new Map<string, ScanFacts>()

  constructor(store: LandingStore, { scrub = bytes => bytes, reserve = 0 }: LandingOptions) {
    this.store = store
    this.#scrub = scrub
    this.#reserve = reserve
  }

  async begin(scanId: string, facts: ScanFacts): Promise<void> {
    try {
      await this.#begin(scanId, facts)
    } catch (error) {
      // A folder without its facts is not a scan and would never be read or removed. Where it cannot be removed, the reason is that
      // of the first error.
      if (!(await this.has(scanId))) await this.discard(scanId).catch(() => undefined)
      throw writeError(this.store.where, error)
    }
  }

  async #begin(scanId: string, facts: ScanFacts): Promise<void> {
    const isNew = (await this.store.list(scanId)).length === 0
    await this.store.begin(scanId)
    const bytes = Buffer.from(JSON.stringify({ scan: scanId, ...facts }))
    await this.store.put(`${scanId}/${factsName}`, bytes)
    await this.store.note(pagesJournalOf(scanId), sumOf(factsName, bytes))
    if (isNew) await this.store.note(scansJournal, scanSum(scanId))
    this.#begun.set(scanId, facts)
  }

  async land(scanId: string, { bytes: arrived, ...facts }: Arrived): Promise<LandedPage> {
    const { store } = this
    const bytes = this.#scrub(arrived, this.#begun.get(scanId) ?? (await this.facts(scanId)))
    const name = pageFileName(facts)
    try {
      if (this.#reserve > 0) requireFree(store.root, this.#reserve)
      await store.put(`${scanId}/${name}`, bytes)
      await store.note(pagesJournalOf(scanId), sumOf(name, bytes))
    } catch (error) {
      throw writeError(store.where, error)
    }
    return { file: join(store.root, scanId, name), bytes: bytes.length, ...facts }
  }

  async pages(scanId: string): Promise<LandedPage[]> {
    const files = await this.store.list(scanId)
    const folder = join(this.store.root, scanId)
    const pages = files.flatMap(file => parsePage(folder, file))
    const names = new Set(pages.map(({ file }) => basename(file)))
    await this.store.bring(
      scanId,
      files.filter(({ name }) => names.has(name)),
    )
    // One that went meanwhile was not brought.
    return pages.filter(({ file }) => existsSync(file))
  }

  facts(scanId: string): Promise<ScanFacts> {
    return readFacts(this.store, scanId)
  }

  async has(scanId: string): Promise<boolean> {
    return this.store.has(`${scanId}/${factsName}`)
  }

  /** Scan ids begin with the instant of their run, so their order is the order of time. */
  async scans(): Promise<string[]> {
    const found: string[] = []
    for (const name of await this.store.folders())
      if (!name.includes('.archive') && (await this.has(name))) found.push(name)
    return found.sort()
  }

  async forget({ file }: LandedPage): Promise<void> {
    const scanId = basename(dirname(file))
    await this.store.noteGone(pagesJournalOf(scanId), basename(file))
    await this.store.remove(`${scanId}/${basename(file)}`)
  }

  async discard(scanId: string): Promise<void> {
    this.#begun.delete(scanId)
    if ((await this.store.list(scanId)).length > 0) await this.store.noteGone(scansJournal, scanId)
    await this.store.remove(scanId)
  }
}

export const openLanding = (
  place: string | LandingPlace | LandingStore,
  options: LandingOptions = {},
): Landing =>
  new StoredLanding(typeof place === 'object' && 'where' in place ? place : openStore(place), options)
