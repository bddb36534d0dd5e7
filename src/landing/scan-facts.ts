/** What the folder of a scan tells: the request of the scan, and names of pages. */
import type { LandingStore } from './store.ts'

/** The request of a scan; written once, beside its pages. */
export interface ScanFacts {
  /** Whose they are, so that a folder under another name is told; earlier releases did not write it. */
  readonly scan?: string
  readonly resource: string
  /** Scope columns that the request stands for, such as company_id. */
  readonly scope: Readonly<Record<string, string>>
  /** For a snapshot: the rows of the warehouse that it replaces, as conditions by column. */
  readonly extent?: Readonly<Record<string, string>>
  /** Whether each page is one record, read by its id. */
  readonly isById?: boolean
}

const isTexts = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(one => typeof one === 'string')

function isFacts(json: unknown): json is ScanFacts {
  const { scan = '', resource, scope, extent, isById = false } = Object(json) as Partial<ScanFacts>
  const isKnown = typeof scan === 'string' && typeof resource === 'string' && typeof isById === 'boolean'
  return isKnown && isTexts(scope) && (extent === undefined || isTexts(extent))
}

export const factsName = 'scan.json'

/** Throws SyntaxError. */
export async function readFacts(store: LandingStore, folder: string): Promise<ScanFacts> {
  const bytes = await store.read(`${folder}/${factsName}`)
  if (!bytes) throw new SyntaxError(`${folder} has no ${factsName}`)
  const json: unknown = JSON.parse(bytes.toString('utf8'))
  if (isFacts(json)) return json
  throw new SyntaxError(`${factsName} of ${folder} has no facts of a scan`)
}

export interface PageFacts {
  /** Order of arrival within the scan, from 1. */
  readonly sequence: number
  /** Page number that was asked for. */
  readonly page: number
  /** ISO 8601. */
  readonly fetchedAt: string
  readonly runId: string
}

/** The name has sequence, page, instant and run, so that one rename publishes the page with its facts. */
const namePattern = /^(\d{6})_(\d+)_(\d{8}T\d{9}Z)_([\w-]+)\.json$/

const compact = (iso: string): string => iso.replace(/[-:.]/g, '')

function expand(instant: string): string {
  return instant.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, '$1-$2-$3T$4:$5:$6.$7Z')
}

export const isPageName = (name: string): boolean => namePattern.test(name)

/** Undefined for another file. */
export function pageFacts(name: string): PageFacts | undefined {
  const [, sequence, page, instant, runId] = namePattern.exec(name) ?? []
  if (!sequence || !page || !instant || !runId) return undefined
  return { sequence: Number(sequence), page: Number(page), fetchedAt: expand(instant), runId }
}

export const pageFileName = ({ sequence, page, fetchedAt, runId }: PageFacts): string =>
  `${String(sequence).padStart(6, '0')}_${page}_${compact(fetchedAt)}_${runId}.json`
