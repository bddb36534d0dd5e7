/** Master qualifications: what a document can be, where it belongs, whether it expires and how many files it has. */
import { listId } from './reference-lists.ts'

export type DocumentCollection = 'attachments' | 'rightToWork'

export interface Qualification {
  readonly id: string
  readonly name: string
  readonly documentCollection: DocumentCollection
  /** `none`: valid for ever, a date is refused. */
  readonly expiry: 'required' | 'optional' | 'none'
  readonly minimumFiles: number
  /** Kept for the agency that added it, hidden from the others. */
  readonly agencySpecific: boolean
  /** The register that a smart check asks. */
  readonly cardScheme?: string
}

interface Traits extends Partial<Omit<Qualification, 'id' | 'name' | 'documentCollection'>> {}

function qualification(name: string, documentCollection: DocumentCollection, traits: Traits): Qualification {
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
