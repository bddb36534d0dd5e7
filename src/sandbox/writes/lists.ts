/**
 * Declares the lists of valid values for fields and documents of a worker. The contract names the lists but shows no path to
 * read them, so they are data of the sandbox, and a refusal quotes a few values of the list.
 */
import { createHash } from 'node:crypto'
import { countries as world } from 'countries-list'
import { trades } from '../data/names.ts'

const byName = Object.values(world).sort((left, right) => (left.name < right.name ? -1 : 1))

/** Countries that are valid as a nationality. */
export const countries: readonly string[] = byName.map(({ name }) => name)
export const telephoneCodes: readonly string[] = [
  ...new Set(byName.flatMap(({ phone }) => phone.map(code => `+${code}`))),
]

export const genders: readonly string[] = ['Male', 'Female', 'Non-binary', 'Prefer not to say']

interface MasterTrade {
  readonly id: string
  readonly name: string
}

export const masterTrades: readonly MasterTrade[] = trades.map(({ name }) =>
  Object.freeze({ id: listId('master trade', name), name }),
)

/** An id of the service's form (24 hex digits) that is the same in every sandbox. */
function listId(list: string, name: string): string {
  return createHash('sha256').update(`${list} ${name}`).digest('hex').slice(0, 24)
}

const shownValues = 3

/** `valid are A, B, C and 12 more` */
export function fewOf(values: readonly string[]): string {
  const rest = values.length - shownValues
  return `valid are ${values.slice(0, shownValues).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** The list of a worker that contains a document. */
export type DocumentCollection = 'attachments' | 'rightToWork'

/** A kind of document: where it belongs, whether it expires and how many files it needs. */
export interface Qualification {
  readonly id: string
  readonly name: string
  readonly documentCollection: DocumentCollection
  /** `none`: valid for ever, a date is refused. */
  readonly expiry: 'required' | 'optional' | 'none'
  readonly minimumFiles: number
  /** Visible only to the agency that added it. */
  readonly agencySpecific: boolean
  /** The register that a smart check asks. */
  readonly cardScheme?: string
}

interface QualificationTraits extends Partial<Omit<Qualification, 'id' | 'name' | 'documentCollection'>> {}

function qualification(
  name: string,
  documentCollection: DocumentCollection,
  traits: QualificationTraits,
): Qualification {
  return {
    id: listId('master qualification', name),
    name,
    documentCollection,
    expiry: 'required',
    minimumFiles: 1,
    agencySpecific: false,
    ...traits,
  }
}

const card = { minimumFiles: 2, expiry: 'required' as const }

export const qualifications: readonly Qualification[] = [
  qualification('Passport', 'rightToWork', {}),
  qualification('Share code check', 'rightToWork', { expiry: 'optional' }),
  qualification('UK birth certificate', 'rightToWork', { expiry: 'none' }),
  qualification('Residence permit', 'rightToWork', { minimumFiles: 2 }),
  qualification('CV', 'attachments', { expiry: 'none', agencySpecific: true }),
  qualification('Driving licence', 'attachments', { minimumFiles: 2 }),
  qualification('Site first aid', 'attachments', {}),
  qualification('Traffic Marshal certificate', 'attachments', { expiry: 'optional' }),
  qualification('CSCS Labourer card', 'attachments', { ...card, cardScheme: 'CSCS' }),
  qualification('CSCS Skilled Worker card', 'attachments', { ...card, cardScheme: 'CSCS' }),
  qualification('CPCS Excavator 360', 'attachments', { ...card, cardScheme: 'CPCS' }),
]

export function qualificationNamed(name: string): Qualification {
  const found = qualifications.find(one => one.name === name)
  if (!found) throw new Error(`the sandbox has no qualification ${name}`)
  return found
}

/** For developers who work against the sandbox. */
export const allLists = { genders, countries, telephoneCodes, masterTrades, qualifications }
