/** The details, identity and documents of a generated worker, which its timesheets do not show; the same for the same seed. */
import type { Draw } from '../data/draw.ts'
import { partId, type Ref, reference } from '../data/identity.ts'
import { cities } from '../data/names.ts'
import type { Person } from './body.ts'
import { genders, masterTrades, type Qualification, qualificationNamed } from './lists.ts'
import type { Worker, WorkerDocument } from './worker.ts'

interface Circumstances {
  readonly draw: Draw
  /** Of the worker's reference. */
  readonly number: number
  readonly agencies: readonly string[]
  readonly createdAt: string
  /** Address of the file that every invented document has. */
  readonly scan: string
}

export function inventedWorker({ id, name }: Ref, circumstances: Circumstances): Worker {
  const { draw, number, agencies } = circumstances
  const person = personOf(draw, name, number)
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

function personOf(draw: Draw, name: string, number: number): Person {
  const [firstName = name, ...rest] = name.split(' ')
  const lastName = rest.join(' ') || firstName
  const [city, code] = draw.pick(cities)
  return {
    firstName,
    lastName,
    dob: `${draw.between(1962, 2004)}-${draw.pick(['02', '05', '07', '11'])}-${draw.between(10, 28)}`,
    email: `${firstName}.${lastName}.${number}@worker.example.com`.toLowerCase(),
    phone: `7${draw.digits(9)}`,
    countryCode: '+44',
    gender: draw.pick(genders),
    nationality: 'United Kingdom',
    nationalIns: `${draw.pick(['AB', 'CE', 'JG', 'PK', 'SX'])}${String(number).padStart(6, '0')}${draw.pick(['A', 'B', 'C', 'D'])}`,
    address: {
      lineOne: `${draw.between(1, 99)} Station Road`,
      city,
      country: 'United Kingdom',
      code: `${code} 1AA`,
    },
    trades: [draw.pick(masterTrades).id],
  }
}

/** A passport that a company validated, a certificate that waits for review in one case of three, and the agency's CV. */
function documentsOf(workerId: string, circumstances: Circumstances): WorkerDocument[] {
  const { draw, createdAt, agencies, scan } = circumstances
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
      documentNumber: draw.digits(9),
      expiration: '2031-06-30',
      validatedBy: 'company',
    },
    {
      ...document(qualificationNamed('Site first aid'), 1),
      expiration: '2027-03-31',
      isPending: draw.chance(1 / 3),
    },
    document(qualificationNamed('CV'), 2),
  ]
}
