/** The sandbox's stand-in for the register of a card scheme. */
import { dayMs } from '../../lib/dates.ts'
import { iso } from '../data/identity.ts'
import { mayNameCompany } from '../keys/scope.ts'
import { pathReader } from '../records/record.ts'
import type { World } from '../world.ts'
import type { Person } from './body.ts'
import type { Qualification } from './lists.ts'
import type { Verification } from './worker.ts'

export interface Card {
  readonly qualification: Qualification
  readonly documentNumber: string
  readonly person: Pick<Person, 'firstName' | 'lastName'>
}

const isChecking = pathReader('config.candidateRequirements.cscsVerification')

/** Cards are checked when a company that is connected to the agency asks for it in its configuration. */
export function checksCards(world: World, agency: string): boolean {
  const key = { key: '', kind: 'agency', agencies: [agency] } as const
  return world
    .all('companies')
    .some(company => isChecking(company) === true && mayNameCompany(key, world, String(company.id)))
}

export function isCardNumber(text: string): boolean {
  return /^\d{8}$/.test(text)
}

/** Cards ending in 0 are not on the register, those ending in 9 are withdrawn: neither is confirmed. */
export function askRegister(
  { qualification, documentNumber, person }: Card,
  nowMs: number,
): Verification | undefined {
  if (/[09]$/.test(documentNumber)) return undefined
  const years = 1 + (Number(documentNumber) % 5)
  return {
    verified: true,
    cardTypeName: qualification.name,
    serial: `${qualification.cardScheme}-${documentNumber}`,
    customerName: `${person.firstName} ${person.lastName}`,
    documentNumber,
    photoType: 'image/jpeg',
    expiry: iso(nowMs + years * 365 * dayMs).slice(0, 10),
    occupationQualifications: [{ qual: qualification.name }],
    lastVerifiedAt: iso(nowMs),
  }
}
