/** Files too large or too many for a body: declared to the service, then put at an address of their own. */
import { z } from 'zod'
import type { FileType } from '../../lib/file-kind.ts'
import type { Client } from '../client/client.ts'
import { badAnswer } from '../client/errors.ts'

export interface Declaration {
  readonly resource: 'worker' | 'invoice'
  /** Id or short id of a record that exists. */
  readonly recordId: string
  /** `attachments` or `rightToWork` for workers, `payment` for invoices. */
  readonly purpose: 'attachments' | 'rightToWork' | 'payment'
  /** 1 to 255 characters, with an extension. */
  readonly fileName: string
  readonly contentType: FileType
  /** Bytes, 1 to 20,971,520. */
  readonly size: number
}

export interface UploadOptions {
  /** Agency id; needed when the key spans several agencies. */
  readonly agency?: string | undefined
  /** Company id; narrows the companies that the record may belong to. */
  readonly company?: string | undefined
}

const instructions = z.object({
  uploadUrl: z.string().min(1),
  uploadToken: z.string().min(1),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
  expiresIn: z.number().positive(),
})

/**
 * Where to put the bytes, and what the record's update is to be told. `uploadUrl` and `uploadToken` are secrets for
 * the `expiresIn` seconds (900) that they are good for: never log them.
 */
export type UploadInstructions = z.infer<typeof instructions>

/**
 * POST /files/uploads. Attaches nothing: uploadFile sends the bytes, and the record's update takes the token.
 *
 * Throws BadRequest (400: metadata, purpose or invoice status), AccessDenied (403: no write scope for the resource,
 * a company key for a worker, an agency action that is switched off), NotFound (404: record or agency), and what
 * every call throws. Sent again after a failure: a link more does no harm.
 */
export async function createUpload(
  client: Client,
  declaration: Declaration,
  { agency, company }: UploadOptions = {},
): Promise<UploadInstructions> {
  const query = { agency, company }
  const body = declaration
  const hide = [declaration.fileName]
  const { record } = await client.write({
    method: 'POST',
    path: '/files/uploads',
    query,
    body,
    hide,
    isRepeatable: true,
  })
  const parsed = instructions.safeParse(record)
  if (parsed.success) return parsed.data
  const facts = { request: 'POST /files/uploads', status: 200, isWrite: true }
  throw badAnswer(facts, `${String(parsed.error.issues[0]?.path[0])} of the upload is missing or wrong`)
}
