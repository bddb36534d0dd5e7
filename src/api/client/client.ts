/** The API as the rest of Muster sees it: pages and records in, failures sorted, limits kept. */
import type { Clock } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import { type Budget, createBudget, type Usage } from '../budget/budget.ts'
import type { Purpose } from '../budget/day.ts'
import { requireBodySize, requireKey, requirePage, requirePath } from './before-sending.ts'
import type { Meta } from './envelope.ts'
import { Retriable } from './errors.ts'
import { type KeyInfo, readKey } from './key.ts'
import { pageLimit } from './paging.ts'
import { type Query, requestLine } from './redact.ts'
import { type Call, type RequestSeen, Sender } from './sender.ts'
import { type FetchOptions, Wire } from './wire.ts'

/** One page of a list. */
export interface Page {
  /** The answer as it came: what landing writes. */
  readonly bytes: Buffer
  readonly meta: Meta
  readonly empty: boolean
  /** The rows, parsed anew at every call. Throws Retriable when the body is not what its edges promised. */
  records(): unknown[]
  /** When the answer was complete; ISO 8601, UTC. */
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
  /** Of Muster, for the User-Agent. */
  readonly version?: string
  readonly onRequest?: (seen: RequestSeen) => void
  /** Whose part of the day pays where a call does not say. Default `sync`. */
  readonly purpose?: Purpose
  /** Aborts everything; the calls then reject with its reason. */
  readonly signal?: AbortSignal
}

export interface CallOptions {
  /** Whose part of the day pays. Default: that of the client. */
  readonly purpose?: Purpose
}

/** A request that changes something. */
export interface Write {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly query?: Query
  /** Becomes JSON, of 50 MB at most. */
  readonly body: unknown
  /** Texts of the body that no error may repeat, should the service quote them. */
  readonly hide?: readonly string[]
  /** Whether a second sending does no harm. Otherwise an ambiguous failure is thrown as Unsettled, not repeated. */
  readonly isRepeatable?: boolean
}

/** All calls throw ApiFailure, BudgetSpent, ConfigError or the abort reason. */
export interface Client {
  /** What the service says about the key; asked for at most once in 15 minutes. */
  getMe(): Promise<KeyInfo>
  /** `page` defaults to 1 and `limit` to pageLimit. */
  getPage(path: string, query?: Query, options?: CallOptions): Promise<Page>
  getRecord(path: string, query?: Query, options?: CallOptions): Promise<Fetched>
  /** The typed calls are in `workers.ts` and `uploads.ts`. Pays from the operator's part of the day. */
  write(request: Write): Promise<Fetched>
  usage(): Usage
  /** Cuts requests on their way; the client is of no use afterwards. */
  close(): Promise<void>
}

/** Milliseconds between two questions to `/me`. */
const meInterval = 15 * 60_000

/** Throws ConfigError when the address or the key can not be right. Sends nothing by itself. */
export function createClient(options: ClientOptions): Client {
  return new ApiClient(options)
}

class ApiClient implements Client {
  readonly #options: ClientOptions
  readonly #wire: Wire
  readonly #budget: Budget
  readonly #sender: Sender
  #me: { readonly key: KeyInfo; readonly at: number } | undefined
  #asking: Promise<KeyInfo> | undefined

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, version = '0', fetchOptions: limits = {}, signal } = options
    requireKey(apiKey)
    this.#options = options
    this.#wire = new Wire({ baseUrl, apiKey, version, limits, signal })
    this.#budget = options.budget ?? createBudget({ clock: options.clock })
    this.#sender = new Sender({ ...options, wire: this.#wire, budget: this.#budget })
  }

  async getMe(): Promise<KeyInfo> {
    if (this.#me && this.#options.clock.now() - this.#me.at < meInterval) return this.#me.key
    this.#asking ??= this.#askMe().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async getPage(path: string, query: Query = {}, options: CallOptions = {}): Promise<Page> {
    requirePath(path)
    const asked = { page: Number(query.page ?? 1), limit: Number(query.limit ?? pageLimit) }
    requirePage(path, { ...query, ...asked }, asked)
    const { purpose = this.#options.purpose ?? 'sync' } = options
    await this.#ensureMe()
    const { bytes, envelope, fetchedAt } = await this.#sender.exchange({
      method: 'GET',
      path,
      query: { ...query, ...asked },
      asked,
      purpose,
    })
    const { meta = { ...asked, total: 0 }, empty } = envelope
    return { bytes, meta, empty, records: () => envelope.records() as unknown[], fetchedAt }
  }

  async getRecord(path: string, query: Query = {}, options: CallOptions = {}): Promise<Fetched> {
    requirePath(path)
    await this.#ensureMe()
    const { purpose = this.#options.purpose ?? 'sync' } = options
    return this.#one({ method: 'GET', path, query, asked: {}, purpose })
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

  async close(): Promise<void> {
    await this.#wire.close()
  }

  /**
   * Keeps the budget's figures under 15 minutes old. A later `/me` that fails, or that its part of the day
   * does not pay for, leaves the earlier one in force: webhooks still have their own part.
   */
  async #ensureMe(): Promise<void> {
    try {
      await this.getMe()
    } catch (error) {
      if (!(error instanceof Retriable || error instanceof BudgetSpent) || !this.#me) throw error
      this.#me = { key: this.#me.key, at: this.#options.clock.now() }
    }
  }

  async #askMe(): Promise<KeyInfo> {
    const sentBefore = this.#budget.usage().requestsThisRun
    const call: Call = { method: 'GET', path: '/me', query: {}, asked: {}, purpose: 'operator' }
    const { bytes, record } = await this.#one(call)
    const key = readKey(record, bytes)
    this.#budget.refresh(key, sentBefore)
    this.#me = { key, at: this.#options.clock.now() }
    return key
  }

  async #one(call: Call): Promise<Fetched> {
    const { bytes, envelope, fetchedAt } = await this.#sender.exchange(call)
    return { bytes, record: envelope.records() as Record<string, unknown>, fetchedAt }
  }
}
