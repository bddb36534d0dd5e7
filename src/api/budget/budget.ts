/** Grants requests, within the limits of the minute, the day and the run, and after any retry-after. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import type { BudgetSpent } from '../../lib/errors.ts'
import { defaultPerMinute, type KeyInfo } from '../client/key.ts'
import { createRetryBudget, longestWait } from '../client/retry.ts'
import { DayBudget, type PreviousUsage, type Purpose } from './day.ts'
import { createMinuteWindow, type MinuteWindow, type RequestRelease } from './minute.ts'
import { daySpent, deadlineReached, retryLaterError, runSpent } from './refusals.ts'
import { type SharedRequests, type SlotOptions, waitForSlot } from './shared-requests.ts'

/** Requests that a key has used and has left, for display and for the ledger. */
export interface Usage {
  readonly perMinute: number
  readonly perDay: number
  /** Requests of today on this key by all programs, as far as known. */
  readonly usedToday: number
  readonly remainingToday: number
  /** Whether the service has reported in this run what is left today; if not, the figure is a guess and not displayed. */
  readonly isReported: boolean
  /** Requests left for purpose `sync` now, after the reserves and the limit of the run. */
  readonly spendable: number
  /** The same without the limit of the run. */
  readonly spendableToday: number
  /** Requests left today for reads caused by events. */
  readonly leftForEvents: number
  /** Requests of today for events, if no other process uses the key. */
  readonly forEventsToday: number
  readonly requestsThisRun: number
  readonly retries: number
  /** ISO 8601, UTC. */
  readonly resetsAt: string
}

interface TakeOptions extends SlotOptions {
  /** On the `elapsed` of the clock: the request is not sent earlier. */
  readonly notBefore?: number
}

/** The budget of one key, shared by everything that sends requests with it. */
export interface Budget {
  /**
   * Resolves when one request may be sent, and counts it as under way until it is released. Throws BudgetSpent (exit 75) or
   * the abort reason.
   */
  take(purpose: Purpose, options?: TakeOptions): Promise<RequestRelease>
  /** Why no request of this purpose may be sent now; undefined if one may, perhaps after a wait. */
  refusal(purpose: Purpose): BudgetSpent | undefined
  /** Takes one retry; false if more than 10% of the requests would be retries. */
  spendRetry(): boolean
  /** Sends no request for `ms`. The latest call replaces earlier ones, even if it is shorter. */
  pause(ms: number): void
  /** Applies an answer of `/me`; `sentBefore` is requestsThisRun at the time of that request. */
  refresh(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>, sentBefore: number): void
  usage(): Usage
}

export interface BudgetOptions extends PreviousUsage {
  readonly clock: Clock
  /** Max requests of this run, including `/me` and retries. */
  readonly maxRequests?: number | undefined
  /** Milliseconds since the epoch: sends nothing from then on; requests under way may finish. */
  readonly deadline?: number | undefined
  /** Requests in the last 60 s by earlier processes on the key. */
  readonly recentRequests?: number
  /** Requests a minute known from an earlier run: until `/me` answers, the default may be too low. */
  readonly perMinute?: number | undefined
  /** Milliseconds left of a retry-after that an earlier process received. */
  readonly pausedForMs?: number
  /** Called for every pause, with its milliseconds. */
  readonly onPause?: (ms: number) => void
  /** Replaces the limiter in runs on a virtual clock. */
  readonly minute?: MinuteWindow
  /** Shares the minute and the day with other processes on the key; without it this budget counts alone. */
  readonly shared?: SharedRequests | undefined
}

/** Until the first `/me` answers, the default limits apply, or `perMinute` if given. */
export function createBudget(options: BudgetOptions): Budget {
  return new KeyBudget(options)
}

class KeyBudget implements Budget {
  readonly #clock: Clock
  readonly #maxRequests: number
  /** The deadline, on the `elapsed` of the clock. */
  readonly #endsAt: number
  readonly #minute: MinuteWindow
  readonly #day: DayBudget
  readonly #shared: SharedRequests | undefined
  readonly #onPause: BudgetOptions['onPause']
  readonly #retries = createRetryBudget()
  #sharing: Promise<void> | undefined
  #isReported = false
  #perMinute: number
  #sent = 0
  /** On the `elapsed` of the clock. */
  #pausedUntil: number

  constructor(options: BudgetOptions) {
    const { clock, recentRequests: recent = 0 } = options
    this.#clock = clock
    this.#maxRequests = options.maxRequests ?? Number.POSITIVE_INFINITY
    this.#endsAt = elapsedOf(clock) + (options.deadline ?? Number.POSITIVE_INFINITY) - clock.now()
    this.#perMinute = options.perMinute ?? defaultPerMinute
    this.#minute = options.minute ?? createMinuteWindow({ clock, cap: this.#perMinute, recent })
    this.#day = new DayBudget(clock.now(), options)
    this.#shared = options.shared
    this.#pausedUntil = elapsedOf(clock) + (options.pausedForMs ?? 0)
    this.#onPause = options.onPause
  }

  async take(purpose: Purpose, { notBefore = 0, ...options }: TakeOptions = {}): Promise<RequestRelease> {
    for (;;) {
      options.signal?.throwIfAborted()
      this.#refuse(purpose)
      await this.#waitUntil(notBefore, options.signal)
      const ended = await this.#slot(purpose, options)
      if (ended) return ended
    }
  }

