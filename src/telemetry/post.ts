/** Posts JSON to an address of the settings: three attempts at most, each with its time, and no redirection. */
import pRetry, { AbortError } from 'p-retry'

export interface Receiver {
  readonly url: string
  readonly token?: string | undefined
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

function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return late
  const { code, message } = Object(error.cause) as { code?: unknown; message?: unknown }
  const detail = typeof code === 'string' ? code : message
  return typeof detail === 'string' ? `it was not reached (${detail})` : error.message
}

/** Undefined when it was taken, else why it was not: without the address, which may be a secret. */
export async function post(receiver: Receiver, body: object): Promise<string | undefined> {
  const { url, token, timeoutMs, withinMs, signal } = receiver
  const within = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs)
  const ends = AbortSignal.any(within ? [signal, within] : [signal])
  const once = async (): Promise<void> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ends]),
    })
    await answer.body?.cancel()
    if (answer.ok) return
    const failure = new Error(`it answered ${answer.status}`)
    throw mayPass(answer.status) ? failure : new AbortError(failure)
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
    // What fetch throws when nobody answers is a TypeError, which is retried only if it says so.
    await pRetry(noted, { ...attempts, signal: ends })
    return undefined
  } catch (error) {
    if (signal.aborted) return 'muster was stopped'
    // The end of all attempts says less than the last of them.
    return why(within?.aborted ? (last ?? error) : error)
  }
}
