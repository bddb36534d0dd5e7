/** Files for records: declared to the service, then sent to the address that it gives out, without the API key. */

import * as z from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import type { FileType } from '../../lib/file-kind.ts'
import type { Rng } from '../../lib/rng.ts'
import { isLoopback } from '../client/before-sending.ts'
import type { Client } from '../client/client.ts'
import { badAnswer } from '../client/errors.ts'
import { retryDelay } from '../client/retry.ts'
import { Agent } from '../undici/agent.ts'

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

/** Milliseconds. Longer than for a page, because 20 MB take their time on a slow line. */
const timeouts = { connect: 10_000, headers: 120_000, body: 30_000, total: 300_000 }
/** Attempts in all: a second PUT of the same bytes to the same address does no harm. */
const mostSendings = 3

export interface UploadEffects {
  readonly clock: Clock
  readonly rng: Rng
  readonly signal?: AbortSignal | undefined
  /** Instead of 300,000 ms for one attempt. */
  readonly totalTimeout?: number
}

/** The storage refused the file. Messages leave out the address, because it allows anybody to write there. */
class UploadFailed extends MusterError {}

/**
 * PUT to `uploadUrl`: exactly `bytes`, under the declared content type. Throws UploadFailed, or the abort reason.
 * The address has to be https, or http on this machine; redirects are not followed.
 */
export async function uploadFile(
  instructions: UploadInstructions,
  bytes: Buffer,
  effects: UploadEffects,
): Promise<void> {
  const url = readUploadUrl(instructions.uploadUrl)
  const { connect: timeout, headers: headersTimeout, body: bodyTimeout } = timeouts
  const agent = new Agent({ connect: { timeout, rejectUnauthorized: true }, headersTimeout, bodyTimeout })
  try {
    // Not p-retry: clock and jitter are passed in, so that tests drive them.
    for (let attempt = 1; ; attempt++) {
      const status = await put(agent, { url, instructions, bytes }, effects)
      if (status >= 200 && status < 300) return
      if (!isPassing(status) || attempt >= mostSendings) throw refused(url, status)
      const { clock, rng, signal } = effects
      await clock.sleep(retryDelay({ attempt, limited: false, now: clock.now(), rng }), signal)
    }
  } finally {
    await agent.destroy()
  }
}

function readUploadUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw new UploadFailed({
    what: `the service names an upload address that is not https${url ? ` (${url.protocol}//${url.host})` : ''}`,
    next: 'nothing was uploaded; report this to the operators of the service',
  })
}

interface Upload {
  readonly url: URL
  readonly instructions: UploadInstructions
  readonly bytes: Buffer
}

/** 0 when no answer came. */
const noAnswer = 0

async function put(
  agent: Agent,
  { url, instructions, bytes }: Upload,
  limits: UploadEffects,
): Promise<number> {
  const timeout = AbortSignal.timeout(limits.totalTimeout ?? timeouts.total)
  const signal = limits.signal ? AbortSignal.any([timeout, limits.signal]) : timeout
  try {
    const { statusCode, body } = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'PUT',
      headers: { ...withoutKey(instructions.headers), 'content-length': String(bytes.length) },
      body: bytes,
      signal,
    })
    // A body that breaks off does not matter: the status has arrived.
    await body.dump({ limit: 65_536 }).catch(() => undefined)
    return statusCode
  } catch {
    // The connection failed or timed out: sent again, unless the caller has stopped.
    limits.signal?.throwIfAborted()
    return noAnswer
  }
}

/** The headers that the service asks for, without any that could carry a key. */
function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(
    ([name]) => !/^(authorization|cookie|content-length)$/i.test(name),
  )
  return Object.fromEntries(sent)
}

function isPassing(status: number): boolean {
  return status === noAnswer || status === 408 || status === 429 || status >= 500
}

function refused(url: URL, status: number): UploadFailed {
  return new UploadFailed({
    what: 'the file was not uploaded',
    where: `PUT to ${url.host}: ${status === noAnswer ? 'no answer' : status}`,
    next:
      status === 403
        ? 'the link may have expired after 15 minutes; run it again'
        : 'run it again; nothing is attached',
  })
}
