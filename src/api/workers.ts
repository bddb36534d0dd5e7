/**
 * Creates and updates workers of an agency, for agency-scoped keys with write:workers. Checks fields before sending; only the
 * service can check genders, nationalities, country codes, trades and document ids.
 */
import * as z from 'zod'
import { isDay } from '../lib/dates.ts'
import { isFileName, readDataUrl } from '../lib/file-kind.ts'
import { isNationalInsurance, isPassportOrShareCode, isPps } from '../lib/text/identity-number.ts'
import { spreadsheetDamage, type TextKind } from '../lib/text/spreadsheet.ts'
import type { Client } from './client/client.ts'
import { badAnswer, WriteUnsettled } from './client/errors.ts'
import { requestLine } from './client/redact.ts'

const kind = (name: string) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is missing' : `is not ${name}`),
})

/** Refuses a text that a spreadsheet has converted, without further messages about it. */
const filled = (as: TextKind) =>
  z
    .string(kind('a text'))
    .trim()
    .min(1, 'is empty')
    .refine(value => spreadsheetDamage(value, as) === undefined, {
      error: ({ input }) => spreadsheetDamage(String(input), as) ?? '',
      abort: true,
    })
const text = filled('text')
const code = filled('code')

const day = z.string(kind('a date')).superRefine((value, { addIssue }) => {
  const message = spreadsheetDamage(value, 'day') ?? 'is not a date of the form YYYY-MM-DD'
  if (!isDay(value)) addIssue({ code: 'custom', message })
})

/** A file is either included (`content`, a base64 data URL) or was uploaded before (`uploadToken`). */
const file = z
  .looseObject(
    {
      fileName: text.refine(isFileName, 'is not a file name of 1 to 255 characters with an extension'),
      content: z.string(kind('a text')).optional(),
      uploadToken: text.optional(),
      docType: text.optional(),
    },
    kind('an object'),
  )
  .superRefine(({ content, uploadToken }, { addIssue }) => {
    if ((content === undefined) === (uploadToken === undefined)) {
      addIssue({ code: 'custom', path: ['content'], message: 'is missing: give content or uploadToken' })
    }
    const read = content === undefined ? undefined : readDataUrl(content)
    if (typeof read === 'string') addIssue({ code: 'custom', path: ['content'], message: read })
  })

/** Accepts more fields, because the contract's list is incomplete. */
const documentFields = {
  documentId: code,
  documentNumber: code.optional(),
  expiration: day.optional(),
  files: z.array(file, kind('an array')).min(1, 'is empty').optional(),
}
const newDocument = z.looseObject(documentFields, kind('an object'))
const changedDocument = z
  .looseObject({ ...documentFields, documentId: code.optional(), id: code.optional() }, kind('an object'))
  .refine(({ id, documentId }) => id !== undefined || documentId !== undefined, {
    path: ['documentId'],
    message: 'is missing; name an existing document by id instead',
  })

const fields = {
  firstName: text,
  lastName: text,
  dob: day,
  email: z.string(kind('a text')).trim().pipe(z.email('is not an e-mail address')),
  phone: code,
  countryCode: text.regex(/^\+\d{1,4}$/, 'is not a country code with its leading +, such as +44'),
  gender: text,
  nationality: text,
  nationalIns: code.optional(),
  passportNo: code.refine(isPassportOrShareCode, 'is neither a passport number nor a share code').optional(),
  address: z
    .record(z.string(), z.unknown(), kind('an object'))
    .refine(address => Object.keys(address).length > 0, 'is empty')
    .superRefine((address, { addIssue }) => {
      for (const [name, part] of Object.entries(address)) {
        const message = typeof part === 'string' ? spreadsheetDamage(part, 'text') : undefined
        if (message !== undefined) addIssue({ code: 'custom', path: [name], message })
      }
    }),
  trades: z.array(code, kind('an array')).min(1, 'is empty: one or more master trade ids are needed'),
  agencyId: code,
}

/** Body of a creation. */
export const newWorker = z
  .strictObject(
    {
      ...fields,
      consent: z.literal(true, kind('true: written consent is required')),
      attachments: z.array(newDocument, kind('an array')).optional(),
      rightToWork: z.array(newDocument, kind('an array')).optional(),
    },
    kind('an object'),
  )
  .superRefine((worker, { addIssue }) => {
    const problem = identityProblem(worker)
    if (problem) addIssue({ code: 'custom', ...problem })
  })

/** Body of an update: at least one field. The service checks the identity rules against the resulting record. */
export const changedWorker = z
  .strictObject(
    {
      ...z.object(fields).partial().shape,
      active: z.boolean(kind('true or false')).optional(),
      attachments: z.array(changedDocument, kind('an array')).optional(),
      rightToWork: z.array(changedDocument, kind('an array')).optional(),
    },
    kind('an object'),
  )
  .refine(worker => Object.keys(worker).length > 0, 'has no field to change')
  .superRefine(({ nationalIns }, { addIssue }) => {
    if (nationalIns === undefined || isNationalInsurance(nationalIns) || isPps(nationalIns)) return
    addIssue({ code: 'custom', path: ['nationalIns'], message: 'is not a National Insurance or PPS number' })
  })

