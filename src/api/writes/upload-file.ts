/** The bytes of a declared file on their way to the address that was given out for them: without the API key. */
import { Agent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import { isLoopback } from '../client/base-url.ts'
import { retryDelay } from '../client/retry.ts'
import type { UploadInstructions } from './uploads.ts'

/** Times in milliseconds. Storage answers late when 20 MB came over a slow line, hence longer than for a page. */
const TIMEOUTS = { connect: 10_000, headers: 120_000, body: 30_000, total: 300_000 }
/** Sendings in all: a PUT of the same bytes to the same address does no harm. */
const MAX_ATTEMPTS = 3

export interface Surroundings {
  readonly clock: Clock
  readonly rng: Rng
  readonly signal?: AbortSignal | undefined
  /** Instead of 300,000 ms for one sending. */
  readonly totalTimeout?: number
}

/** The storage took no file. Its address is left out of every message: whoever knows it may write there. */
class UploadFailed extends MusterError {}

/**
 * PUT to `uploadUrl`: exactly `bytes`, under the declared content type. Throws UploadFailed, or the abort reason.
 * The address has to be https, or http on this machine; redirects are not followed.
 */
export async function uploadFile(
  instructions: UploadInstructions,
  bytes: Buffer,
  surroundings: Surroundings,
): Promise<void> {
  const url = readUploadUrl(instructions.uploadUrl)
  const { connect: timeout, headers: headersTimeout, body: bodyTimeout } = TIMEOUTS
  const agent = new Agent({ connect: { timeout, rejectUnauthorized: true }, headersTimeout, bodyTimeout })
  try {
    for (let attempt = 1; ; attempt++) {
      const status = await put(agent, { url, instructions, bytes }, surroundings)
      if (status >= 200 && status < 300) return
      if (!isPassing(status) || attempt >= MAX_ATTEMPTS) throw refused(url, status)
      const { clock, rng, signal } = surroundings
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

interface Parcel {
  readonly url: URL
  readonly instructions: UploadInstructions
  readonly bytes: Buffer
}

/** 0 when no answer came. */
const NO_ANSWER = 0

async function put(
  agent: Agent,
  { url, instructions, bytes }: Parcel,
  limits: Surroundings,
): Promise<number> {
  const timeout = AbortSignal.timeout(limits.totalTimeout ?? TIMEOUTS.total)
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
    await body.dump({ limit: 65_536 }).catch(() => {})
    return statusCode
  } catch {
    limits.signal?.throwIfAborted()
    return NO_ANSWER
  }
}

/** What the service says to send, whatever it says: never a key. */
function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(
    ([name]) => !/^(authorization|cookie|content-length)$/i.test(name),
  )
  return Object.fromEntries(sent)
}

function isPassing(status: number): boolean {
  return status === NO_ANSWER || status === 408 || status === 429 || status >= 500
}

function refused(url: URL, status: number): UploadFailed {
  return new UploadFailed({
    what: 'the file was not uploaded',
    where: `PUT to ${url.host}: ${status === NO_ANSWER ? 'no answer' : status}`,
    next:
      status === 403
        ? 'the link may have expired after 15 minutes; run it again'
        : 'run it again; nothing is attached',
  })
}
