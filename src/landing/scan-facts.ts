/** What the request of a scan was, beside its pages. */
import type { LandingStore } from './store.ts'

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

/** Folders made before this release have the second name. */
export const factsNames: readonly string[] = ['scan.json', 'walk.json']

/** Which file of a folder has the facts of its scan; undefined when none has. */
export async function factsFile(store: LandingStore, folder: string): Promise<string | undefined> {
  for (const name of factsNames) if (await store.has(`${folder}/${name}`)) return name
  return undefined
}

/** Throws SyntaxError. */
export async function readFacts(store: LandingStore, folder: string): Promise<ScanFacts> {
  for (const name of factsNames) {
    const bytes = await store.read(`${folder}/${name}`)
    const json: unknown = bytes && JSON.parse(bytes.toString('utf8'))
    if (isFacts(json)) return json
    if (bytes) throw new SyntaxError(`${name} of ${folder} has no facts of a scan`)
  }
  throw new SyntaxError(`${folder} has no facts of a scan`)
}
