/** The stored form of a worker, and the part of it that answers a write. */

import { iso } from '../data/identity.ts'
import { closed, flag, list, moment, type NamedSchema, text } from '../declare/json-schema.ts'
import type { DocumentCollection, Qualification } from './lists.ts'

export interface StoredFile {
  readonly fileName: string
  readonly docType?: string
  /** Where the sandbox serves the bytes. */
  readonly url: string
}

export interface Verification {
  readonly verified: boolean
  readonly cardTypeName: string
  readonly serial: string
  readonly customerName: string
  readonly documentNumber: string
  readonly photoType: string
  /** YYYY-MM-DD */
  readonly expiry: string
  readonly occupationQualifications: readonly { readonly qual: string }[]
  readonly lastVerifiedAt: string
}

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

export interface Person {
  readonly firstName: string
  readonly lastName: string
  /** YYYY-MM-DD */
  readonly dob: string
  readonly email: string
  readonly phone: string
  readonly countryCode: string
  readonly gender: string
  readonly nationality: string
  /** Both in the form of `plainNumber`. */
  readonly nationalIns?: string
  readonly passportNo?: string
  readonly address: Readonly<Record<string, unknown>>
  readonly trades: readonly string[]
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

const fileSchema = closed(
  { fileName: text, url: { type: 'string', format: 'uri' }, docType: text },
  { required: ['fileName', 'url'] },
)

const verificationSchema = closed(
  {
    verified: flag,
    cardTypeName: text,
    serial: text,
    customerName: text,
    documentNumber: text,
    photoType: text,
    expiry: { type: 'string', format: 'date' },
    occupationQualifications: list(closed({ qual: text })),
    lastVerifiedAt: moment,
  },
  { description: 'What a smart check of the card found.' },
)

const documentSchema = closed(
  {
    id: text,
    type: { type: 'string', enum: ['attachment', 'rightToWork'] },
    documentType: text,
    documentNumber: text,
    expiration: moment,
    indefinite: flag,
    createdAt: moment,
    files: list(fileSchema),
    verification: verificationSchema,
  },
  { required: ['id', 'type', 'documentType', 'indefinite', 'createdAt', 'files'] },
)

const answerSchema = {
  id: text,
  reference: text,
  attachments: list(documentSchema),
  rightToWork: list(documentSchema),
}

export const createdWorker: NamedSchema = {
  name: 'CreatedWorker',
  schema: closed({ ...answerSchema, createdAt: moment }),
}

export const updatedWorker: NamedSchema = {
  name: 'UpdatedWorker',
  schema: closed({ ...answerSchema, updatedAt: moment }),
}

/** The answer to a write by `agency`: its own documents and those that belong to no agency alone. */
export function writeResult(worker: Worker, agency: string) {
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

function shown(document: WorkerDocument) {
  const { qualification, expiration, documentNumber, verification } = document
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
    ...(verification ? { verification } : {}),
  }
}
