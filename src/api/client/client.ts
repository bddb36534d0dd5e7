/** Gives the rest of Muster the API: reads pages and records, classifies failures, respects the limits. */
import { operations } from '../../contract/operations.ts'
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import type { Agent } from '../agent.ts'
import { type Budget, createBudget, type Usage } from '../budget/budget.ts'
import type { Purpose } from '../budget/day.ts'
import { requireBodySize, requireKey, requirePage, requirePath } from './before-sending.ts'
import { type Meta, readEnvelope } from './envelope.ts'
import { KeyRefused, OtherRecord, RetriableError, strayRefusal } from './errors.ts'
import { type KeyInfo, readKey } from './key.ts'
import { LargePages } from './large-pages.ts'
import { isPastEnd, type PageRequest, pageLimit, pagePastEnd } from './paging.ts'
import { type RequestQuery, requestLine } from './redact.ts'
import {
  type ApiAnswer,
  type ApiCall,
  type CallOptions,
  type PageOptions,
  Sender,
  type SentRequest,
  type Write,
} from './sender.ts'
import { defaultMaxBytes, type FetchOptions, Wire } from './wire.ts'

const paths: readonly string[] = Object.values(operations).map(({ path }) => path)

/** Turns /trades/{id} into a pattern for /trades/65f0. Records below a company name it in their answer. */
const withId = Object.values(operations)
  .filter(({ path, answers }) => answers === 'record' && path.includes('{id}'))
  .map(({ path }) => ({
    shape: new RegExp(`^${path.replace('{id}', '([^/]+)')}$`),
    isBelow: !path.endsWith('{id}'),
  }))

const objectId = /^[0-9a-f]{24}$/i

type JsonObject = Record<string, unknown>

/** A short id may stand for a full one; only the field nanoid shows for which. */
function isNamed(asked: string, { id, nanoid }: JsonObject): boolean {
  if (typeof id !== 'string') return false
  if (id === asked || nanoid === asked) return true
  return typeof nanoid !== 'string' && objectId.test(id) && !objectId.test(asked)
}

/** Whether the record is the requested one; true if the path has no record id. */
export function isAsked(path: string, record: JsonObject): boolean {
  if (paths.includes(path)) return true
  for (const { shape, isBelow } of withId) {
    const asked = shape.exec(path)?.[1]
    if (asked === undefined) continue
    const named = isBelow ? record.company : record
    return (isBelow && named === undefined) || isNamed(decodeURIComponent(asked), Object(named))
  }
  return true
}

export type { CallOptions }

/** One page of a list. */
export interface FetchedPage {
  /** The answer as received, which landing writes. */
  readonly bytes: Buffer
  readonly meta: Meta
  readonly empty: boolean
  /** The rows, parsed again at every call. Throws RetriableError if the body contradicts its edges. */
  records(): unknown[]
  /** Time at which the answer was complete; ISO 8601, UTC. */
  readonly fetchedAt: string
}

/** A record read by id. */
export interface FetchedRecord {
  readonly bytes: Buffer
  readonly record: Record<string, unknown>
  readonly fetchedAt: string
}

export interface ClientOptions {
  /** Ends with the version segment; https, or http on this machine. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly clock: Clock
  readonly rng: Rng
  /** Shared by all clients of one key. Default: one of its own without run limits. */
  readonly budget?: Budget
  readonly fetchOptions?: FetchOptions
  /** Replaces connections in tests. */
  readonly agent?: Agent
  /** Without them requests are sent directly. */
  readonly proxies?: ProxyVariables | undefined
  /** Muster's version, for the User-Agent. */
  readonly version?: string
  readonly onRequest?: (seen: SentRequest) => void
  /** Called with the Date header of each answer in the service's own form. */
  readonly onDate?: (date: string | undefined) => void
  /** The purpose of calls that do not name one. Default `sync`. */
  readonly purpose?: Purpose
  /** Milliseconds to keep trying a host that accepts no connection; a few seconds by default. */
  readonly patienceMs?: number | undefined
  /** Called after a host has accepted no connection for some seconds, while it is still being tried. */
  readonly onUnreached?: (sentence: string) => void
  /** Aborts everything; the calls then reject with its reason. */
  readonly signal?: AbortSignal
}

/** All calls throw ApiFailure, BudgetSpent, ConfigError or the abort reason. */
export interface Client {
  /** The answer of `/me`, requested at most once in 15 minutes. */
  getMe(): Promise<KeyInfo>
  /** `page` defaults to 1 and `limit` to pageLimit. */
  getPage(path: string, query?: RequestQuery, options?: PageOptions): Promise<FetchedPage>
  getRecord(path: string, query?: RequestQuery, options?: CallOptions): Promise<FetchedRecord>
  /** The typed calls are in `workers.ts` and `uploads.ts`. Paid from the operator's reserve. */
  write(request: Write): Promise<FetchedRecord>
  usage(): Usage
  /** Why no request of this purpose may be sent now; undefined if one may. */
  refusal(purpose: Purpose): BudgetSpent | undefined
  /** Aborts requests under way; the client cannot be used afterwards. */
  close(): Promise<void>
}

