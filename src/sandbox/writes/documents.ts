/** Applies the documents of a body, with their files, to those of a worker. Checks all of them before it stores any. */
import { dayMs } from '../../lib/dates.ts'
import { isFileName, readDataUrl, type TypedBytes, typedBytes } from '../../lib/file-kind.ts'
import { iso } from '../data/identity.ts'
import { mayNameCompany } from '../keys/scope.ts'
import { pathReader } from '../record.ts'
import { demand, RequestDeclined } from '../refusals.ts'
import type { World } from '../world.ts'
import type { DocumentInput, FileInput, WorkerPerson } from './body.ts'
import { type DocumentCollection, fewOf, type Qualification, qualifications } from './lists.ts'
import type { Uploads } from './storage.ts'
import type { DocumentFile, DocumentVerification, WorkerDocument } from './worker-book.ts'

/** A document whose new files are not stored yet. */
export type Draft = Omit<WorkerDocument, 'files'> & {
  readonly files: readonly (DocumentFile | CheckedFile)[]
}

export interface DocumentContext extends Omit<FileContext, 'purpose'> {
  /** The person in the resulting record. */
  readonly person: Card['person']
  readonly checksCards: () => boolean
  readonly newId: () => string
  readonly createdAt: string
}

type Inputs = { readonly [collection in DocumentCollection]?: readonly DocumentInput[] | undefined }

interface DocumentPath {
  readonly collection: DocumentCollection
  /** Path of the document in the body. */
  readonly field: string
}

/** All documents after the change; those that the body does not name stay the same. 400 when any part is invalid. */
export function documentsAfter(
  before: readonly WorkerDocument[],
  inputs: Inputs,
  context: DocumentContext,
): readonly Draft[] {
  const after = new Map<string, Draft>(before.map(document => [document.id, document]))
  const named = new Set<string>()
  for (const collection of ['attachments', 'rightToWork'] as const) {
    for (const [index, input] of (inputs[collection] ?? []).entries()) {
      const place = { collection, field: `${collection}[${index}]` }
      const { id } = input
      demand(id === undefined || !named.has(id), `${place.field}.id: is named twice`)
      const start = id === undefined ? added(input, place, context) : editable(before, input, place)
      checkAgency(start, place, context)
      named.add(start.id)
      after.set(start.id, finished(changed(start, input, { place, context }), place, context))
    }
  }
  return [...after.values()]
}

function added(input: DocumentInput, { field, collection }: DocumentPath, context: DocumentContext): Draft {
  const qualification = qualifications.find(({ id }) => id === input.documentId)
  const reason = input.documentId === undefined ? 'required' : 'not the id of a master qualification'
  const valid = fewOf(qualifications.map(({ id, name }) => `${id} (${name})`))
  demand(qualification, `${field}.documentId: is ${reason}; ${valid}`)
  const { name, documentCollection, agencySpecific } = qualification
  demand(documentCollection === collection, `${field}.documentId: ${name} belongs to ${documentCollection}`)
  return {
    id: context.newId(),
    qualification,
    createdAt: context.createdAt,
    files: [],
    ...(agencySpecific && { agency: context.agency }),
  }
}

function editable(
  before: readonly WorkerDocument[],
  { id, documentId }: DocumentInput,
  { field, collection }: DocumentPath,
): WorkerDocument {
  const document = before.find(one => one.id === id && one.qualification.documentCollection === collection)
  demand(document, `${field}.id: is not a document in ${collection} of this worker`)
  const { qualification, validatedBy, isPending } = document
  const isSame = documentId === undefined || documentId === qualification.id
  demand(isSame, `${field}.documentId: a document cannot become another one; add a new one`)
  if (validatedBy !== undefined) {
    throw new RequestDeclined(`${field}.id: is locked, because it was validated by ${validatedBy}`)
  }
  if (isPending) throw new RequestDeclined(`${field}.id: is locked while its manual verification is pending`)
  return document
}

function checkAgency({ agency }: Draft, { field }: DocumentPath, context: DocumentContext): void {
  if (agency === undefined || agency === context.agency) return
  throw new RequestDeclined(`${field}.id: belongs to another agency, which alone may change it`)
}

interface DocumentChange {
  readonly place: DocumentPath
  readonly context: DocumentContext
}

/** Changes only the supplied fields; supplied files replace all earlier ones. */
function changed(start: Draft, input: DocumentInput, { place, context }: DocumentChange): Draft {
  const { documentNumber, expiration, files } = input
  const fileContext = { ...context, purpose: place.collection }
  const checked = files?.map((file, index) =>
    checkedFile(file, `${place.field}.files[${index}]`, fileContext),
  )
  return {
    ...start,
    ...(documentNumber !== undefined && { documentNumber }),
    ...(expiration !== undefined && { expiration }),
    ...(checked && { files: checked }),
  }
}

