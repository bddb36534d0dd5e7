/** Landed pages: a folder for each scan, a file for each page, written completely or not at all. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { encryptedEnd, type StoredPage } from '../lib/encryption/stored-page.ts'
import { DiskFull, MusterError } from '../lib/errors.ts'
import { requireFree } from '../temporary/free-space.ts'
import { decryptWith, type LandingKeys, noteKey, requireKey } from './encryption.ts'
import { recordFile, recordGone, recordScan, recordScanGone } from './journal.ts'

/** The request of a scan; written once, beside its pages. */
export interface ScanFacts {
  readonly resource: string
  /** Scope columns that the request stands for, such as company_id. */
  readonly scope: Readonly<Record<string, string>>
  /** For a snapshot: the rows of the warehouse that it replaces, as conditions by column. */
  readonly extent?: Readonly<Record<string, string>>
  /** Whether each page is one record, read by its id. */
  readonly isById?: boolean
}

export interface LandedPage extends StoredPage {
  readonly bytes: number
  /** Order of arrival within the scan, from 1. */
  readonly sequence: number
  /** Page number that was asked for. */
  readonly page: number
  /** ISO 8601. */
  readonly fetchedAt: string
  readonly runId: string
}

/** The name has sequence, page, instant and run, so that one rename publishes the page with its facts. */
const namePattern = /^(\d{6})_(\d+)_(\d{8}T\d{9}Z)_([\w-]+)\.json(\.enc)?$/

const compact = (iso: string): string => iso.replace(/[-:.]/g, '')

function expand(instant: string): string {
  return instant.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, '$1-$2-$3T$4:$5:$6.$7Z')
}

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
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new MusterError({
      what: 'pages cannot be written',
      where: folder,
      next: 'check the permissions of the folder, or set landing to another one',
      cause: error,
    })
  }
  return error
}

export interface Arrived {
  readonly sequence: number
  readonly page: number
  readonly fetchedAt: string
  readonly runId: string
  readonly bytes: Buffer
}

/** The landing of one warehouse. */
export interface Landing {
  readonly root: string
  /** Pages are encrypted with them; without them, pages are stored as they came. */
  readonly keys: LandingKeys | undefined
  /** Starts the folder of a scan, or finds it. */
  begin(scanId: string, facts: ScanFacts): void
  land(scanId: string, arrived: Arrived): Promise<LandedPage>
  /** Pages of a scan in the order of arrival. */
  pages(scanId: string): LandedPage[]
  /** Throws SyntaxError when they cannot be read. */
  facts(scanId: string): ScanFacts
  /** Scans that have pages as files, oldest first. */
  scans(): string[]
  forget(page: LandedPage): void
  discard(scanId: string): void
}

function parsePage(folder: string, name: string, decrypt: StoredPage['decrypt']): LandedPage[] {
  const [, sequence, page, instant, runId] = namePattern.exec(name) ?? []
  if (!sequence || !page || !instant || !runId) return []
  const file = join(folder, name)
  return [
    {
      file,
      bytes: statSync(file).size,
      sequence: Number(sequence),
      page: Number(page),
      fetchedAt: expand(instant),
      runId,
      ...(name.endsWith(encryptedEnd) && { decrypt }),
    },
  ]
}

