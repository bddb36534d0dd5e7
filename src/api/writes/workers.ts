/** Workers, created and updated for an agency: for agency-scoped keys with write:workers. */
import type { Client } from '../client/client.ts'
import { badAnswer, Unsettled } from '../client/errors.ts'
import { requestLine } from '../client/redact.ts'
import type { ChangedWorker, NewWorker } from './worker-input.ts'

export interface WriteOptions {
  /** Agency id; needed when the key spans several agencies. */
  readonly agency?: string | undefined
}

/** A document as a write is answered; `expiration` is an ISO 8601 timestamp. Further fields are kept as sent. */
export interface DocumentResult {
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
 * agency), Conflict (409: `needsReview` when a matching worker exists), Unsettled (a failure after which the worker
 * may exist; nothing is sent again by itself), and what every call throws. No message repeats a value of the body.
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
 * are added, those with one changed; `files` of a document replaces its whole set; nothing is ever removed.
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

interface Sent {
  readonly method: string
  readonly path: string
  readonly query: { readonly agency: string | undefined }
}

/** An answer without an id counts as no answer: it is unknown what was done. */
function resultOf(record: Record<string, unknown>, { method, path, query }: Sent): WorkerResult {
  const { id, reference, attachments, rightToWork, createdAt, updatedAt } = record
  if (typeof id !== 'string' || id === '') {
    const facts = { request: requestLine(path, query, method), status: 200 }
    throw new Unsettled(badAnswer(facts, 'the worker has no id'))
  }
  return {
    id,
    reference: typeof reference === 'string' ? reference : '',
    attachments: Array.isArray(attachments) ? attachments : [],
    rightToWork: Array.isArray(rightToWork) ? rightToWork : [],
    at: String(updatedAt ?? createdAt ?? ''),
  }
}

/** Chosen from lists: a refusal that names the valid values must stay readable. */
const listed = new Set(['gender', 'countryCode', 'trades', 'documentId', 'docType', 'id', 'content'])

/** Every text of a body that identifies a person or gives access: names, numbers, addresses, tokens. */
function personalTexts(value: unknown, field = ''): string[] {
  if (listed.has(field)) return []
  if (typeof value === 'string') return [value.trim()]
  if (Array.isArray(value)) return value.flatMap(item => personalTexts(item, field))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => personalTexts(item, name))
}
