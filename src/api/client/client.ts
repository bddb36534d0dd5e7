/** The API for the rest of Muster: reads pages and records, classifies failures, keeps the limits. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import { type Budget, createBudget } from '../budget/budget.ts'
import type { Purpose } from '../budget/day.ts'
import type { Usage } from '../budget/usage.ts'
import type { Agent } from '../undici/agent.ts'
import { isAsked } from './asked-record.ts'
import { requireBodySize, requireKey, requirePage, requirePath } from './before-sending.ts'
import { type Meta, readEnvelope } from './envelope.ts'
import { KeyRefused, OtherRecord, Retriable, strayRefusal } from './errors.ts'
import { type KeyInfo, readKey } from './key.ts'
import { LargePages } from './large-pages.ts'
import { type Asked, isPastEnd, pageLimit, pagePastEnd } from './paging.ts'
import { type Query, requestLine } from './redact.ts'
import {
  type Answer,
  type Call,
  type CallOptions,
  type PageOptions,
  type RequestSeen,
  Sender,
  type Write,
} from './sender.ts'
import { type FetchOptions, usualMaxBytes, Wire } from './wire.ts'

export type { CallOptions }

/** One page of a list. */
export interface Page {
  /** The answer as received, which landing writes. */
  readonly bytes: Buffer
  readonly meta: Meta
  readonly empty: boolean
  /** The rows, parsed again at every call. Throws Retriable when the body contradicts its edges. */
  records(): unknown[]
  /** Time at which the answer was complete; ISO 8601, UTC. */
  readonly fetchedAt: string
}

/** One record read by id. */
export interface Fetched {
  readonly bytes: Buffer
  readonly record: Record<string, unknown>
  readonly fetchedAt: string
}

export interface ClientOptions {
  /** Ends in the version segment; https, or http on this machine. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly clock: Clock
  readonly rng: Rng
  /** Shared by all clients of one key. Default: one of its own without run limits. */
  readonly budget?: Budget
  readonly fetchOptions?: FetchOptions
  /** Takes the place of connections, in tests. */
  readonly agent?: Agent
  /** Without them requests are sent directly. */
  readonly proxies?: ProxyVariables | undefined
  /** Of Muster, for the User-Agent. */
  readonly version?: string
  readonly onRequest?: (seen: RequestSeen) => void
  /** Called with the Date header of each answer in the service's own form. */
  readonly onDate?: (date: string | undefined) => void
  /** The purpose whose reserve pays for calls that name none. Default `sync`. */
  readonly purpose?: Purpose
  /** Milliseconds for which a host that accepts no connection is tried; without it a few seconds. */
  readonly patienceMs?: number | undefined
  /** Called when a host has accepted no connection for some seconds and is still tried. */
  readonly onUnreached?: (sentence: string) => void
  /** Aborts everything; the calls then reject with its reason. */
  readonly signal?: AbortSignal
}

/** All calls throw ApiFailure, BudgetSpent, ConfigError or the abort reason. */
export interface Client {
  /** The answer of `/me`, requested at most once in 15 minutes. */
  getMe(): Promise<KeyInfo>
  /** `page` defaults to 1 and `limit` to pageLimit. */
  getPage(path: string, query?: Query, options?: PageOptions): Promise<Page>
  getRecord(path: string, query?: Query, options?: CallOptions): Promise<Fetched>
  /** The typed calls are in `workers.ts` and `uploads.ts`. Paid from the operator's reserve. */
  write(request: Write): Promise<Fetched>
  usage(): Usage
  /** Why no request of this purpose may be sent now; undefined when one may. */
  refusal(purpose: Purpose): BudgetSpent | undefined
  /** Cuts requests under way; the client cannot be used afterwards. */
  close(): Promise<void>
}

/** Milliseconds between two requests for `/me`. */
const meInterval = 15 * 60_000

/** Milliseconds between a 401 and the request for `/me` that decides. */
const secondLookMs = 1_000

const mePath = '/me'

/** Throws ConfigError when the address or the key cannot be right. Sends nothing. */
export function createClient(options: ClientOptions): Client {
  return new ApiClient(options)
}