/** Milliseconds between two requests for `/me`. */
const meInterval = 15 * 60_000

/** Milliseconds between a 401 and the request for `/me` that decides. */
const secondLookMs = 1_000

const mePath = '/me'

/** Throws ConfigError if the address or the key is invalid. Sends nothing. */
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
  /** `/me` after a 401, shared by all calls that got one. */
  #lookingAgain: Promise<KeyInfo> | undefined

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, version = '0', fetchOptions: limits = {}, signal, proxies = {}, agent } = options
    requireKey(apiKey)
    this.#options = options
    this.#wire = new Wire({ baseUrl, apiKey, version, limits, signal, proxies, agent })
    this.#largePages = new LargePages(limits.maxBytes ?? defaultMaxBytes)
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

  async getPage(path: string, query: RequestQuery = {}, options: PageOptions = {}): Promise<FetchedPage> {
    requirePath(path)
    const asked = { page: Number(query.page ?? 1), limit: Number(query.limit ?? pageLimit) }
    requirePage(path, { ...query, ...asked }, asked)
    await this.#ensureMe()
    const read = () => this.#readPage(path, { ...query, ...asked }, options)
    const { bytes, envelope, fetchedAt } = await this.#orPastEnd(read, asked, options.rows)
    const { meta = { ...asked, total: 0 }, empty } = envelope
    return { bytes, meta, empty, records: () => envelope.records() as unknown[], fetchedAt }
  }

  #readPage(path: string, query: RequestQuery & PageRequest, options: PageOptions): Promise<ApiAnswer> {
    const { purpose = this.#options.purpose ?? 'sync', mayBeHollow = false } = options
    return this.#largePages.read(path, query, part => {
      const asked = { page: part.page, limit: part.limit }
      return this.#exchange({ method: 'GET', path, query: part, asked, purpose, mayBeHollow })
    })
  }

  /** Asks twice, as one refusal may be a slip of the service. */
  async #orPastEnd(
    read: () => Promise<ApiAnswer>,
    asked: PageRequest,
    rows = Number.POSITIVE_INFINITY,
  ): Promise<ApiAnswer> {
    const refused = (error: unknown): undefined => {
      if (!isPastEnd(error, asked, rows)) throw error
    }
    const page = (await read().catch(refused)) ?? (await read().catch(refused))
    if (page) return page
    const bytes = pagePastEnd(asked, rows)
    const fetchedAt = new Date(this.#options.clock.now()).toISOString()
    return { bytes, envelope: readEnvelope(bytes, asked), fetchedAt }
  }

  async getRecord(path: string, query: RequestQuery = {}, options: CallOptions = {}): Promise<FetchedRecord> {
    requirePath(path)
    await this.#ensureMe()
    const { purpose = this.#options.purpose ?? 'sync' } = options
    const fetched = await this.#one({ method: 'GET', path, query, asked: {}, purpose })
    if (!isAsked(path, fetched.record)) throw new OtherRecord({ request: requestLine(path, query) })
    return fetched
  }

  async write({ method, path, query = {}, body, hide, isRepeatable = false }: Write): Promise<FetchedRecord> {
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
   * earlier one still applies: other purposes still have their reserves.
   */
  async #ensureMe(): Promise<void> {
    try {
      await this.getMe()
    } catch (error) {
      if (!(error instanceof RetriableError || error instanceof BudgetSpent) || !this.#me) throw error
      this.#me = { key: this.#me.key, at: elapsedOf(this.#options.clock) }
    }
  }

  /** Reads for events pay for their own `/me`, as events decide how often it is requested. */
  get #meCall(): ApiCall {
    const purpose = this.#options.purpose === 'webhook' ? 'webhook' : 'operator'
    return { method: 'GET', path: mePath, query: {}, asked: {}, purpose }
  }

  async #accept(ask: () => Promise<FetchedRecord>): Promise<KeyInfo> {
    const sentBefore = this.#budget.usage().requestsThisRun
    const { bytes, record } = await ask()
    const key = readKey(record, bytes)
    this.#budget.refresh(key, sentBefore)
    this.#me = { key, at: elapsedOf(this.#options.clock) }
    return key
  }

  async #one(call: ApiCall): Promise<FetchedRecord> {
    return recordOf(await this.#exchange(call))
  }

  /** One 401 may be a slip of one of several servers: the key counts as refused only if `/me` refuses it too. */
  async #exchange(call: ApiCall): Promise<ApiAnswer> {
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

function recordOf({ bytes, envelope, fetchedAt }: ApiAnswer): FetchedRecord {
  return { bytes, record: envelope.records() as Record<string, unknown>, fetchedAt }
}
