/** Posts JSON to an address of the settings: at most three attempts, each with a time limit, and no redirects. */
import pRetry, { AbortError } from 'p-retry'
import { type Agent, openAgent, proxyFailure } from '../api/agent.ts'
import { MusterError } from '../lib/errors.ts'
import { type ProxyVariables, proxyFor } from '../lib/web/proxy.ts'

export interface PostReceiver {
  readonly url: string
  readonly token?: string | undefined
  readonly proxies: ProxyVariables
  /** Milliseconds per attempt. */
  readonly timeoutMs: number
  /** Milliseconds for all attempts together, including pauses. */
  readonly withinMs?: number
  /** Cancels the post when aborted. */
  readonly signal: AbortSignal
}

const attempts = { retries: 2, minTimeout: 500, factor: 2 }

/** Whether another attempt could succeed. */
const mayPass = (status: number): boolean => status === 408 || status === 429 || status >= 500

/** The reason when the time has run out. */
export const late = 'it did not answer in time'

/** The receiver answered with a status other than success. */
class PostRefused extends Error {}

function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return late
  if (error instanceof PostRefused || error instanceof MusterError) return error.message
  const proxy = proxyFailure(error)
  if (proxy) return `its proxy did not connect (${proxy.code})`
  const { code, message } = error as { code?: unknown; message: string }
  return `it could not be reached (${typeof code === 'string' ? code : message})`
}

/** Returns undefined if accepted, otherwise why not, without the address, which may be secret. */
export async function post(receiver: PostReceiver, body: object): Promise<string | undefined> {
  const { url, token, proxies, timeoutMs, withinMs, signal } = receiver
  const target = new URL(url)
  let agent: Agent
  try {
    // Longer than the limits of the attempts, which must end first.
    const maxMs = 2 * timeoutMs
    agent = openAgent(proxyFor(target, proxies), {
      connectTimeout: maxMs,
      headersTimeout: maxMs,
      bodyTimeout: maxMs,
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
    // Only the status matters: does not wait for the body.
    answer.on('error', () => undefined).destroy()
    if (statusCode >= 200 && statusCode < 300) return
    const failure = new PostRefused(`it answered ${statusCode}`)
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
    // The error of the last attempt says more than that the time ran out.
    return why(within?.aborted ? (last ?? error) : error)
  } finally {
    await agent.destroy()
  }
}
