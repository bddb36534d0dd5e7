/** What is damaged among the landed pages: archives whose files differ from their manifest, and pages that break off. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pageBytes } from '../lib/encryption/stored-page.ts'
import type { LandedPage, Landing } from './folder.ts'
import { type FileSum, pagesJournal, pagesOf, scansJournal, scansOf, sha256 } from './journal.ts'
import { packedFiles } from './packed-pages.ts'

/** A scan that cannot be replayed, or not whole. */
export interface Damage {
  readonly scan: string
  /** With the name of the file. */
  readonly what: string
}

/** Thrown by whoever meets it. */
export class Damaged extends Error {
  readonly damage: Damage

  constructor(scan: string, what: string, cause?: unknown) {
    super(`${scan}: ${what}`, { cause })
    this.name = 'Damaged'
    this.damage = { scan, what }
  }
}

/** Beside the Parquet files of an archive, so that each can be told to be as it was written. */
const manifestName = 'manifest.json'

export const manifestFile = (folder: string): string => join(folder, manifestName)

/** As JSON; to be written when the archive is complete. */
export function manifestOf(folder: string): string {
  const files = ['scan.json', ...packedFiles(folder)].map((name): FileSum => {
    const bytes = readFileSync(join(folder, name))
    return { name, bytes: bytes.length, sha256: sha256(bytes) }
  })
  return JSON.stringify({ files })
}

function edgesOf(file: string, length: number): { start: string; end: string; bytes: number } {
  const opened = openSync(file, 'r')
  try {
    const { size } = fstatSync(opened)
    const read = (position: number): string => {
      const room = Buffer.alloc(length)
      return room.toString('latin1', 0, readSync(opened, room, 0, length, Math.max(0, position)))
    }
    return { start: read(0), end: read(size - length), bytes: size }
  } finally {
    closeSync(opened)
  }
}

/** A Parquet file begins and ends with these letters. */
function isParquet(file: string): boolean {
  const { start, end, bytes } = edgesOf(file, 4)
  return bytes > 12 && start === 'PAR1' && end === 'PAR1'
}

function parsed<Json>(file: string): Json | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function whatOfFile(folder: string, { name, bytes, sha256: wanted }: FileSum, deep: boolean) {
  const file = join(folder, name)
  if (!existsSync(file)) return `${name} is missing`
  if (statSync(file).size !== bytes) return `${name} has not ${bytes} bytes any more`
  if (name.endsWith('.parquet') && !isParquet(file)) return `${name} is no Parquet file`
  return deep && sha256(readFileSync(file)) !== wanted ? `${name} is not as it was written` : undefined
}

const isSums = (json: unknown): json is FileSum[] =>
  Array.isArray(json) && json.length > 0 && json.every(one => typeof Object(one).name === 'string')

/** Whether the journal of the landing has the scan: then all files that tell of it have to be there. */
const isRecorded = (folder: string, scan: string): boolean =>
  scansOf(dirname(folder))?.kept.has(scan) ?? false

/** What is wrong with an archive; undefined when nothing is. `deep` reads all of it and compares its checksums. */
export function archiveDamage(folder: string, facts: string | undefined, deep: boolean): string | undefined {
  if (facts === undefined || !parsed(facts)) return `${basename(facts ?? 'scan.json')} cannot be read`
  if (!existsSync(manifestFile(folder))) {
    if (isRecorded(folder, basename(folder, '.archive'))) return `${manifestName} is missing`
    // Archives of earlier releases have none.
    const files = packedFiles(folder).filter(name => name.endsWith('.parquet'))
    const bad = files.find(name => !isParquet(join(folder, name)))
    return bad === undefined ? undefined : `${bad} is no Parquet file`
  }
  const files = parsed<{ files?: unknown }>(manifestFile(folder))?.files
  if (!isSums(files)) return `${manifestName} cannot be read`
  for (const file of files) {
    const what = whatOfFile(folder, file, deep)
    if (what !== undefined) return what
  }
  return undefined
}

