/** Files for records: declared to the service, then sent to the address that it gives out, without the API key. */

import * as z from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import type { FileType } from '../../lib/file-kind.ts'
import type { Rng } from '../../lib/rng.ts'
import { type ProxyVariables, proxyFor } from '../../lib/web/proxy.ts'
import { readBaseUrl } from '../client/before-sending.ts'
import type { Client } from '../client/client.ts'
import { badAnswer } from '../client/errors.ts'
import { retryDelay } from '../client/retry.ts'
import { type Agent, openAgent, proxyFailure } from '../undici/agent.ts'
import { addressProblem, allowedUploadHeaders, lookupWithin, outOfReach, placeOf } from './upload-address.ts'

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

/** The service that names the address, which may be no nearer to this machine than the service is. */
export interface UploadSource {
  readonly baseUrl: string
  readonly proxies?: ProxyVariables
}

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
 * Redirects are not followed.
 */
export async function uploadFile(
  instructions: UploadInstructions,
  bytes: Buffer,
  { source, ...effects }: UploadEffects & { readonly source: UploadSource },
): Promise<void> {
  const place = await placeOf(readBaseUrl(source.baseUrl).hostname)
  const problem = addressProblem(instructions.uploadUrl, place)
  if (problem !== undefined) throw outside(problem)
  const url = new URL(instructions.uploadUrl)
  const { connect: connectTimeout, headers: headersTimeout, body: bodyTimeout } = timeouts
  const proxy = proxyFor(url, source.proxies ?? {})
  const lookup = lookupWithin(place)
  const agent = openAgent(proxy, { connectTimeout, headersTimeout, bodyTimeout, lookup })
  try {
    // Not p-retry: clock and jitter are passed in, so that tests drive them.
    for (let attempt = 1; ; attempt++) {
      const status = await put(agent, { url, instructions, bytes }, effects).catch(error => {
        throw proxy && proxyFailure(error) ? notReached(proxy.url, error) : error
      })
      if (status >= 200 && status < 300) return
      if (!isPassing(status) || attempt >= mostSendings) throw refused(url, status)
      const { clock, rng, signal } = effects
      await clock.sleep(retryDelay({ attempt, limited: false, now: clock.now(), rng }), signal)
    }
  } finally {
    await agent.destroy()
  }
}

function outside(problem: string): UploadFailed {
  return new UploadFailed({
    what: `the service names an upload address that ${problem}`,
    next: 'nothing was uploaded; report this to the operators of the service',
  })
}

function notReached(proxy: string, error: unknown): UploadFailed {
  return new UploadFailed({
    what: `the file was not uploaded: the proxy ${proxy} gave no connection`,
    where: String(proxyFailure(error)?.code),
    next: 'check HTTPS_PROXY, or name the host of the uploads in NO_PROXY',
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
      headers: { ...allowedUploadHeaders(instructions.headers), 'content-length': String(bytes.length) },
      body: bytes,
      signal,
    })
    // A body that breaks off does not matter: the status has arrived.
    await body.dump({ limit: 65_536 }).catch(() => undefined)
    return statusCode
  } catch (error) {
    limits.signal?.throwIfAborted()
    if (Object(error).code === outOfReach) throw outside('is in a private network or on this machine')
    if (proxyFailure(error)) throw error
    // The connection failed or timed out: sent again.
    return noAnswer
  }
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
