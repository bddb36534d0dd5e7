/** Sends one request until it is answered or given up: waits for the budget, retries, and respects retry-after. */
import PQueue from 'p-queue'
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import type { Budget } from '../budget/budget.ts'
import type { Purpose } from '../budget/day.ts'
import { retryLaterError } from '../budget/refusals.ts'
import { type Envelope, isSuccess, readEnvelope } from './envelope.ts'
import { AccessDenied, badAnswer, NotTheService, RetriableError, WriteUnsettled } from './errors.ts'
import { isUnreached, neverArrived } from './network.ts'
import { type Attempts, Reach } from './reach.ts'
import { type RequestQuery, requestLine } from './redact.ts'
import { hollowAttempts, longestWait, maxAttempts, retryDelay } from './retry.ts'
import type { Wire, WireRequest } from './wire.ts'

/** A sent request, for progress displays. */
export interface SentRequest {
  readonly path: string
  /** 0 without an answer. */
  readonly status: number
  readonly ms: number
  /** Bytes of the body. */
  readonly bytes: number
  /** 1 for the first attempt. */
  readonly attempt: number
}

export interface CallOptions {
  /** The purpose, whose reserve pays. Default: that of the client. */
  readonly purpose?: Purpose
}

export interface PageOptions extends CallOptions {
  /** Accepts a page without rows, despite its total, after retries: a list may hide them. Otherwise throws BadAnswer. */
  readonly mayBeHollow?: boolean
  /**
   * Rows of the list, 0 if unknown. A later page, other than page 1, counts as empty if it is refused twice in a row.
   */
  readonly rows?: number | undefined
}

/** A request that changes something. */
export interface Write {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly query?: RequestQuery
  /** Sent as JSON of at most 50 MB. */
  readonly body: unknown
  /** Texts of the body that errors must not repeat, even if the service quotes them. */
  readonly hide?: readonly string[]
  /** Whether a second attempt does no harm. If not, an ambiguous failure is thrown as WriteUnsettled. */
  readonly isRepeatable?: boolean
}

export interface ApiCall extends WireRequest {
  /** Page and limit of a list; the answer must repeat them. */
  readonly asked: { readonly page?: number; readonly limit?: number }
  readonly purpose: Purpose
  /** Whether to accept a page without rows, despite its total, after several attempts. */
  readonly mayBeHollow?: boolean
  /** A change that must not happen twice: retried only if nothing can have arrived. */
  readonly isOnce?: boolean
}

export interface ApiAnswer {
  readonly bytes: Buffer
  readonly envelope: Envelope
  readonly fetchedAt: string
}

interface SenderOptions {
  readonly wire: Wire
  readonly budget: Budget
  readonly apiKey: string
  readonly clock: Clock
  readonly rng: Rng
  readonly onRequest?: ((seen: SentRequest) => void) | undefined
  /** Called with the Date of each 2xx answer. */
  readonly onDate?: ((date: string | undefined) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds to keep trying a host that accepts no connection; a few seconds by default. */
  readonly patienceMs?: number | undefined
  /** Called after a host has accepted no connection for some seconds, while it is still being tried. */
  readonly onUnreached?: ((sentence: string) => void) | undefined
}

export class Sender {
  readonly #options: SenderOptions
  readonly #reach: Reach
  /** Taken before the budget: a granted request must not wait for a connection. */
  readonly #connections: PQueue

  constructor(options: SenderOptions) {
    this.#options = options
    this.#reach = new Reach(options)
    this.#connections = new PQueue({ concurrency: options.wire.connections })
  }

  async exchange(call: ApiCall): Promise<ApiAnswer> {
    try {
      return await this.#connections.add(() => this.#repeat(call))
    } catch (error) {
      // The queue reports an abort with its own error.
      this.#options.signal?.throwIfAborted()
      throw error
    }
  }