export type NewWorker = z.infer<typeof newWorker>
export type ChangedWorker = z.infer<typeof changedWorker>

/** Every field that a row may have, for suggestions. */
export const workerFields: readonly string[] = [
  ...new Set([...Object.keys(newWorker.shape), ...Object.keys(changedWorker.shape)]),
]

/** Spellings that a list of countries or of nationalities may use. */
const british =
  /^(united kingdom.*|uk|gb|gbr|great britain|british|england|scotland|wales|northern ireland)$/i
const irish = /^(ireland|republic of ireland|irish|ie|irl|éire|eire)$/i

type WorkerIdentity = Pick<NewWorker, 'nationality' | 'nationalIns' | 'passportNo'>

function identityProblem({ nationality, nationalIns, passportNo }: WorkerIdentity) {
  const problem = (field: string, message: string) => ({ path: [field], message })
  const isIrish = irish.test(nationality)
  if (nationalIns !== undefined) {
    if (isNationalInsurance(nationalIns) || (isIrish && isPps(nationalIns))) return undefined
    const kinds = isIrish ? 'a National Insurance nor a PPS number' : undefined
    return problem('nationalIns', `is ${kinds ? `neither ${kinds}` : 'not a UK National Insurance number'}`)
  }
  if (british.test(nationality)) return problem('nationalIns', 'is missing, and this nationality needs it')
  if (isIrish) return problem('nationalIns', 'is missing; a PPS number is accepted too')
  if (passportNo === undefined)
    return problem('passportNo', 'is missing, and so is nationalIns: one is needed')
  return undefined
}

interface WriteOptions {
  /** Agency id; needed when the key spans several agencies. */
  readonly agency?: string | undefined
}

/** A document in the answer to a write; `expiration` is an ISO 8601 timestamp. Other fields are kept as sent. */
interface DocumentResult {
  readonly id: string
  /** `attachment` or `rightToWork` */
  readonly type: string
  readonly documentType: string
  readonly [field: string]: unknown
}

export interface WorkerResult {
  readonly id: string
  readonly reference: string
  readonly attachments: readonly DocumentResult[]
  readonly rightToWork: readonly DocumentResult[]
  /** When it was created or updated; ISO 8601. */
  readonly at: string
}

/**
 * POST /workers. The body is at most 50 MB, a file in it at most 20 MB decoded; see `newWorker` for the fields.
 *
 * Throws BadRequest (400: the service names the field), AccessDenied (403: no agency key, no write:workers, not its
 * agency), Conflict (409: `needsReview` if a matching worker exists), WriteUnsettled (a failure after which the worker
 * may exist; it is not retried), and what every call throws. No message repeats a value of the body.
 */
export async function createWorker(
  client: Client,
  worker: NewWorker,
  { agency }: WriteOptions = {},
): Promise<WorkerResult> {
  const request = { method: 'POST', path: '/workers', query: { agency } } as const
  const { record } = await client.write({ ...request, body: worker, hide: personalTexts(worker) })
  return resultOf(record, request)
}

/**
 * PATCH /workers/{id}: `id` is a worker id or short id. Only the fields given are changed; documents without an id
 * are added, those with one are changed; `files` of a document replaces all of its files; nothing else is removed.
 *
 * Throws as createWorker does, NotFound (404) for a worker that the agency does not represent, Conflict (409) when
 * a National Insurance number, passport number, e-mail or agency id is another's, BadRequest (400) for a document
 * that is locked.
 */
export async function updateWorker(
  client: Client,
  { id, changes }: { readonly id: string; readonly changes: ChangedWorker },
  { agency }: WriteOptions = {},
): Promise<WorkerResult> {
  const path = `/workers/${encodeURIComponent(id)}`
  const request = { method: 'PATCH', path, query: { agency } } as const
  const { record } = await client.write({ ...request, body: changes, hide: personalTexts(changes) })
  return resultOf(record, request)
}

interface WriteRoute {
  readonly method: string
  readonly path: string
  readonly query: { readonly agency: string | undefined }
}

/** An answer without an id counts as no answer, as it is unknown what was done. */
function resultOf(record: Record<string, unknown>, { method, path, query }: WriteRoute): WorkerResult {
  const { id, reference, attachments, rightToWork, createdAt, updatedAt } = record
  if (typeof id !== 'string' || id === '') {
    const facts = { request: requestLine(path, query, method), status: 200 }
    throw new WriteUnsettled(badAnswer(facts, 'the worker has no id'))
  }
  return {
    id,
    reference: typeof reference === 'string' ? reference : '',
    attachments: Array.isArray(attachments) ? attachments : [],
    rightToWork: Array.isArray(rightToWork) ? rightToWork : [],
    at: String(updatedAt ?? createdAt ?? ''),
  }
}

/** Fields with values from lists: not hidden, so that a refusal with valid values stays readable. */
const listed = new Set(['gender', 'countryCode', 'trades', 'documentId', 'docType', 'id', 'content'])

/** Collects the texts of a body that identify a person or give access: names, numbers, addresses, tokens. */
function personalTexts(value: unknown, field = ''): string[] {
  if (listed.has(field)) return []
  if (typeof value === 'string') return [value.trim()]
  if (Array.isArray(value)) return value.flatMap(item => personalTexts(item, field))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => personalTexts(item, name))
}
