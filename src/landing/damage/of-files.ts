/** What is damaged among the landed pages: archives whose files differ from their manifest, and pages that break off. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { edgesOf } from '../edges.ts'
import type { LandedPage, Landing } from '../folder.ts'
import { type FileSum, pagesJournal, pagesJournalOf, scansJournal, sha256 } from '../journal.ts'
import { manifestName, sumsIn } from '../manifest.ts'
import { factsName, readFacts } from '../scan-facts.ts'
import type { Edges, LandingStore, Stored } from '../store.ts'
import { readable } from './damaged.ts'

/** A folder with the files that it has. */
interface Listed {
  readonly store: LandingStore
  readonly folder: string
  readonly files: readonly Stored[]
}

const listed = async (store: LandingStore, folder: string): Promise<Listed> => ({
  store,
  folder,
  files: await store.list(folder),
})

/** A Parquet file begins and ends with these letters. */
async function isParquet({ store, folder }: Listed, { name, bytes }: Stored): Promise<boolean> {
  if (bytes <= 12) return false
  const { start, end } = await store.edges(`${folder}/${name}`, 4)
  return start === 'PAR1' && end === 'PAR1'
}

async function differenceOf(
  among: Listed,
  { name, bytes, sha256: wanted }: FileSum,
  deep: boolean,
): Promise<string | undefined> {
  const file = among.files.find(one => one.name === name)
  if (!file) return `${name} is missing`
  if (file.bytes !== bytes) return `${name} has not ${bytes} bytes any more`
  if (name.endsWith('.parquet') && !(await isParquet(among, file))) return `${name} is no Parquet file`
  if (!deep) return undefined
  const content = await among.store.read(`${among.folder}/${name}`)
  return content && sha256(content) === wanted ? undefined : `${name} is not as it was written`
}

const whatOfFile = (among: Listed, sum: FileSum, deep: boolean): Promise<string | undefined> =>
  readable(sum.name, () => differenceOf(among, sum, deep))

/** Whether the journal of the landing has the scan: then all files that tell of it have to be there. */
const isRecorded = async (store: LandingStore, scan: string): Promise<boolean> =>
  (await store.sums(scansJournal))?.kept.has(scan) ?? false

async function firstDamage(
  sums: readonly FileSum[],
  whatOf: (sum: FileSum) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const sum of sums) {
    const what = await whatOf(sum)
    if (what !== undefined) return what
  }
  return undefined
}

/** Archives of earlier releases have no manifest. */
async function whatWithoutManifest(archive: Listed): Promise<string | undefined> {
  if (await isRecorded(archive.store, basename(archive.folder, '.archive')))
    return `${manifestName} is missing`
  for (const file of archive.files.filter(({ name }) => name.endsWith('.parquet')))
    if (!(await isParquet(archive, file))) return `${file.name} is no Parquet file`
  return undefined
}

/** Folders that changed places, or one that is there twice, are as they were written: only their facts tell whose they are. */
async function whatOfFacts(store: LandingStore, folder: string, scan: string): Promise<string | undefined> {
  try {
    const { scan: own = scan } = await readFacts(store, folder)
    return own === scan ? undefined : `${factsName} is that of ${own}`
  } catch (error) {
    if (error instanceof SyntaxError) return `${factsName} cannot be read`
    throw error
  }
}

/** What is wrong with an archive; undefined when nothing is. `deep` reads all of it and compares its checksums. */
export const archiveDamage = (
  store: LandingStore,
  folder: string,
  deep: boolean,
): Promise<string | undefined> => readable(folder, () => whatOfArchive(store, folder, deep))

async function whatOfArchive(
  store: LandingStore,
  folder: string,
  deep: boolean,
): Promise<string | undefined> {
  const unreadable = await whatOfFacts(store, folder, basename(folder, '.archive'))
  if (unreadable !== undefined) return unreadable
  const archive = await listed(store, folder)
  if (!archive.files.some(({ name }) => name === manifestName)) return whatWithoutManifest(archive)
  const sums = await sumsIn(store, folder)
  if (!sums) return `${manifestName} cannot be read`
  return firstDamage(sums, sum => whatOfFile(archive, sum, deep))
}

/** A page that breaks off, as a crash of the machine may leave it; its last byte closes its envelope. */
const isCutOff = ({ end }: Edges): boolean => !/\}\s*$/.test(end)

/** One of its records may be no JSON. */
const isEnvelope = (bytes: Buffer): boolean =>
  /^\s*\{/.test(bytes.toString('latin1', 0, 64)) && bytes.includes('"data"')

/** The same of the bytes of a page, which no journal has. */
export function whatOfBytes(name: string, bytes: Buffer): string | undefined {
  if (isCutOff({ start: '', end: bytes.toString('latin1', Math.max(0, bytes.length - 64)) }))
    return `${name} breaks off`
  return isEnvelope(bytes) ? undefined : `${name} cannot be read`
}

function whatOfPage({ file }: LandedPage, deep: boolean): string | undefined {
  if (isCutOff(edgesOf(file, 64))) return `${basename(file)} breaks off`
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
export async function checkedPages(landing: Landing, scan: string, deep: boolean): Promise<CheckedPages> {
  const { store } = landing
  const journal = await store.sums(pagesJournalOf(scan))
  const damaged: string[] = []
  if (journal?.isDamaged) damaged.push(`${pagesJournal} cannot be read`)
  if (!journal && (await isRecorded(store, scan))) damaged.push(`${pagesJournal} is missing`)
  const kept = journal?.kept ?? new Map<string, FileSum>()
  const landed = await landing.pages(scan)
  const among = await listed(store, scan)
  const bad = new Set<string>()
  for (const sum of kept.values()) {
    const what = await whatOfFile(among, sum, deep)
    if (what === undefined) continue
    bad.add(sum.name)
    damaged.push(what)
  }
  const pages: LandedPage[] = []
  for (const page of landed) {
    const name = basename(page.file)
    const what = kept.has(name) ? undefined : await readable(name, () => whatOfPage(page, deep))
    if (what !== undefined) damaged.push(what)
    else if (!bad.has(name)) pages.push(page)
  }
  return { pages, damaged }
}

/** Why nothing of a scan can be replayed. */
export async function factsDamage({ store }: Landing, scan: string): Promise<string | undefined> {
  const sum = (await store.sums(pagesJournalOf(scan)))?.kept.get(factsName)
  const changed = sum && (await whatOfFile(await listed(store, scan), sum, true))
  return changed ?? whatOfFacts(store, scan, scan)
}

/** Of a scan whose pages are files. */
export const folderDamage = (landing: Landing, scan: string, deep = true): Promise<string | undefined> =>
  readable(
    scan,
    async () => (await factsDamage(landing, scan)) ?? (await checkedPages(landing, scan, deep)).damaged[0],
  )