/** A page that breaks off, as a crash of the machine may leave it; its last byte closes its envelope. */
const isCutOff = (end: string): boolean => !/\}\s*$/.test(end)

/** One of its records may be no JSON. */
const isEnvelope = (bytes: Buffer): boolean =>
  /^\s*\{/.test(bytes.toString('latin1', 0, 64)) && bytes.includes('"data"')

function whatOfEncrypted(page: LandedPage): string | undefined {
  try {
    return isEnvelope(pageBytes(page)) ? undefined : `${basename(page.file)} cannot be read`
  } catch (error) {
    if (error instanceof SyntaxError) return `${basename(page.file)}: ${error.message}`
    throw error
  }
}

function whatOfPage(page: LandedPage, deep: boolean): string | undefined {
  const { file } = page
  if (page.decrypt) return deep ? whatOfEncrypted(page) : undefined
  if (isCutOff(edgesOf(file, 64).end)) return `${basename(file)} breaks off`
  return deep && !isEnvelope(readFileSync(file)) ? `${basename(file)} cannot be read` : undefined
}

export interface CheckedPages {
  readonly pages: readonly LandedPage[]
  /** What is damaged or missing, a text each. */
  readonly damaged: readonly string[]
}

/**
 * The pages of a scan that are as they were landed. `deep` reads them and compares their checksums; without it their sizes
 * are compared. A page that the journal does not have, as of an earlier release, has to be JSON.
 */
export function checkedPages(landing: Landing, scan: string, deep: boolean): CheckedPages {
  const folder = join(landing.root, scan)
  const journal = pagesOf(folder)
  const damaged: string[] = []
  if (journal?.isDamaged) damaged.push(`${pagesJournal} cannot be read`)
  if (!journal && isRecorded(folder, scan)) damaged.push(`${pagesJournal} is missing`)
  const kept = journal?.kept ?? new Map<string, FileSum>()
  const bad = new Set<string>()
  for (const sum of kept.values()) {
    const what = whatOfFile(folder, sum, deep)
    if (what === undefined) continue
    bad.add(sum.name)
    damaged.push(what)
  }
  const pages = landing.pages(scan).filter(page => {
    const name = basename(page.file)
    const what = kept.has(name) ? undefined : whatOfPage(page, deep)
    if (what !== undefined) damaged.push(what)
    return what === undefined && !bad.has(name)
  })
  return { pages, damaged }
}

/** Why nothing of a scan can be replayed. */
export function factsDamage(landing: Landing, scan: string): string | undefined {
  const sum = pagesOf(join(landing.root, scan))?.kept.get('scan.json')
  const changed = sum && whatOfFile(join(landing.root, scan), sum, true)
  if (changed !== undefined) return changed
  try {
    landing.facts(scan)
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return 'scan.json cannot be read'
    throw error
  }
}

/** Of a scan whose pages are files. */
export const folderDamage = (landing: Landing, scan: string, deep = true): string | undefined =>
  factsDamage(landing, scan) ?? checkedPages(landing, scan, deep).damaged[0]

/** Scans that are gone though nobody has removed them; `found` are those that are there. */
export function missingScans({ root }: Landing, found: readonly string[]): Damage[] {
  const journal = scansOf(root)
  const isOwn = (scan: string): boolean => existsSync(join(root, scan, pagesJournal))
  if (!journal) return found.some(isOwn) ? [{ scan: scansJournal, what: 'it is missing' }] : []
  const gone = [...journal.kept.keys()].filter(scan => !found.includes(scan))
  const damage = gone.map(scan => ({
    scan,
    what: existsSync(join(root, scan)) ? 'scan.json is missing' : 'its folder or archive is missing',
  }))
  return journal.isDamaged ? [{ scan: scansJournal, what: 'it cannot be read' }, ...damage] : damage
}
