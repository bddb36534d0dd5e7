/** The API as the rest of Muster sees it: pages and records in, failures sorted, limits kept. */
import PQueue from 'p-queue'
import type { Clock } from '../lib/clock.ts'
import { BudgetSpent } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { requireKey, requirePage, requirePath } from './before-sending.ts'
import { type Budget, createBudget, type Usage } from './budget.ts'
import type { Purpose } from './day.ts'
import { type Envelope, type Meta, readEnvelope } from './envelope.ts'
import { Retriable } from './errors.ts'
import { type KeyInfo, readKey } from './key.ts'
import { PAGE_LIMIT } from './paging.ts'
import { type Query, requestLine } from './redact.ts'
import { LONGEST_WAIT, MAX_ATTEMPTS, retryDelay } from './retry.ts'
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

/** One request that was sent, for progress displays. */
export interface RequestSeen {
  readonly path: string
  /** 0 when no answer came. */
  readonly status: number
  readonly ms: number
  /** Of the body. */
  readonly bytes: number
  /** 1 is the first sending. */
  readonly attempt: number
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
  /** Aborts everything; the calls then reject with its reason. */
  readonly signal?: AbortSignal
}

export interface CallOptions {
  /** Whose part of the day pays. Default `sync`. */
  readonly purpose?: Purpose
}

/** All calls throw ApiFailure, BudgetSpent, ConfigError or the abort reason. */
export interface Client {
  /** What the service says about the key; asked for at most once in 15 minutes. */
  getMe(): Promise<KeyInfo>
  /** `page` defaults to 1 and `limit` to PAGE_LIMIT. */
  getPage(path: string, query?: Query, options?: CallOptions): Promise<Page>
  getRecord(path: string, query?: Query, options?: CallOptions): Promise<Fetched>
  usage(): Usage
  /** Cuts requests on their way; the client is of no use afterwards. */
  close(): Promise<void>
}

/** Milliseconds between two questions to `/me`. */
const ME_INTERVAL = 15 * 60_000

interface Call {
  readonly path: string
  readonly query: Query
  readonly asked: { readonly page?: number; readonly limit?: number }
  readonly purpose: Purpose
}

interface Answer {
  readonly bytes: Buffer
  readonly envelope: Envelope
  readonly fetchedAt: string
}

/** Throws ConfigError when the address or the key can not be right. Sends nothing by itself. */
export function createClient(options: ClientOptions): Client {
  return new ApiClient(options)
}

class ApiClient implements Client {
  readonly #options: ClientOptions
  readonly #wire: Wire
  readonly #budget: Budget
  /** Before the budget, not behind it: a request that has leave to send must not wait for a connection. */
  readonly #lanes: PQueue
  #me: { readonly key: KeyInfo; readonly at: number } | undefined
  #asking: Promise<KeyInfo> | undefined

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, version = '0', fetchOptions: limits = {}, signal } = options
    requireKey(apiKey)
    this.#options = options
    this.#wire = new Wire({ baseUrl, apiKey, version, limits, signal })
    this.#budget = options.budget ?? createBudget({ clock: options.clock })
    this.#lanes = new PQueue({ concurrency: this.#wire.connections })
  }

  async getMe(): Promise<KeyInfo> {
    if (this.#me && this.#options.clock.now() - this.#me.at < ME_INTERVAL) return this.#me.key
    this.#asking ??= this.#askMe().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async getPage(path: string, query: Query = {}, options: CallOptions = {}): Promise<Page> {
    requirePath(path)
    const asked = { page: Number(query.page ?? 1), limit: Number(query.limit ?? PAGE_LIMIT) }
    requirePage(path, { ...query, ...asked }, asked)
    const { purpose = 'sync' } = options
    await this.#ensureMe()
    const { bytes, envelope, fetchedAt } = await this.#exchange({
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
    const call: Call = { path, query, asked: {}, purpose: options.purpose ?? 'sync' }
    const { bytes, envelope, fetchedAt } = await this.#exchange(call)
    return { bytes, record: envelope.records() as Record<string, unknown>, fetchedAt }
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
    const call: Call = { path: '/me', query: {}, asked: {}, purpose: 'operator' }
    const { bytes, envelope } = await this.#exchange(call)
    const key = readKey(envelope.records() as Record<string, unknown>, bytes)
    this.#budget.refresh(key, sentBefore)
    this.#me = { key, at: this.#options.clock.now() }
    return key
  }

  async #exchange(call: Call): Promise<Answer> {
    try {
      return await this.#lanes.add(() => this.#repeat(call))
    } catch (error) {
      // What waits reports an abort in words of its own.
      this.#options.signal?.throwIfAborted()
      throw error
    }
  }

  /** Leave to send, send, and again while that may help. */
  async #repeat(call: Call): Promise<Answer> {
    const { signal } = this.#options
    let notBefore = 0
    for (let attempt = 1; ; attempt++) {
      await this.#budget.take(call.purpose, { notBefore, signal })
      try {
        return await this.#send(call, attempt)
      } catch (error) {
        if (!(error instanceof Retriable)) throw error
        notBefore = this.#nextMoment(error, attempt)
      }
    }
  }

  async #send({ path, query, asked }: Call, attempt: number): Promise<Answer> {
    const { clock, apiKey, onRequest } = this.#options
    const started = clock.now()
    const seen = (status: number, bytes: number) =>
      onRequest?.({ path, status, ms: clock.now() - started, bytes, attempt })
    const bytes = await this.#wire.get({ path, query, seen })
    const envelope = readEnvelope(bytes, asked, { request: requestLine(path, query), secret: apiKey })
    return { bytes, envelope, fetchedAt: new Date(clock.now()).toISOString() }
  }

  /**
   * When to send again (ms since the epoch); throws when not. After 429 nothing on the key goes out before.
   */
  #nextMoment(error: Retriable, attempt: number): number {
    const { clock, rng } = this.#options
    const now = clock.now()
    const limited = error.status === 429
    const delay = retryDelay({ attempt, limited, retryAfter: error.facts.retryAfter, now, rng })
    if (limited) this.#budget.pause(now + delay)
    if (delay > LONGEST_WAIT) throw stopped(error, `it asks for ${Math.ceil(delay / 60_000)} minutes`)
    const why = attempt >= MAX_ATTEMPTS ? `sent ${attempt} times` : this.#refusal()
    if (why === undefined) return now + delay
    throw limited ? stopped(error, why) : error.final(why)
  }

  #refusal(): string | undefined {
    return this.#budget.spendRetry() ? undefined : 'a tenth of all requests was repeated already'
  }
}

/** A key that is still limited, or a service that names a far moment, ends the run instead of failing it. */
function stopped(error: Retriable, why: string): BudgetSpent {
  return new BudgetSpent({
    what: `the service wants no requests now, ${why}`,
    where: error.report.where ?? '',
    next: 'run again later',
    cause: error,
  })
}
