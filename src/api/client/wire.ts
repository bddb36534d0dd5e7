/** One HTTP exchange: a request with the key, sent only to the host of baseUrl, and its answer, read within limits. */
import type { Dispatcher } from 'undici'
import { MusterError } from '../../lib/errors.ts'
import { type HttpProxy, type ProxyVariables, proxyFor } from '../../lib/web/proxy.ts'
import { type Agent, openAgent } from '../undici/agent.ts'
import { plainBytes } from '../undici/plain-bytes.ts'
import { readBaseUrl } from './before-sending.ts'
import { isSuccess, readRefusal } from './envelope.ts'
import { failureOf, TooLarge } from './errors.ts'
import { networkFailure, tooSlowCode } from './network.ts'
import { harmless, type Query, requestLine } from './redact.ts'

/** Limits of an exchange. Times in milliseconds. */
export interface FetchOptions {
  /** Until the connection is established, TLS included. Default 5,000: a host that drops packets is told as soon as one that refuses. */
  readonly connectTimeout?: number
  /** From the sent request to the first header. Default 60,000. */
  readonly headersTimeout?: number
  /** Between two pieces of the body. Default 60,000. */
  readonly bodyTimeout?: number
  /** The whole exchange, against a body that never ends. Default 300,000. */
  readonly totalTimeout?: number
  /** Bytes of an answer. Default 32 MiB: eighty times a usual page of 200 records. */
  readonly maxBytes?: number
  /** Concurrent exchanges. Default 8. */
  readonly connections?: number
}

export const usualMaxBytes = 32 * 1024 * 1024

const defaults: Required<FetchOptions> = {
  connectTimeout: 5_000,
  headersTimeout: 60_000,
  bodyTimeout: 60_000,
  totalTimeout: 300_000,
  maxBytes: usualMaxBytes,
  connections: 8,
}

/** An error body is read for one sentence only. */
const errorBytes = 64 * 1024

/** The status that observers see when no answer came. */
const noAnswer = 0

interface WireOptions {
  readonly baseUrl: string
  readonly apiKey: string
  /** Of Muster, for the User-Agent. */
  readonly version: string
  readonly limits: FetchOptions
  readonly signal: AbortSignal | undefined
  readonly proxies: ProxyVariables
  /** Takes the place of connections, in tests. */
  readonly agent: Agent | undefined
}

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly query: Query
  /** JSON. */
  readonly body?: string | undefined
  /** Texts of the body that no message may repeat. */
  readonly hide?: readonly string[] | undefined
}

/** A 2xx answer. */
export interface Received {
  readonly body: Buffer
  /** The Date header as sent. */
  readonly date: string | undefined
}

interface Exchange extends WireRequest {
  /** Called with the status (noAnswer when none came) and the bytes read, before any error is thrown. */
  readonly seen: (status: number, bytes: number) => void
}

export class Wire {
  readonly #base: URL
  readonly #apiKey: string
  readonly #headers: Record<string, string>
  readonly #limits: Required<FetchOptions>
  readonly #signal: AbortSignal | undefined
  readonly #agent: Agent
  readonly #proxy: HttpProxy | undefined

  constructor(options: WireOptions) {
    this.#base = readBaseUrl(options.baseUrl)
    this.#apiKey = options.apiKey
    this.#headers = {
      authorization: `Bearer ${options.apiKey}`,
      accept: 'application/json',
      // Some proxies compress all the same.
      'accept-encoding': 'identity',
      'user-agent': `muster/${options.version}`,
    }
    this.#limits = { ...defaults, ...options.limits }
    this.#signal = options.signal
    const { connectTimeout, headersTimeout, bodyTimeout, connections } = this.#limits
    this.#proxy = proxyFor(this.#base, options.proxies)
    this.#agent =
      options.agent ?? openAgent(this.#proxy, { connectTimeout, headersTimeout, bodyTimeout, connections })
  }

  get connections(): number {
    return this.#limits.connections
  }