function beginScan(root: string, scanId: string, facts: ScanFacts): void {
  const folder = join(root, scanId)
  const isNew = !existsSync(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Half-written pages of a process that was killed; whoever begins a scan is its only writer.
  for (const name of readdirSync(folder).filter(name => name.endsWith('.part')))
    rmSync(join(folder, name), { force: true })
  const file = join(folder, 'scan.json')
  const bytes = Buffer.from(JSON.stringify(facts))
  writeFileSync(`${file}.part`, bytes, { mode: 0o600 })
  renameSync(`${file}.part`, file)
  recordFile(folder, basename(file), bytes)
  if (isNew) recordScan(root, scanId)
}

const isTexts = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(one => typeof one === 'string')

function isFacts(json: unknown): json is ScanFacts {
  const { resource, scope, extent, isById = false } = Object(json) as Partial<ScanFacts>
  const isKnown = typeof resource === 'string' && typeof isById === 'boolean'
  return isKnown && isTexts(scope) && (extent === undefined || isTexts(extent))
}

/** Throws SyntaxError. */
function readFacts(file: string): ScanFacts {
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (isFacts(json)) return json
  throw new SyntaxError(`${file} has no facts of a scan`)
}

/** Where a folder of pages keeps its facts; undefined when it has none. Folders made before this release have the second name. */
export function factsFile(folder: string): string | undefined {
  return ['scan.json', 'walk.json'].map(name => join(folder, name)).find(file => existsSync(file))
}

/** Scan ids begin with the instant of their run, so their order is the order of time. */
function scanFolders(root: string): string[] {
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.includes('.archive'))
    .filter(entry => factsFile(join(root, entry.name)) !== undefined)
    .map(entry => entry.name)
    .sort()
}

function fileName(
  { sequence, page, fetchedAt, runId }: Omit<Arrived, 'bytes'>,
  keys: LandingKeys | undefined,
): string {
  const facts = `${String(sequence).padStart(6, '0')}_${page}_${compact(fetchedAt)}_${runId}`
  return `${facts}.json${keys ? encryptedEnd : ''}`
}

async function writePage(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(`${file}.part`, bytes, { mode: 0o600 })
    await rename(`${file}.part`, file)
    recordFile(dirname(file), basename(file), bytes)
  } catch (error) {
    rmSync(`${file}.part`, { force: true })
    throw error
  }
}

/** What of a page may be stored. */
export type Scrub = (bytes: Buffer, facts: ScanFacts) => Buffer

export interface LandingOptions {
  readonly scrub?: Scrub
  /** With fewer bytes free than this, no page is landed. */
  readonly reserve?: number
  readonly keys?: LandingKeys | undefined
}

/** Throws ConfigError where pages are encrypted with a key that is not among `keys`. */
export function openLanding(root: string, options: LandingOptions = {}): Landing {
  const { scrub = (bytes: Buffer) => bytes, reserve = 0, keys } = options
  requireKey(root, keys)
  const decrypt = decryptWith(keys)
  const folderOf = (scanId: string): string => join(root, scanId)
  const discard = (scanId: string): void => {
    if (!existsSync(folderOf(scanId))) return
    recordScanGone(root, scanId)
    rmSync(folderOf(scanId), { recursive: true, force: true })
  }
  return {
    root,
    keys,
    begin(scanId, facts) {
      try {
        beginScan(root, scanId, facts)
        if (keys) noteKey(root, keys)
      } catch (error) {
        // A folder without its facts is not a scan and would never be read or removed.
        if (!factsFile(folderOf(scanId))) discard(scanId)
        throw writeError(root, error)
      }
    },
    async land(scanId, { bytes: arrived, ...facts }) {
      const bytes = scrub(arrived, this.facts(scanId))
      const file = join(folderOf(scanId), fileName(facts, keys))
      try {
        if (reserve > 0) requireFree(root, reserve)
        await writePage(file, keys ? keys.encrypt(bytes) : bytes)
      } catch (error) {
        throw writeError(root, error)
      }
      return { file, bytes: bytes.length, ...facts, ...(keys && { decrypt }) }
    },
    pages(scanId) {
      const names = readdirSync(folderOf(scanId)).sort()
      return names.flatMap(name => parsePage(folderOf(scanId), name, decrypt))
    },
    facts(scanId) {
      const file = factsFile(folderOf(scanId)) ?? join(folderOf(scanId), 'scan.json')
      return readFacts(file)
    },
    scans: () => scanFolders(root),
    forget({ file }) {
      recordGone(dirname(file), basename(file))
      rmSync(file, { force: true })
    },
    discard,
  }
}