class ApiClient implements Client {
  readonly #options: ClientOptions
  readonly #wire: Wire
  readonly #budget: Budget
  readonly #sender: Sender
  readonly #largePages: LargePages
  #me: { readonly key: KeyInfo; readonly at: number } | undefined
  #asking: Promise<KeyInfo> | undefined
  /** `/me` after a 401, for all calls that got one meanwhile. */
  #lookingAgain: Promise<KeyInfo> | undefined

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, version = '0', fetchOptions: limits = {}, signal, proxies = {}, agent } = options
    requireKey(apiKey)
    this.#options = options
    this.#wire = new Wire({ baseUrl, apiKey, version, limits, signal, proxies, agent })
    this.#largePages = new LargePages(limits.maxBytes ?? usualMaxBytes)
    this.#budget = options.budget ?? createBudget({ clock: options.clock })
    this.#sender = new Sender({ ...options, wire: this.#wire, budget: this.#budget })
  }

  async getMe(): Promise<KeyInfo> {
    if (this.#me && elapsedOf(this.#options.clock) - this.#me.at < meInterval) return this.#me.key
    this.#asking ??= this.#accept(() => this.#one(this.#meCall)).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async getPage(path: string, query: Query = {}, options: PageOptions = {}): Promise<Page> {
    requirePath(path)
    const asked = { page: Number(query.page ?? 1), limit: Number(query.limit ?? pageLimit) }
    requirePage(path, { ...query, ...asked }, asked)
    await this.#ensureMe()
    const read = () => this.#readPage(path, { ...query, ...asked }, options)
    const { bytes, envelope, fetchedAt } = await this.#orPastEnd(read, asked, options.rows)
    const { meta = { ...asked, total: 0 }, empty } = envelope
    return { bytes, meta, empty, records: () => envelope.records() as unknown[], fetchedAt }
  }

  #readPage(path: string, query: Query & Asked, options: PageOptions): Promise<Answer> {
    const { purpose = this.#options.purpose ?? 'sync', mayBeHollow = false } = options
    return this.#largePages.read(path, query, part => {
      const asked = { page: part.page, limit: part.limit }
      return this.#exchange({ method: 'GET', path, query: part, asked, purpose, mayBeHollow })
    })
  }

  /** One refusal may be a slip. */
  async #orPastEnd(
    read: () => Promise<Answer>,
    asked: Asked,
    rows = Number.POSITIVE_INFINITY,
  ): Promise<Answer> {
    const refused = (error: unknown): undefined => {
      if (!isPastEnd(error, asked, rows)) throw error
    }
    const page = (await read().catch(refused)) ?? (await read().catch(refused))
    if (page) return page
    const bytes = pagePastEnd(asked, rows)
    const fetchedAt = new Date(this.#options.clock.now()).toISOString()
    return { bytes, envelope: readEnvelope(bytes, asked), fetchedAt }
  }

  async getRecord(path: string, query: Query = {}, options: CallOptions = {}): Promise<Fetched> {
    requirePath(path)
    await this.#ensureMe()
    const { purpose = this.#options.purpose ?? 'sync' } = options
    const fetched = await this.#one({ method: 'GET', path, query, asked: {}, purpose })
    if (!isAsked(path, fetched.record)) throw new OtherRecord({ request: requestLine(path, query) })
    return fetched
  }

  async write({ method, path, query = {}, body, hide, isRepeatable = false }: Write): Promise<Fetched> {
    requirePath(path, method)
    const text = JSON.stringify(body)
    requireBodySize(requestLine(path, query, method), text)
    await this.#ensureMe()
    const call = { method, path, query, body: text, hide, asked: {}, purpose: 'operator' as const }
    return this.#one({ ...call, isOnce: !isRepeatable })
  }

  usage(): Usage {
    return this.#budget.usage()
  }

  refusal(purpose: Purpose): BudgetSpent | undefined {
    return this.#budget.refusal(purpose)
  }

  async close(): Promise<void> {
    await this.#wire.close()
  }

  /**
   * Keeps the figures of the budget less than 15 minutes old. If a later `/me` fails, or the budget does not allow it, the
   * earlier one stays in force: other purposes still have their reserves.
   */
  async #ensureMe(): Promise<void> {
    try {
      await this.getMe()
    } catch (error) {
      if (!(error instanceof Retriable || error instanceof BudgetSpent) || !this.#me) throw error
      this.#me = { key: this.#me.key, at: elapsedOf(this.#options.clock) }
    }
  }

  /** Events pay for their limits too: they decide how often they are asked for. */
  get #meCall(): Call {
    const purpose = this.#options.purpose === 'webhook' ? 'webhook' : 'operator'
    return { method: 'GET', path: mePath, query: {}, asked: {}, purpose }
  }

  async #accept(ask: () => Promise<Fetched>): Promise<KeyInfo> {
    const sentBefore = this.#budget.usage().requestsThisRun
    const { bytes, record } = await ask()
    const key = readKey(record, bytes)
    this.#budget.refresh(key, sentBefore)
    this.#me = { key, at: elapsedOf(this.#options.clock) }
    return key
  }

  async #one(call: Call): Promise<Fetched> {
    return recordOf(await this.#exchange(call))
  }

  /** One 401 may be a slip of one of several servers: the key is refused once `/me` refuses it, too. */
  async #exchange(call: Call): Promise<Answer> {
    try {
      return await this.#sender.exchange(call)
    } catch (error) {
      if (!(error instanceof KeyRefused)) throw error
    }
    const { clock, signal } = this.#options
    const waited = () => clock.sleep(secondLookMs, signal)
    if (call.path === mePath) return waited().then(() => this.#sender.exchange(call))
    this.#lookingAgain ??= waited().then(() =>
      this.#accept(async () => recordOf(await this.#sender.exchange(this.#meCall))),
    )
    await this.#lookingAgain.finally(() => {
      this.#lookingAgain = undefined
    })
    return this.#sender.exchange(call).catch(error => {
      throw error instanceof KeyRefused ? strayRefusal(error) : error
    })
  }
}

function recordOf({ bytes, envelope, fetchedAt }: Answer): Fetched {
  return { bytes, record: envelope.records() as Record<string, unknown>, fetchedAt }
}
