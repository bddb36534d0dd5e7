/** Runs one HTTP exchange: sends a request with the key only to the host of baseUrl, and reads the answer within limits. */
import type { Dispatcher } from 'undici'
import { MusterError } from '../../lib/errors.ts'
import { type HttpProxy, type ProxyVariables, proxyFor } from '../../lib/web/proxy.ts'
import { type Agent, openAgent } from '../agent.ts'
import { plainBytes } from '../plain-bytes.ts'
import { readBaseUrl } from './before-sending.ts'
import { isSuccess, readRefusal } from './envelope.ts'
import { AnswerTooLarge, failureOf } from './errors.ts'
import { networkFailure, tooSlowCode } from './network.ts'
import { harmless, type RequestQuery, requestLine } from './redact.ts'

/** Limits of an exchange. Times in milliseconds. */
export interface FetchOptions {
  /** Until the connection is established, including TLS. Default 5,000, so that a host that drops packets is reported soon. */
  readonly connectTimeout?: number
  /** From the sent request to the first header. Default 60,000. */
  readonly headersTimeout?: number
  /** Between two chunks of the body. Default 60,000. */
  readonly bodyTimeout?: number
  /** For the complete exchange, as a body may never end. Default 300,000. */
  readonly totalTimeout?: number
  /** Max bytes of an answer. Default 32 MiB: eighty times a typical page of 200 records. */
  readonly maxBytes?: number
  /** Max concurrent exchanges. Default 8. */
  readonly connections?: number
}

export const defaultMaxBytes = 32 * 1024 * 1024

const defaults: Required<FetchOptions> = {
  connectTimeout: 5_000,
  headersTimeout: 60_000,
  bodyTimeout: 60_000,
  totalTimeout: 300_000,
  maxBytes: defaultMaxBytes,
  connections: 8,
}

/** Max bytes of an error body, of which only one sentence is used. */
const errorBytes = 64 * 1024

/** The status reported without an answer. */
const noAnswer = 0

interface WireOptions {
  readonly baseUrl: string
  readonly apiKey: string
  /** Muster's version, for the User-Agent. */
  readonly version: string
  readonly limits: FetchOptions
  readonly signal: AbortSignal | undefined
  readonly proxies: ProxyVariables
  /** Replaces connections in tests. */
  readonly agent: Agent | undefined
}

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly query: RequestQuery
  /** JSON. */
  readonly body?: string | undefined
  /** Texts of the body that messages must not repeat. */
  readonly hide?: readonly string[] | undefined
}

/** A 2xx answer. */
export interface WireAnswer {
  readonly body: Buffer
  /** The Date header as sent. */
  readonly date: string | undefined
}

interface Exchange extends WireRequest {
  /** Called with the status (or noAnswer) and the bytes read, before any error is thrown. */
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
      // Some proxies compress anyway.
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
  async send(exchange: Exchange): Promise<WireAnswer> {
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

  /** Aborts requests under way. */
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
    const received = await readUpTo(maxBytes, body, Number(first(headers['content-length'])))
    const plain = received && (await plainBytes(received, headers['content-encoding'], maxBytes))
    if (!plain) throw new AnswerTooLarge({ request, status: 200 }, maxBytes)
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

  /** Returns only scheme and host: the rest of a redirect may repeat request parameters. */
  #originOf(location: string | undefined): string | undefined {
    if (location === undefined || !URL.canParse(location, this.#base.href)) return undefined
    return harmless(new URL(location, this.#base).origin, { secret: this.#apiKey })
  }
}

/** Aborts when the time is over or the caller aborts; removes its listener afterwards. */
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

/** Reads an error body; empty if it is long or incomplete. */
async function glimpse({ body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  try {
    const received = await readUpTo(errorBytes, body)
    return (
      (received && (await plainBytes(received, headers['content-encoding'], errorBytes))) ?? Buffer.alloc(0)
    )
  } catch {
    // The body was incomplete or too slow: the status alone decides.
    return Buffer.alloc(0)
  }
}

/** First size of the buffer for a body of unknown length; it doubles when full. */
const firstRoom = 64 * 1024

/**
 * Undefined if the body exceeds the cap. Copies chunks as they arrive, so that each is freed young: kept until the end, they
 * made V8 run a full collection for every 12 MB of pages instead of every 25 MB.
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
    // Leaving the loop destroys the body and its connection: the rest is never received.
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