  /** A 2xx answer. Throws ApiFailure, ConfigError, or the reason of the abort signal. */
  async send(exchange: Exchange): Promise<Received> {
    const request = requestLine(exchange.path, exchange.query, exchange.method)
    const timer = new Stopwatch(this.#limits.totalTimeout, this.#signal)
    let status = noAnswer
    let bytes = 0
    try {
      const answer = await this.#agent.request(this.#options(exchange, timer.signal))
      status = answer.statusCode
      const body = isSuccess(status) ? await this.#read(answer, request) : await glimpse(answer)
      bytes = body.length
      if (isSuccess(status)) return { body, date: first(answer.headers.date) }
      throw this.#failure(answer, body, exchange)
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (error instanceof MusterError) throw error
      throw networkFailure(error, { request }, { host: this.#base.host, proxy: this.#proxy })
    } finally {
      timer.stop()
      exchange.seen(status, bytes)
    }
  }

  /** Cuts requests that are under way. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #options({ method, path, query, body }: WireRequest, signal: AbortSignal): Dispatcher.RequestOptions {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, String(value))
    }
    return {
      origin: this.#base.origin,
      path: `${this.#base.pathname}${path}${search.size > 0 ? `?${search}` : ''}`,
      method,
      headers: body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
      signal,
    }
  }

  async #read({ body, headers }: Dispatcher.ResponseData, request: string): Promise<Buffer> {
    const { maxBytes } = this.#limits
    const whole = await readUpTo(maxBytes, body, Number(first(headers['content-length'])))
    const plain = whole && (await plainBytes(whole, headers['content-encoding'], maxBytes))
    if (!plain) throw new TooLarge({ request, status: 200 }, maxBytes)
    return plain
  }

  #failure({ statusCode, headers }: Dispatcher.ResponseData, body: Buffer, sent: WireRequest) {
    const hidden = { secret: this.#apiKey, values: sent.hide }
    const { foreign, ...words } = readRefusal(statusCode, body, hidden)
    const facts = {
      request: requestLine(sent.path, sent.query, sent.method),
      isWrite: sent.method !== 'GET',
      ...words,
      retryAfter: first(headers['retry-after']),
      date: first(headers.date),
      location: this.#originOf(first(headers.location)),
    }
    return failureOf(statusCode, facts, foreign)
  }

  /** Only scheme and host: the rest of a redirect may repeat the parameters of the request. */
  #originOf(location: string | undefined): string | undefined {
    if (location === undefined || !URL.canParse(location, this.#base.href)) return undefined
    return harmless(new URL(location, this.#base).origin, { secret: this.#apiKey })
  }
}

/** Aborts when the time is over or when the caller aborts, and leaves no listener behind. */
class Stopwatch {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = () => this.#controller.abort(this.#caller?.reason)

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#caller = caller
    this.#timer = setTimeout(() => this.#controller.abort(tooSlow(ms)), ms)
    caller?.addEventListener('abort', this.#onAbort, { once: true })
    if (caller?.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }
}

function tooSlow(ms: number): Error {
  return Object.assign(new Error(`not finished after ${ms} ms`), { code: tooSlowCode })
}

/** An error body; empty when it is long or breaks off. */
async function glimpse({ body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  try {
    const whole = await readUpTo(errorBytes, body)
    return (whole && (await plainBytes(whole, headers['content-encoding'], errorBytes))) ?? Buffer.alloc(0)
  } catch {
    // The body broke off or came too slowly: its status alone decides what happens.
    return Buffer.alloc(0)
  }
}

/** First size of the buffer for a body of unknown length; it doubles when full. */
const firstRoom = 64 * 1024

/**
 * Undefined when the body exceeds the cap. Pieces are copied as they come, so that each is freed young: kept until the
 * last one, they made V8 run a full collection for every 12 MB of pages instead of every 25.
 */
async function readUpTo(
  cap: number,
  body: AsyncIterable<Buffer>,
  said = Number.NaN,
): Promise<Buffer | undefined> {
  let room = Buffer.allocUnsafeSlow(said <= cap ? said : firstRoom)
  let length = 0
  for await (const piece of body) {
    const end = length + piece.length
    // Leaving the loop destroys the body and with it the connection: the rest is never received.
    if (end > cap) return undefined
    if (end > room.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(end, room.length * 2))
      room.copy(wider, 0, 0, length)
      room = wider
    }
    piece.copy(room, length)
    length = end
  }
  return room.subarray(0, length)
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