/** Checks the resulting document against the rules of its qualification. */
function finished(draft: Draft, place: DocumentPath, context: DocumentContext): Draft {
  const { qualification, files, expiration } = draft
  const { name, minimumFiles, cardScheme, expiry } = qualification
  const { field } = place
  demand(files.length >= minimumFiles, `${field}.files: ${name} needs at least ${minimumFiles}`)
  if (cardScheme !== undefined && context.checksCards()) return cardChecked(draft, place, context)
  const isDated = expiration !== undefined
  demand(isDated || expiry !== 'required', `${field}.expiration: is required for ${name}`)
  demand(!isDated || expiry !== 'none', `${field}.expiration: ${name} does not expire`)
  return draft
}

function cardChecked(draft: Draft, { field }: DocumentPath, context: DocumentContext): Draft {
  const { documentNumber = '', qualification } = draft
  const { name, cardScheme } = qualification
  const isNumber = /^\d{8}$/.test(documentNumber)
  demand(isNumber, `${field}.documentNumber: is required for ${name}, as the 8 digits of the card`)
  const verification = askRegister({ qualification, documentNumber, person: context.person }, context.nowMs)
  if (!verification) {
    throw new RequestDeclined(`${field}.documentNumber: the smart check of ${cardScheme} does not confirm it`)
  }
  return { ...draft, verification, expiration: verification.expiry, validatedBy: 'smart check' }
}

interface Card {
  readonly qualification: Qualification
  readonly documentNumber: string
  readonly person: Pick<WorkerPerson, 'firstName' | 'lastName'>
}

const isChecking = pathReader('config.candidateRequirements.cscsVerification')

/** Cards are checked when a company that is connected to the agency asks for it in its configuration. */
export function checksCards(world: World, agency: string): boolean {
  const key = { key: '', kind: 'agency', agencies: [agency] } as const
  return world
    .all('companies')
    .some(company => isChecking(company) === true && mayNameCompany(key, world, String(company.id)))
}

/** Cards ending in 0 are not on the register, those ending in 9 are withdrawn: neither is confirmed. */
function askRegister(
  { qualification, documentNumber, person }: Card,
  nowMs: number,
): DocumentVerification | undefined {
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

/** The caller, worker and part of the worker that an upload token must be bound to. */
interface FileContext {
  readonly uploads: Uploads
  readonly caller: string
  readonly agency: string
  /** Undefined while a worker is created: no upload can be bound to it yet. */
  readonly workerId: string | undefined
  readonly purpose: string
  readonly nowMs: number
}

/** A file that passed every check and is not stored yet. */
interface CheckedFile extends TypedBytes {
  readonly fileName: string
  readonly docType?: string
}

/** `field` is the path of the file in the body. */
function checkedFile(file: FileInput, field: string, context: FileContext): CheckedFile {
  const { fileName, content, uploadToken, docType } = file
  demand(fileName !== undefined, `${field}.fileName: is required`)
  const reason = 'is not a file name of 1 to 255 characters with an extension'
  demand(isFileName(fileName), `${field}.fileName: ${reason}`)
  const hasOne = (content === undefined) !== (uploadToken === undefined)
  demand(hasOne, `${field}.content: is required, unless uploadToken is given instead`)
  const { bytes, type } =
    content === undefined
      ? uploaded(String(uploadToken), `${field}.uploadToken`, context)
      : accepted(readDataUrl(content), `${field}.content`)
  return { fileName, ...(docType !== undefined && { docType }), bytes, type }
}

function accepted(checked: TypedBytes | string, field: string): TypedBytes {
  demand(typeof checked !== 'string', `${field}: ${checked}`)
  return checked
}

function uploaded(token: string, field: string, context: FileContext) {
  const upload = context.uploads.withToken(token)
  const { caller, agency, workerId, purpose } = context
  const bound = { resource: 'worker', caller, recordId: workerId, agency, purpose }
  const isBound = upload && Object.entries(bound).every(([name, value]) => upload[name as 'agency'] === value)
  // The same refusal for every reason, so that it reveals nothing about a token to another caller.
  demand(isBound, `${field}: is not valid for this caller, worker, agency and collection`)
  const { bytes, size, expiresMs, contentType } = upload
  if (context.nowMs >= expiresMs) throw new RequestDeclined(`${field}: has expired`)
  demand(bytes, `${field}: nothing was uploaded for it`)
  demand(bytes.length === size, `${field}: ${bytes.length} bytes were uploaded, ${size} declared`)
  return accepted(typedBytes(bytes, contentType), field)
}