  /** Waits for the budget and sends; retries as long as that may help. */
  async #repeat(call: ApiCall): Promise<ApiAnswer> {
    const { signal, budget, clock } = this.#options
    let notBefore = 0
    let since: number | undefined
    let spoiled: RetriableError | undefined
    for (let attempt = 1; ; attempt++) {
      const ended = await budget.take(call.purpose, { notBefore, signal, asksLimits: call.path === '/me' })
      since ??= elapsedOf(clock)
      try {
        const answer = await this.#send(call, attempt).finally(ended)
        this.#reach.answered()
        const later = answer.envelope.isHollow ? this.#afterHollow(call, answer, attempt) : undefined
        if (later === undefined) return answer
        notBefore = later
      } catch (error) {
        // The service has just answered 2xx, so the key may read this; report the failure of that answer.
        if (error instanceof AccessDenied && spoiled) throw spoiled.final('and then refused')
        if (!(error instanceof RetriableError)) throw error
        if (error.status !== undefined && isSuccess(error.status)) spoiled = error
        if (call.isOnce && !neverArrived(error)) throw new WriteUnsettled(error)
        notBefore = this.#nextAttemptAt(error, { attempt, since })
      }
    }
  }

  /** When to retry a page that should have rows (on `elapsed`); undefined to accept that it has none. */
  #afterHollow(
    { mayBeHollow, ...call }: ApiCall,
    { envelope }: ApiAnswer,
    attempt: number,
  ): number | undefined {
    const { clock, rng, budget } = this.#options
    const request = requestLine(call.path, call.query, call.method)
    const { page, total } = envelope.meta ?? { page: 0, total: 0 }
    if (!mayBeHollow)
      throw badAnswer({ request, status: 200 }, `page ${page} is empty although the total is ${total}`)
    if (attempt >= hollowAttempts || !budget.spendRetry()) return undefined
    return elapsedOf(clock) + retryDelay({ attempt, limited: false, now: clock.now(), rng })
  }

  async #send(call: ApiCall, attempt: number): Promise<ApiAnswer> {
    const { clock, apiKey, onRequest, wire } = this.#options
    const { path, query, method, asked, hide } = call
    const started = elapsedOf(clock)
    const seen = (status: number, bytes: number) =>
      onRequest?.({ path, status, ms: elapsedOf(clock) - started, bytes, attempt })
    const { body: bytes, date } = await wire.send({ ...call, seen })
    const source = { request: requestLine(path, query, method), secret: apiKey, values: hide }
    const envelope = readEnvelope(bytes, asked, source)
    // Only an answer in the service's form gives the service's time.
    this.#options.onDate?.(date)
    return { bytes, envelope, fetchedAt: new Date(clock.now()).toISOString() }
  }

  /** When to retry (on `elapsed`); throws to give up. After a 429 all requests of the key wait until then. */
  #nextAttemptAt(error: RetriableError, attempts: Attempts): number {
    const { clock, rng, budget } = this.#options
    const [now, elapsed] = [clock.now(), elapsedOf(clock)]
    const isForeign = error instanceof NotTheService
    const limited = error.status === 429 && !isForeign
    const { attempt } = attempts
    const { retryAfter, date } = error.facts
    const delay = retryDelay({ attempt, limited, retryAfter, date, now, rng })
    if (limited) budget.pause(delay)
    if (delay > longestWait && isForeign) throw error.final('asked to wait too long')
    if (delay > longestWait) throw retryLaterError(now + delay, error.report.where)
    if (error.status !== undefined) this.#reach.answered()
    else if (isUnreached(error)) {
      const within = this.#reach.failed(error, attempts)
      if (within) return Math.min(Math.max(elapsed + delay, within[0]), within[1])
    }
    const why = attempt >= maxAttempts ? `sent ${attempt} times` : this.#refusal()
    if (why === undefined) return elapsed + delay
    throw limited ? stopped(error, why) : error.final(why)
  }

  #refusal(): string | undefined {
    return this.#options.budget.spendRetry() ? undefined : 'a tenth of all requests were retries already'
  }
}

/** A key that is still limited ends the run with exit 75 instead of failing it. */
function stopped(error: RetriableError, why: string): BudgetSpent {
  return new BudgetSpent({
    what: `the service still says that the limit of the minute is reached, ${why}`,
    where: error.report.where ?? '',
    next: 'run again in some minutes; if it happens often, another program uses the same key',
    cause: error,
  })
}
