/** What is damaged among the landed pages: archives whose files differ from their manifest, and pages that break off. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import type { Landing } from './folder.ts'

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

interface ArchivedFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

const parquetFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.parquet'))
    .sort()

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

export const manifestFile = (folder: string): string => join(folder, manifestName)

/** As JSON; to be written when the archive is complete. */
export function manifestOf(folder: string): string {
  const files = parquetFiles(folder).map((name): ArchivedFile => {
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

function whatOfFile(folder: string, { name, bytes, sha256: wanted }: ArchivedFile, deep: boolean) {
  const file = join(folder, name)
  if (!existsSync(file)) return `${name} is missing`
  if (statSync(file).size !== bytes) return `${name} has not ${bytes} bytes any more`
  if (!isParquet(file)) return `${name} is no Parquet file`
  return deep && sha256(readFileSync(file)) !== wanted ? `${name} is not as it was written` : undefined
}

/** What is wrong with an archive; undefined when nothing is. `deep` reads all of it and compares its checksums. */
export function archiveDamage(folder: string, facts: string | undefined, deep: boolean): string | undefined {
  if (facts === undefined || !parsed(facts)) return `${basename(facts ?? 'scan.json')} cannot be read`
  // Archives of earlier releases have no manifest.
  if (!existsSync(manifestFile(folder))) {
    const bad = parquetFiles(folder).find(name => !isParquet(join(folder, name)))
    return bad === undefined ? undefined : `${bad} is no Parquet file`
  }
  const manifest = parsed<{ files: ArchivedFile[] }>(manifestFile(folder))
  if (!manifest) return `${manifestName} cannot be read`
  for (const file of manifest.files) {
    const what = whatOfFile(folder, file, deep)
    if (what !== undefined) return what
  }
  return undefined
}

/** A page that breaks off, as a crash of the machine may leave it; its last byte closes its envelope. */
export const isCutOff = (file: string): boolean => !/\}\s*$/.test(edgesOf(file, 64).end)

/** Of a scan whose pages are files. */
export function folderDamage(landing: Landing, scan: string): string | undefined {
  const cut = landing.pages(scan).find(({ file }) => isCutOff(file))
  if (cut) return `${basename(cut.file)} breaks off`
  try {
    landing.facts(scan)
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return 'scan.json cannot be read'
    throw error
  }
}
