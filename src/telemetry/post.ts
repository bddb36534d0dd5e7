/** Posts JSON to an address of the settings: three attempts at most, each with its time, and no redirection. */
import pRetry, { AbortError } from 'p-retry'
import { type Agent, openAgent, proxyFailure } from '../api/undici/agent.ts'
import { MusterError } from '../lib/errors.ts'
import { type ProxyVariables, proxyFor } from '../lib/web/proxy.ts'

export interface Receiver {
  readonly url: string
  readonly token?: string | undefined
  readonly proxies: ProxyVariables
  /** Milliseconds of each attempt. */
  readonly timeoutMs: number
  /** Milliseconds of all attempts together, pauses included. */
  readonly withinMs?: number
  /** Ends it when aborted. */
  readonly signal: AbortSignal
}

const attempts = { retries: 2, minTimeout: 500, factor: 2 }

/** Another attempt could pass. */
const mayPass = (status: number): boolean => status === 408 || status === 429 || status >= 500

/** The reason after all of its time. */
export const late = 'it did not answer in time'

/** It answered, with a status that is none of success. */
class Unanswered extends Error {}

function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return late
  if (error instanceof Unanswered || error instanceof MusterError) return error.message
  const proxy = proxyFailure(error)
  if (proxy) return `its proxy gave no connection (${proxy.code})`
  const { code, message } = error as { code?: unknown; message: string }
  return `it was not reached (${typeof code === 'string' ? code : message})`
}

/** Undefined when it was taken, else why it was not: without the address, which may be a secret. */
export async function post(receiver: Receiver, body: object): Promise<string | undefined> {
  const { url, token, proxies, timeoutMs, withinMs, signal } = receiver
  const target = new URL(url)
  let agent: Agent
  try {
    // The attempts have a time of their own, which ends first.
    const most = 2 * timeoutMs
    agent = openAgent(proxyFor(target, proxies), {
      connectTimeout: most,
      headersTimeout: most,
      bodyTimeout: most,
    })
  } catch (error) {
    if (error instanceof MusterError) return error.message
    throw error
  }
  const within = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs)
  const ends = AbortSignal.any(within ? [signal, within] : [signal])
  const once = async (): Promise<void> => {
    const { statusCode, body: answer } = await agent.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ends]),
    })
    // Its status is all that counts: the rest is not waited for.
    answer.on('error', () => undefined).destroy()
    if (statusCode >= 200 && statusCode < 300) return
    const failure = new Unanswered(`it answered ${statusCode}`)
    throw mayPass(statusCode) ? failure : new AbortError(failure)
  }
  let last: unknown
  const noted = async (): Promise<void> => {
    try {
      await once()
    } catch (error) {
      last = error
      throw error
    }
  }
  try {
    await pRetry(noted, { ...attempts, signal: ends })
    return undefined
  } catch (error) {
    if (signal.aborted) return 'muster was stopped'
    // The end of all attempts says less than the last of them.
    return why(within?.aborted ? (last ?? error) : error)
  } finally {
    await agent.destroy()
  }
}
