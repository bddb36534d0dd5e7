/** What a generated worker's timesheets leave out: details, identity and documents, the same for the same seed. */
import type { Rng } from '../../lib/rng.ts'
import { between, chance, digits, pick } from '../data/draw.ts'
import { partId, type Ref, reference } from '../data/identity.ts'
import { cities } from '../data/names.ts'
import { genders, masterTrades, type Qualification, qualificationNamed } from './lists.ts'
import type { Person, Worker, WorkerDocument } from './worker.ts'

interface Circumstances {
  readonly rng: Rng
  /** Of the worker's reference. */
  readonly number: number
  readonly agencies: readonly string[]
  readonly createdAt: string
  /** Address of the file that every invented document has. */
  readonly scan: string
}

export function inventedWorker({ id, name }: Ref, circumstances: Circumstances): Worker {
  const { rng, number, agencies } = circumstances
  const person = personOf(rng, name, number)
  return {
    id,
    reference: reference('WRK', number),
    person,
    agencies: new Map(agencies.map(agency => [agency, { agencyId: `W${number}`, active: true }])),
    documents: documentsOf(id, circumstances),
    createdAt: circumstances.createdAt,
    updatedAt: circumstances.createdAt,
  }
}

function personOf(rng: Rng, name: string, number: number): Person {
  const [firstName = name, ...rest] = name.split(' ')
  const lastName = rest.join(' ') || firstName
  const [city, code] = pick(rng, cities)
  return {
    firstName,
    lastName,
    dob: `${between(rng, 1962, 2004)}-${pick(rng, ['02', '05', '07', '11'])}-${between(rng, 10, 28)}`,
    email: `${firstName}.${lastName}.${number}@worker.example.com`.toLowerCase(),
    phone: `7${digits(rng, 9)}`,
    countryCode: '+44',
    gender: pick(rng, genders),
    nationality: 'United Kingdom',
    nationalIns: `${pick(rng, ['AB', 'CE', 'JG', 'PK', 'SX'])}${String(number).padStart(6, '0')}${pick(rng, ['A', 'B', 'C', 'D'])}`,
    address: {
      lineOne: `${between(rng, 1, 99)} Station Road`,
      city,
      country: 'United Kingdom',
      code: `${code} 1AA`,
    },
    trades: [pick(rng, masterTrades).id],
  }
}

/** A passport that a company vouched for, a certificate that is looked at in one case of three, and the agency's CV. */
function documentsOf(workerId: string, circumstances: Circumstances): WorkerDocument[] {
  const { rng, createdAt, agencies, scan } = circumstances
  const agency = agencies[0] as string
  const document = (qualification: Qualification, index: number): WorkerDocument => ({
    id: partId(workerId, index),
    qualification,
    createdAt,
    files: [{ fileName: 'scan.pdf', url: scan }],
    ...(qualification.agencySpecific ? { agency } : {}),
  })
  return [
    {
      ...document(qualificationNamed('Passport'), 0),
      documentNumber: digits(rng, 9),
      expiration: '2031-06-30',
      validatedBy: 'company',
    },
    {
      ...document(qualificationNamed('Site first aid'), 1),
      expiration: '2027-03-31',
      isPending: chance(rng, 1 / 3),
    },
    document(qualificationNamed('CV'), 2),
  ]
}
