/** Uploads files for records: declares them to the service, then sends them, without the API key, to the address it returns. */
import { lookup as resolve } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import * as z from 'zod'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import type { FileType } from '../lib/file-kind.ts'
import type { Rng } from '../lib/rng.ts'
import { type AddressKind, addressKind } from '../lib/web/address-kind.ts'
import { type ProxyVariables, proxyFor } from '../lib/web/proxy.ts'
import { type Agent, openAgent, proxyFailure } from './agent.ts'
import { readBaseUrl } from './client/before-sending.ts'
import type { Client } from './client/client.ts'
import { badAnswer } from './client/errors.ts'
import { retryDelay } from './client/retry.ts'

/** Error code of a host with no allowed address. */
export const outOfReach = 'MUSTER_OUT_OF_REACH'

const reach: Readonly<Record<AddressKind, number>> = { public: 0, private: 1, loopback: 2, local: 3 }

/**
 * Allows public addresses always, private ones if the service is in a private network, and this machine if the service is on
 * it. Never allows link-local addresses, where clouds provide credentials.
 */
const isWithin = (kind: AddressKind, service: AddressKind): boolean =>
  kind !== 'local' && reach[kind] <= reach[service]

/** Why the address is refused; undefined if allowed. A name is checked again when it resolves. */
export function addressProblem(text: string, service: AddressKind): string | undefined {
  if (!URL.canParse(text)) return 'is not an address'
  const { protocol, hostname, username, password } = new URL(text)
  const kind = addressKind(hostname)
  if (username !== '' || password !== '') return 'carries credentials'
  const isPlain = protocol === 'http:' && kind === 'loopback' && service === 'loopback'
  if (protocol !== 'https:' && !isPlain) return 'is not https'
  if (kind !== undefined && !isWithin(kind, service)) return 'is in a private network or on this machine'
  return undefined
}

/** Where the service itself is; of several addresses, the most public one. */
async function addressKindOf(hostname: string): Promise<AddressKind> {
  const known = addressKind(hostname)
  if (known) return known
  // If only the proxy can resolve names, nothing is known.
  const found = await lookup(hostname, { all: true }).catch(() => [])
  const kinds = found.map(({ address }) => addressKind(address) ?? 'public')
  return kinds.sort((one, other) => reach[one] - reach[other])[0] ?? 'public'
}

/** Resolves a name to allowed addresses only, when connecting: it may resolve to another address later. */
export const lookupWithin =
  (service: AddressKind): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const allowed = (found ?? []).filter(({ address }) =>
        isWithin(addressKind(address) ?? 'public', service),
      )
      const [first] = allowed
      if (error) callback(error, '')
      else if (!first) callback(Object.assign(new Error(hostname), { code: outOfReach }), '')
      else if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })

/** Headers that object stores sign. The service may not set `Host`, credentials or framing. */
const allowedHeaders =
  /^(content-(type|disposition|encoding|language|md5)|cache-control|expires|if-(none-)?match|x-(amz|ms|goog)-[a-z0-9-]+)$/i

export function allowedUploadHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => allowedHeaders.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
    ),
  )
}

export interface UploadDeclaration {
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
 * Where to send the bytes, and the token for the record's update. `uploadUrl` and `uploadToken` are secrets while they are
 * valid, for `expiresIn` seconds (900): never log them.
 */
export type UploadInstructions = z.infer<typeof instructions>

/**
 * POST /files/uploads. Attaches nothing yet: uploadFile sends the bytes, and the record's update uses the token.
 *
 * Throws BadRequest (400: metadata, purpose or invoice status), AccessDenied (403: no write scope for the resource,
 * a company key for a worker, an agency action that is turned off), NotFound (404: record or agency), and what
 * every call throws. Retried after a failure, as an extra link does no harm.
 */
export async function createUpload(
  client: Client,
  declaration: UploadDeclaration,
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

/** Milliseconds. Longer than for a page, because 20 MB take long on a slow line. */
const timeouts = { connect: 10_000, headers: 120_000, body: 30_000, total: 300_000 }
/** Max attempts; a second PUT of the same bytes to the same address does no harm. */
const maxSendings = 3

/** The service that returned the address; the address may not be more private than the service. */
export interface UploadSource {
  readonly baseUrl: string
  readonly proxies?: ProxyVariables
}

export interface UploadEffects {
  readonly clock: Clock
  readonly rng: Rng
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for one attempt. Default 300,000. */
  readonly totalTimeout?: number
}

/** The storage refused the file. Messages leave out the address, because anyone who has it may write there. */
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
  const place = await addressKindOf(readBaseUrl(source.baseUrl).hostname)
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
      if (!isPassing(status) || attempt >= maxSendings) throw refused(url, status)
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

interface UploadTransfer {
  readonly url: URL
  readonly instructions: UploadInstructions
  readonly bytes: Buffer
}

/** Status without an answer. */
const noAnswer = 0

async function put(
  agent: Agent,
  { url, instructions, bytes }: UploadTransfer,
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
    // An incomplete body does not matter, as the status has arrived.
    await body.dump({ limit: 65_536 }).catch(() => undefined)
    return statusCode
  } catch (error) {
    limits.signal?.throwIfAborted()
    if (Object(error).code === outOfReach) throw outside('is in a private network or on this machine')
    if (proxyFailure(error)) throw error
    // The connection failed or timed out: retry.
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
