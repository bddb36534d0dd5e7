/**
 * Stores the workers of the sandbox: those that generated timesheets name, and those created since. Finds and matches them,
 * and makes the answer to a write.
 */
import * as z from 'zod'
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import { defined, iso, partId, type Ref, reference } from '../data/identity.ts'
import { cities } from '../data/names.ts'
import { inputSchema, type NamedSchema } from '../declare/schemas.ts'
import { shortId } from '../record.ts'
import type { World } from '../world.ts'
import type { WorkerPerson } from './body.ts'
import {
  type DocumentCollection,
  genders,
  masterTrades,
  type Qualification,
  qualificationNamed,
} from './lists.ts'
import { FileStore, Uploads } from './storage.ts'

const dateTime = z.string().meta({ format: 'date-time' })

const storedFile = z.strictObject({
  fileName: z.string(),
  url: z.string().meta({ format: 'uri' }),
  docType: z.string().optional(),
})
export type DocumentFile = z.infer<typeof storedFile>

const verification = z
  .strictObject({
    verified: z.boolean(),
    cardTypeName: z.string(),
    serial: z.string(),
    customerName: z.string(),
    documentNumber: z.string(),
    photoType: z.string(),
    expiry: z.string().meta({ format: 'date' }),
    occupationQualifications: z.array(z.strictObject({ qual: z.string() })),
    lastVerifiedAt: dateTime,
  })
  .describe('What a smart check of the card found.')
export type DocumentVerification = z.infer<typeof verification>

export interface WorkerDocument {
  readonly id: string
  readonly qualification: Qualification
  readonly documentNumber?: string
  /** YYYY-MM-DD */
  readonly expiration?: string
  readonly createdAt: string
  readonly files: readonly DocumentFile[]
  readonly verification?: DocumentVerification
  /** Once validated a document is locked. */
  readonly validatedBy?: 'system' | 'company' | 'smart check'
  /** It waits for manual verification and is locked until then. */
  readonly isPending?: boolean
  /** Of an agency-specific document: the agency that added it. */
  readonly agency?: string
}

/** A worker as one agency represents it. */
interface Representation {
  /** The agency's own identifier, unique within the agency. */
  readonly agencyId: string
  readonly active: boolean
}

export interface Worker {
  readonly id: string
  readonly reference: string
  readonly person: WorkerPerson
  /** Representations by agency. */
  readonly agencies: ReadonlyMap<string, Representation>
  readonly documents: readonly WorkerDocument[]
  readonly createdAt: string
  readonly updatedAt: string
}

const shownDocument = z.strictObject({
  id: z.string(),
  type: z.enum(['attachment', 'rightToWork']),
  documentType: z.string(),
  documentNumber: z.string().optional(),
  expiration: dateTime.optional(),
  indefinite: z.boolean(),
  createdAt: dateTime,
  files: z.array(storedFile),
  verification: verification.optional(),
})

const shownWorker = z.strictObject({
  id: z.string(),
  reference: z.string(),
  attachments: z.array(shownDocument),
  rightToWork: z.array(shownDocument),
})

export const createdWorker: NamedSchema = {
  name: 'CreatedWorker',
  schema: inputSchema(shownWorker.extend({ createdAt: dateTime })),
}

export const updatedWorker: NamedSchema = {
  name: 'UpdatedWorker',
  schema: inputSchema(shownWorker.extend({ updatedAt: dateTime })),
}

/** The answer to a write by `agency`: its own documents and those that belong to no agency alone. */
export function writeResult(worker: Worker, agency: string): z.infer<typeof shownWorker> {
  const seen = worker.documents.filter(document => (document.agency ?? agency) === agency)
  const of = (collection: DocumentCollection) =>
    seen.filter(({ qualification }) => qualification.documentCollection === collection).map(shown)
  return {
    id: worker.id,
    reference: worker.reference,
    attachments: of('attachments'),
    rightToWork: of('rightToWork'),
  }
}

function shown(document: WorkerDocument): z.infer<typeof shownDocument> {
  const { id, qualification, documentNumber, expiration, createdAt, files, verification } = document
  return defined({
    id,
    type: qualification.documentCollection === 'rightToWork' ? 'rightToWork' : 'attachment',
    documentType: qualification.name,
    documentNumber,
    expiration: expiration && iso(Date.parse(expiration)),
    indefinite: expiration === undefined,
    createdAt,
    files: [...files],
    verification,
  })
}

export class WorkerBook {
  readonly #world: World
  readonly #seed: number
  readonly #files: FileStore
  readonly #draw: Draw
  readonly #workers = new Map<string, Worker>()
  #isFilled = false
  #lastNumber = 0

  constructor(world: World, seed: number, files: FileStore) {
    this.#world = world
    this.#seed = seed
    this.#files = files
    this.#draw = new Draw(namedRng(seed, 'written workers'))
  }

  all(): Iterable<Worker> {
    return this.#filled().values()
  }

  /** Finds a worker by id or short id, if the agency represents that worker. */
  find(id: string, agency: string): Worker | undefined {
    const workers = this.#filled()
    const found = workers.get(id) ?? [...workers.values()].find(worker => shortId(worker.id) === id)
    return found?.agencies.has(agency) ? found : undefined
  }

