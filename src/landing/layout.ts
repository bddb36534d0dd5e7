/**
 * Names the files of a landing: `manifests/SCAN.json`, pages in `pages/SCAN/` as they arrive, and later in
 * `archives/SCAN/` as Parquet. The name of a page or an archive includes its checksum, so its content never changes.
 */
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'

export interface LandedPageFacts {
  /** Order of arrival within the scan, from 1. */
  readonly sequence: number
  /** Page number in the request. */
  readonly page: number
  /** ISO 8601. */
  readonly fetchedAt: string
  readonly runId: string
}

export const manifestFolder = 'manifests/'
export const pageFolder = 'pages/'
export const archiveFolder = 'archives/'

/** 128 bits of SHA-256 detect accidental damage just as well, and halve the length of the name. */
export const sumOf = (content: Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32)

const pagePattern = /^(\d{6,})_(\d+)_(\d{8}T\d{9}Z)_([\w-]+)_([0-9a-f]{32})\.json$/
const archivePattern = /^\d{6}_([0-9a-f]{32})\.parquet$/

const compact = (iso: string): string => iso.replace(/[-:.]/g, '')

const expand = (instant: string): string =>
  instant.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, '$1-$2-$3T$4:$5:$6.$7Z')

const numbered = (number: number): string => String(number).padStart(6, '0')

export const pageName = ({ sequence, page, fetchedAt, runId }: LandedPageFacts, content: Buffer): string =>
  `${numbered(sequence)}_${page}_${compact(fetchedAt)}_${runId}_${sumOf(content)}.json`

/** The part of a page's name that survives a rewrite. */
export const withoutSum = (name: string): string => name.slice(0, name.lastIndexOf('_'))

/** Undefined when the file is not a page. */
export function pageFacts(name: string): LandedPageFacts | undefined {
  const [, sequence, page, instant, runId] = pagePattern.exec(name) ?? []
  if (!sequence || !page || !instant || !runId) return undefined
  return { sequence: Number(sequence), page: Number(page), fetchedAt: expand(instant), runId }
}

export const archiveName = (index: number, content: Buffer): string =>
  `${numbered(index)}_${sumOf(content)}.parquet`

export const isArchive = (name: string): boolean => archivePattern.test(name)

/** The checksum in the file name. */
export const promisedSum = (name: string): string | undefined =>
  pagePattern.exec(name)?.[5] ?? archivePattern.exec(name)?.[1]

export const manifestKey = (scan: string): string => `${manifestFolder}${scan}.json`

export const fileKey = (scan: string, name: string): string =>
  `${isArchive(name) ? archiveFolder : pageFolder}${scan}/${name}`

/** Start of the scan's day, in milliseconds, from its id: all of its pages are later. */
export function dayOfScan(scan: string): number {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)T\d{9}Z-/.exec(scan) ?? []
  return year ? Date.UTC(Number(year), Number(month) - 1, Number(day)) : 0
}

/** Groups files by scan, from a list of `pages/` or `archives/`. */
export function byScan<File extends { readonly key: string }>(files: readonly File[]): Map<string, File[]> {
  const scans = new Map<string, File[]>()
  for (const file of files) {
    const scan = basename(dirname(file.key))
    const others = scans.get(scan) ?? []
    if (others.length === 0) scans.set(scan, others)
    others.push(file)
  }
  return scans
}
