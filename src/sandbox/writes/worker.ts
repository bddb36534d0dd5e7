/** The stored form of a worker, and the part of it that answers a write. */
import * as z from 'zod'
import { iso } from '../data/identity.ts'
import { inputSchema, type NamedSchema } from '../declare/json-schema.ts'
import type { Person } from './body.ts'
import type { DocumentCollection, Qualification } from './lists.ts'

const moment = z.string().meta({ format: 'date-time' })

const storedFile = z.strictObject({
  fileName: z.string(),
  url: z.string().meta({ format: 'uri' }),
  docType: z.string().optional(),
})
export type StoredFile = z.infer<typeof storedFile>

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
    lastVerifiedAt: moment,
  })
  .describe('What a smart check of the card found.')
export type Verification = z.infer<typeof verification>

export interface WorkerDocument {
  readonly id: string
  readonly qualification: Qualification
  readonly documentNumber?: string
  /** YYYY-MM-DD */
  readonly expiration?: string
  readonly createdAt: string
  readonly files: readonly StoredFile[]
  readonly verification?: Verification
  /** Once validated a document is locked. */
  readonly validatedBy?: 'system' | 'company' | 'smart check'
  /** It waits for manual verification and is locked until then. */
  readonly isPending?: boolean
  /** Of an agency-specific document: the agency that added it. */
  readonly agency?: string
}

/** A worker as one agency represents it. */
export interface Representation {
  /** The agency's own identifier, unique within the agency. */
  readonly agencyId: string
  readonly active: boolean
}

export interface Worker {
  readonly id: string
  readonly reference: string
  readonly person: Person
  /** By agency. */
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
  expiration: moment.optional(),
  indefinite: z.boolean(),
  createdAt: moment,
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
  schema: inputSchema(shownWorker.extend({ createdAt: moment })),
}

export const updatedWorker: NamedSchema = {
  name: 'UpdatedWorker',
  schema: inputSchema(shownWorker.extend({ updatedAt: moment })),
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
  const { qualification, expiration, documentNumber } = document
  return {
    id: document.id,
    type: qualification.documentCollection === 'rightToWork' ? 'rightToWork' : 'attachment',
    documentType: qualification.name,
    ...(documentNumber === undefined ? {} : { documentNumber }),
    ...(expiration === undefined ? {} : { expiration: iso(Date.parse(expiration)) }),
    indefinite: expiration === undefined,
    createdAt: document.createdAt,
    files: document.files.map(({ fileName, url, docType }) => ({
      fileName,
      url,
      ...(docType === undefined ? {} : { docType }),
    })),
    ...(document.verification ? { verification: document.verification } : {}),
  }
}