  hasMatch(person: WorkerPerson): boolean {
    return [...this.#filled().values()].some(worker => isMatch(worker.person, person))
  }

  /** The first of the four unique fields that another worker has. */
  conflict(worker: Worker, agency: string): string | undefined {
    const { person, agencies } = worker
    const agencyId = agencies.get(agency)?.agencyId
    for (const other of this.#filled().values()) {
      if (other.id === worker.id) continue
      for (const field of ['nationalIns', 'passportNo', 'email'] as const) {
        if (isSame(other.person[field], person[field])) return field
      }
      if (isSame(other.agencies.get(agency)?.agencyId, agencyId)) return 'agencyId'
    }
    return undefined
  }

  save(worker: Worker): void {
    this.#filled().set(worker.id, worker)
  }

  newId(nowMs: number): string {
    return this.#draw.id(nowMs)
  }

  newReference(): string {
    this.#filled()
    this.#lastNumber += 1
    return reference('WRK', this.#lastNumber)
  }

  /** Filled on first use: a client that only reads does not wait for it. */
  #filled(): Map<string, Worker> {
    if (this.#isFilled) return this.#workers
    this.#isFilled = true
    const scan = this.#files.keep(Buffer.from('%PDF-1.4\n%%EOF\n'), 'application/pdf')
    for (const seen of this.#seen().values()) {
      const { id } = seen.ref
      this.#lastNumber = Math.max(this.#lastNumber, seen.number)
      const draw = new Draw(namedRng(this.#seed, `worker ${id}`))
      this.#workers.set(id, inventedWorker({ ...seen, draw, scan, createdAt: createdAt(id) }))
    }
    return this.#workers
  }

  #seen(): Map<string, SeenWorker> {
    const seen = new Map<string, SeenWorker>()
    for (const record of this.#world.all('timesheets')) {
      const { worker, agency, workerReference } = record as TimesheetRefs
      if (!worker || !agency) continue
      const number = Number(/\d+$/.exec(workerReference ?? '')?.[0] ?? seen.size + 1)
      const known = seen.get(worker.id) ?? { ref: worker, number, agencies: new Set<string>() }
      known.agencies.add(agency.id)
      seen.set(worker.id, known)
    }
    return seen
  }
}

interface TimesheetRefs {
  readonly worker?: Ref
  readonly agency?: Ref
  readonly workerReference?: string
}

interface SeenWorker {
  readonly ref: Ref
  /** The number in its reference. */
  readonly number: number
  readonly agencies: Set<string>
}

/** The first eight digits of an id are the second of its creation; ids of another form get a fixed date. */
function createdAt(id: string): string {
  return /^[0-9a-f]{24}$/.test(id)
    ? iso(Number.parseInt(id.slice(0, 8), 16) * 1000)
    : '2025-01-06T09:00:00.000Z'
}

const matchingScore = 4

/** Whether two sets of details belong to one person: by an identity number alone, or by the weighted sum of other matches. */
function isMatch(known: WorkerPerson, given: WorkerPerson): boolean {
  if (isSame(known.nationalIns, given.nationalIns) || isSame(known.passportNo, given.passportNo)) return true
  const weights = [
    isSame(fullName(known), fullName(given)) && 2,
    known.dob === given.dob && 2,
    isSame(known.email, given.email) && 3,
    isSame(digitsOf(known), digitsOf(given)) && 1,
  ]
  return weights.reduce<number>((sum, weight) => sum + Number(weight), 0) >= matchingScore
}

/** Ignores case; two absent values are not the same. */
function isSame(left: string | undefined, right: string | undefined): boolean {
  return left !== undefined && right !== undefined && left.toLowerCase() === right.toLowerCase()
}

function fullName({ firstName, lastName }: WorkerPerson): string {
  return `${firstName} ${lastName}`
}

/** Drops the leading zero of a national number. */
function digitsOf({ countryCode, phone }: WorkerPerson): string {
  return `${countryCode} ${phone.replace(/\D/g, '').replace(/^0/, '')}`
}

interface WorkerContext extends SeenWorker {
  readonly draw: Draw
  readonly createdAt: string
  /** Address of the file that every invented document has. */
  readonly scan: string
}

function inventedWorker(context: WorkerContext): Worker {
  const { draw, ref, number, agencies, createdAt } = context
  return {
    id: ref.id,
    reference: reference('WRK', number),
    person: personOf(draw, ref.name, number),
    agencies: new Map([...agencies].map(agency => [agency, { agencyId: `W${number}`, active: true }])),
    documents: documentsOf(context),
    createdAt,
    updatedAt: createdAt,
  }
}

function personOf(draw: Draw, name: string, number: number): WorkerPerson {
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
function documentsOf({ draw, ref, createdAt, agencies, scan }: WorkerContext): WorkerDocument[] {
  const [agency] = agencies
  const document = (qualification: Qualification, index: number): WorkerDocument => ({
    id: partId(ref.id, index),
    qualification,
    createdAt,
    files: [{ fileName: 'scan.pdf', url: scan }],
    ...(qualification.agencySpecific && agency !== undefined && { agency }),
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

export interface Desk {
  readonly workers: WorkerBook
  readonly files: FileStore
  readonly uploads: Uploads
}

export function openDesk(world: World, seed: number): Desk {
  const files = new FileStore()
  return { files, uploads: new Uploads(), workers: new WorkerBook(world, seed, files) }
}
