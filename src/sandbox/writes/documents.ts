/** Applies the documents of a body to the documents of a worker. All of them are checked before any is stored. */
import { ApiError, Declined } from '../refusals/api-error.ts'
import type { DocumentInput } from './body.ts'
import { type CheckedFile, checkedFile, type FileContext } from './files.ts'
import { type DocumentCollection, fewOf, type Qualification, qualifications } from './lists.ts'
import { askRegister, type Card, isCardNumber } from './smart-check.ts'
import type { StoredFile, WorkerDocument } from './worker.ts'

/** A document whose new files are not stored yet. */
export type Draft = Omit<WorkerDocument, 'files'> & { readonly files: readonly (StoredFile | CheckedFile)[] }

export interface DocumentContext extends Omit<FileContext, 'purpose'> {
  /** Of the resulting record. */
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

/** All documents after the change; those the body does not name stay as they are. 400 when any part is invalid. */
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
      if (input.id !== undefined && named.has(input.id)) {
        throw new ApiError(400, `${place.field}.id: is named twice`)
      }
      const start = input.id === undefined ? added(input, place, context) : editable(before, input, place)
      checkAgency(start, place, context)
      named.add(start.id)
      after.set(start.id, finished(changed(start, input, { place, context }), place, context))
    }
  }
  return [...after.values()]
}

function added(input: DocumentInput, { field, collection }: DocumentPath, context: DocumentContext): Draft {
  const qualification = qualificationOf(input.documentId, field)
  if (qualification.documentCollection !== collection) {
    throw new ApiError(
      400,
      `${field}.documentId: ${qualification.name} belongs to ${qualification.documentCollection}`,
    )
  }
  return {
    id: context.newId(),
    qualification,
    createdAt: context.createdAt,
    files: [],
    ...(qualification.agencySpecific ? { agency: context.agency } : {}),
  }
}

function qualificationOf(id: string | undefined, field: string): Qualification {
  const found = qualifications.find(one => one.id === id)
  if (found) return found
  const valid = fewOf(qualifications.map(one => `${one.id} (${one.name})`))
  throw new ApiError(
    400,
    `${field}.documentId: is ${id === undefined ? 'required' : 'not the id of a master qualification'}; ${valid}`,
  )
}

function editable(
  before: readonly WorkerDocument[],
  input: DocumentInput,
  place: DocumentPath,
): WorkerDocument {
  const { field, collection } = place
  const document = before.find(({ id }) => id === input.id)
  if (document?.qualification.documentCollection !== collection) {
    throw new ApiError(400, `${field}.id: is not a document in ${collection} of this worker`)
  }
  if (input.documentId !== undefined && input.documentId !== document.qualification.id) {
    throw new ApiError(400, `${field}.documentId: a document does not change what it is; add another`)
  }
  if (document.validatedBy !== undefined) {
    throw new Declined(`${field}.id: is locked, because it was validated by ${document.validatedBy}`)
  }
  if (document.isPending)
    throw new Declined(`${field}.id: is locked while its manual verification is pending`)
  return document
}

function checkAgency({ agency }: Draft, { field }: DocumentPath, context: DocumentContext): void {
  if (agency === undefined || agency === context.agency) return
  throw new Declined(`${field}.id: belongs to another agency, which alone may change it`)
}

interface Change {
  readonly place: DocumentPath
  readonly context: DocumentContext
}

/** Changes only the supplied fields; supplied files replace all earlier ones. */
function changed(start: Draft, input: DocumentInput, { place, context }: Change): Draft {
  const { documentNumber, expiration, files } = input
  const fileContext = { ...context, purpose: place.collection }
  return {
    ...start,
    ...(documentNumber === undefined ? {} : { documentNumber }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(files === undefined
      ? {}
      : {
          files: files.map((file, index) => checkedFile(file, `${place.field}.files[${index}]`, fileContext)),
        }),
  }
}

/** Checks the resulting document against the rules of its qualification. */
function finished(draft: Draft, place: DocumentPath, context: DocumentContext): Draft {
  const { qualification, files, expiration } = draft
  const { field } = place
  if (files.length < qualification.minimumFiles) {
    throw new ApiError(
      400,
      `${field}.files: ${qualification.name} needs at least ${qualification.minimumFiles}`,
    )
  }
  if (qualification.cardScheme !== undefined && context.checksCards())
    return cardChecked(draft, place, context)
  if (qualification.expiry === 'required' && expiration === undefined) {
    throw new ApiError(400, `${field}.expiration: is required for ${qualification.name}`)
  }
  if (qualification.expiry === 'none' && expiration !== undefined) {
    throw new ApiError(400, `${field}.expiration: ${qualification.name} does not expire`)
  }
  return draft
}

function cardChecked(draft: Draft, { field }: DocumentPath, context: DocumentContext): Draft {
  const { documentNumber = '', qualification } = draft
  if (!isCardNumber(documentNumber)) {
    throw new ApiError(
      400,
      `${field}.documentNumber: is required for ${qualification.name}, as the 8 digits of the card`,
    )
  }
  const card = { qualification, documentNumber, person: context.person }
  const verification = askRegister(card, context.nowMs)
  if (!verification) {
    throw new Declined(
      `${field}.documentNumber: the smart check of ${qualification.cardScheme} does not confirm it`,
    )
  }
  return { ...draft, verification, expiration: verification.expiry, validatedBy: 'smart check' }
}
