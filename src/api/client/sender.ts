/** Sends one request until it is answered or given up: waits for the budget, retries, and keeps requested pauses. */
import PQueue from 'p-queue'
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import type { Budget } from '../budget/budget.ts'
import type { Purpose } from '../budget/day.ts'
import { toldToStop } from '../budget/refusals.ts'
import { type Envelope, isSuccess, readEnvelope } from './envelope.ts'
import { AccessDenied, badAnswer, NotTheService, Retriable, Unsettled } from './errors.ts'
import { isUnreached, neverArrived } from './network.ts'
import { type Attempts, Reach } from './reach.ts'
import { type Query, requestLine } from './redact.ts'
import { hollowAttempts, longestWait, mostAttempts, retryDelay } from './retry.ts'
import type { Wire, WireRequest } from './wire.ts'

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

export interface CallOptions {
  /** The purpose whose reserve pays. Default: that of the client. */
  readonly purpose?: Purpose
}

export interface PageOptions extends CallOptions {
  /** Takes a page without rows that has some by its own total, when it comes again: a list may hide them. Otherwise BadAnswer. */
  readonly mayBeHollow?: boolean
  /**
   * Rows of the list, 0 where nothing is known: a page after them, other than the first, counts as one without rows when it is
   * refused twice in a row.
   */
  readonly rows?: number | undefined
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
  /** Whether a second attempt does no harm. If not, an ambiguous failure is thrown as Unsettled. */
  readonly isRepeatable?: boolean
}

export interface Call extends WireRequest {
  /** Page and limit of a list; the answer must repeat them. */
  readonly asked: { readonly page?: number; readonly limit?: number }
  readonly purpose: Purpose
  /** Whether an answer is believed that shows no rows of a page that has some by its total, when it comes again and again. */
  readonly mayBeHollow?: boolean
  /** A change that must not happen twice: sent again only when nothing can have arrived. */
  readonly isOnce?: boolean
}

export interface Answer {
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
  readonly onRequest?: ((seen: RequestSeen) => void) | undefined
  /** Called with the Date of each 2xx answer. */
  readonly onDate?: ((date: string | undefined) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for which a host that accepts no connection is tried; without it a few seconds. */
  readonly patienceMs?: number | undefined
  /** Called when a host has accepted no connection for some seconds and is still tried. */
  readonly onUnreached?: ((sentence: string) => void) | undefined
}

export class Sender {
  readonly #options: SenderOptions
  readonly #reach: Reach
  /** Taken before the budget: a request that may be sent must not wait for a connection. */
  readonly #connections: PQueue

  constructor(options: SenderOptions) {
    this.#options = options
    this.#reach = new Reach(options)
    this.#connections = new PQueue({ concurrency: options.wire.connections })
  }

  async exchange(call: Call): Promise<Answer> {
    try {
      return await this.#connections.add(() => this.#repeat(call))
    } catch (error) {
      // A waiting queue reports an abort with an error of its own.
      this.#options.signal?.throwIfAborted()
      throw error
    }
  }

  /** Waits for the budget and sends, again as long as that may help. */
  async #repeat(call: Call): Promise<Answer> {
    const { signal, budget, clock } = this.#options
    let notBefore = 0
    let since: number | undefined
    let spoiled: Retriable | undefined
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
        // Who was just answered with 2xx is not somebody who may never read this: the failure is that of the answer.
        if (error instanceof AccessDenied && spoiled) throw spoiled.final('and then refused')
        if (!(error instanceof Retriable)) throw error
        if (error.status !== undefined && isSuccess(error.status)) spoiled = error
        if (call.isOnce && !neverArrived(error)) throw new Unsettled(error)
        notBefore = this.#nextMoment(error, { attempt, since })
      }
    }
  }

  /** When to ask again for a page that should have rows (on `elapsed`); undefined when it is believed that it shows none. */
  #afterHollow({ mayBeHollow, ...call }: Call, { envelope }: Answer, attempt: number): number | undefined {
    const { clock, rng, budget } = this.#options
    const request = requestLine(call.path, call.query, call.method)
    const { page, total } = envelope.meta ?? { page: 0, total: 0 }
    if (!mayBeHollow)
      throw badAnswer({ request, status: 200 }, `page ${page} is empty although the total is ${total}`)
    if (attempt >= hollowAttempts || !budget.spendRetry()) return undefined
    return elapsedOf(clock) + retryDelay({ attempt, limited: false, now: clock.now(), rng })
  }

  async #send(call: Call, attempt: number): Promise<Answer> {
    const { clock, apiKey, onRequest, wire } = this.#options
    const { path, query, method, asked, hide } = call
    const started = elapsedOf(clock)
    const seen = (status: number, bytes: number) =>
      onRequest?.({ path, status, ms: elapsedOf(clock) - started, bytes, attempt })
    const { body: bytes, date } = await wire.send({ ...call, seen })
    const source = { request: requestLine(path, query, method), secret: apiKey, values: hide }
    const envelope = readEnvelope(bytes, asked, source)
    // Only an answer in the service's own form speaks for the service.
    this.#options.onDate?.(date)
    return { bytes, envelope, fetchedAt: new Date(clock.now()).toISOString() }
  }

  /** When to send again (on `elapsed`); throws to give up. After a 429 no request of the key is sent before. */
  #nextMoment(error: Retriable, attempts: Attempts): number {
    const { clock, rng, budget } = this.#options
    const [now, elapsed] = [clock.now(), elapsedOf(clock)]
    const isForeign = error instanceof NotTheService
    const limited = error.status === 429 && !isForeign
    const { attempt } = attempts
    const { retryAfter, date } = error.facts
    const delay = retryDelay({ attempt, limited, retryAfter, date, now, rng })
    if (limited) budget.pause(delay)
    if (delay > longestWait && isForeign) throw error.final('asked to wait too long')
    if (delay > longestWait) throw toldToStop(now + delay, error.report.where)
    if (error.status !== undefined) this.#reach.answered()
    else if (isUnreached(error)) {
      const within = this.#reach.failed(error, attempts)
      if (within) return Math.min(Math.max(elapsed + delay, within[0]), within[1])
    }
    const why = attempt >= mostAttempts ? `sent ${attempt} times` : this.#refusal()
    if (why === undefined) return elapsed + delay
    throw limited ? stopped(error, why) : error.final(why)
  }

  #refusal(): string | undefined {
    return this.#options.budget.spendRetry() ? undefined : 'a tenth of all requests were retries already'
  }
}

/** A key that is still limited ends the run with exit 75 instead of failing it. */
function stopped(error: Retriable, why: string): BudgetSpent {
  return new BudgetSpent({
    what: `the service still says that the limit of the minute is reached, ${why}`,
    where: error.report.where ?? '',
    next: 'run again in some minutes; if it happens often, another program uses the same key',
    cause: error,
  })
}