  /** Must run synchronously after the last check, or two waiting requests could both pass it. */
  #count(): void {
    this.#sent += 1
    this.#retries.sent()
  }

  spendRetry(): boolean {
    return this.#retries.spend()
  }

  pause(ms: number): void {
    this.#pausedUntil = this.#elapsed + ms
    this.#onPause?.(ms)
    this.#share(shared => shared.pause(ms))
  }

  get #elapsed(): number {
    return elapsedOf(this.#clock)
  }

  /** Converts a time on `elapsed` to milliseconds since the epoch. */
  #instant(at: number): number {
    return this.#clock.now() + at - this.#elapsed
  }

  /** Not awaited here: the next request waits for it, and fails if it has failed. */
  #share(say: (shared: SharedRequests) => Promise<void>): void {
    if (!this.#shared) return
    const { shared, before } = { shared: this.#shared, before: this.#sharing }
    this.#sharing = (before ?? Promise.resolve()).then(() => say(shared))
    // The next request reports the failure; without this handler it would end the process first.
    this.#sharing.catch(() => undefined)
  }

  refresh(me: Parameters<Budget['refresh']>[0], sentBefore: number): void {
    const { requestsToday, remainingToday } = me.usage
    this.#isReported ||= requestsToday !== undefined || remainingToday !== undefined
    this.#perMinute = me.rateLimitPerMinute
    this.#minute.resize(me.rateLimitPerMinute)
    this.#day.refresh(me, this.#sent - sentBefore, this.#clock.now())
    this.#share(shared => shared.learnLimits(me))
  }

  usage(): Usage {
    const now = this.#clock.now()
    const { perDay, remaining, spendable } = this.#shared?.figures ?? {
      perDay: this.#day.perDay,
      remaining: this.#day.remaining(now),
      spendable: this.#day.left('sync', now),
    }
    return {
      perMinute: this.#perMinute,
      perDay,
      usedToday: perDay - remaining,
      remainingToday: remaining,
      isReported: this.#isReported,
      spendableToday: spendable,
      leftForEvents: this.#left('webhook', now),
      forEventsToday: this.#day.forEvents,
      spendable: Math.min(spendable, Math.max(0, this.#maxRequests - this.#sent)),
      requestsThisRun: this.#sent,
      retries: this.#retries.retries,
      resetsAt: new Date(this.#day.resetsAt).toISOString(),
    }
  }

  /** Undefined if a pause began while queueing: the slot is lost, as too few requests are better than too many. */
  async #slot(purpose: Purpose, options: SlotOptions): Promise<RequestRelease | undefined> {
    // Slots of a shared key are far enough apart that the end of a request does not matter.
    if (this.#shared)
      return (await this.#sharedSlot(this.#shared, purpose, options)) ? () => undefined : undefined
    const ended = await this.#minute.take(options.signal)
    if (this.#elapsed < this.#pausedUntil) return void ended()
    const refusal = this.refusal(purpose)
    if (refusal) {
      ended()
      throw refusal
    }
    this.#day.spend(purpose, this.#clock.now())
    this.#count()
    return ended
  }

  async #sharedSlot(shared: SharedRequests, purpose: Purpose, options: SlotOptions): Promise<boolean> {
    await this.#sharing
    const refuseAt = (at: number): void => {
      this.#refuseRun(at)
      if (at - this.#elapsed > longestWait) throw retryLaterError(this.#instant(at))
    }
    const isGranted = await waitForSlot(shared, { ...options, clock: this.#clock, purpose, refuseAt })
    if (isGranted === undefined) throw daySpent(purpose, this.usage())
    if (!isGranted) return false
    if (this.#elapsed < this.#pausedUntil || this.#sent >= this.#maxRequests) {
      await shared.giveBack(purpose)
      return false
    }
    this.#count()
    return true
  }

  refusal(purpose: Purpose): BudgetSpent | undefined {
    const now = this.#clock.now()
    const left = this.#left(purpose, now)
    return this.#refusalOfRun(this.#elapsed) ?? (left < 1 ? daySpent(purpose, this.usage()) : undefined)
  }

  #left(purpose: Purpose, now: number): number {
    if (!this.#shared) return this.#day.left(purpose, now)
    const { spendable, forEvents } = this.#shared.figures
    return purpose === 'webhook' ? forEvents : spendable
  }

  /** Throws BudgetSpent if a request of this purpose can be sent neither now nor after a short wait. */
  #refuse(purpose: Purpose): void {
    this.#refuseRun(this.#elapsed)
    if (!this.#shared && this.#day.left(purpose, this.#clock.now()) < 1) throw daySpent(purpose, this.usage())
  }

  #refuseRun(at: number): void {
    const refusal = this.#refusalOfRun(at)
    if (refusal) throw refusal
  }

  /** `at` is a time on `elapsed`. */
  #refusalOfRun(at: number): BudgetSpent | undefined {
    if (at >= this.#endsAt) return deadlineReached(this.#instant(this.#endsAt))
    if (this.#sent < this.#maxRequests) return undefined
    return runSpent(this.#maxRequests)
  }

  /** Waits until `notBefore` and the end of the pause, which may change while waiting. */
  async #waitUntil(notBefore: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const until = Math.max(notBefore, this.#pausedUntil)
      const left = until - this.#elapsed
      if (left <= 0) return
      if (until >= this.#endsAt) throw deadlineReached(this.#instant(this.#endsAt))
      if (left > longestWait) throw retryLaterError(this.#instant(until))
      await this.#clock.sleep(left, signal)
    }
  }
}
