/** Grants requests: none is sent that the key's minute, its day, this run or a requested pause does not allow. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import type { BudgetSpent } from '../../lib/errors.ts'
import { defaultPerMinute, type KeyInfo } from '../client/key.ts'
import { createRetryBudget, longestWait } from '../client/retry.ts'
import { DayBudget, type EarlierToday, type Purpose } from './day.ts'
import { createMinuteWindow, type Ended, type MinuteWindow } from './minute.ts'
import { daySpent, deadlineReached, runSpent, toldToStop } from './refusals.ts'
import { type SharedRequests, type SlotOptions, waitForSlot } from './shared-requests.ts'
import type { Usage } from './usage.ts'

interface TakeOptions extends SlotOptions {
  /** On the `elapsed` of the clock: the request is not sent earlier. */
  readonly notBefore?: number
}

/** One per key, shared by everything that sends requests with it. */
export interface Budget {
  /**
   * Resolves when one request may be sent, and counts it; until its end is told it counts as under way. Throws BudgetSpent
   * (exit 75) or the abort reason.
   */
  take(purpose: Purpose, options?: TakeOptions): Promise<Ended>
  /** Why no request of this purpose may be sent now; undefined when one may, perhaps after a wait. */
  refusal(purpose: Purpose): BudgetSpent | undefined
  /** Takes one retry; false when more than a tenth of the requests would be retries. */
  spendRetry(): boolean
  /** No request is sent for so many milliseconds; what was said last counts, also when it is shorter. */
  pause(ms: number): void
  /** Takes over an answer of `/me`; `sentBefore` is requestsThisRun when `/me` was asked for. */
  refresh(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>, sentBefore: number): void
  usage(): Usage
}

export interface BudgetOptions extends EarlierToday {
  readonly clock: Clock
  /** Requests of this run, `/me` and retries included. */
  readonly maxRequests?: number | undefined
  /** Milliseconds since the epoch: nothing is sent from then on; requests under way may finish. */
  readonly deadline?: number | undefined
  /** Requests in the last 60 s by earlier processes on the key. */
  readonly recentRequests?: number
  /** Requests a minute as an earlier run learnt them: until `/me` answers, the default may be too low. */
  readonly perMinute?: number | undefined
  /** Milliseconds that are left of a pause which the service asked an earlier process for. */
  readonly pausedForMs?: number
  /** Called for every pause, with its milliseconds. */
  readonly onPause?: (ms: number) => void
  /** Replaces the p-queue limiter, which reads the wall clock, in runs on a virtual clock. */
  readonly minute?: MinuteWindow
  /** Where processes on the key share its minute and its day; without it this budget counts alone. */
  readonly shared?: SharedRequests | undefined
}

/** Until the first `/me` answers, the default limits hold, or `perMinute` where it is given. */
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
  #telling: Promise<void> | undefined
  #isTold = false
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

  async take(purpose: Purpose, { notBefore = 0, ...options }: TakeOptions = {}): Promise<Ended> {
    for (;;) {
      options.signal?.throwIfAborted()
      this.#refuse(purpose)
      await this.#waitUntil(notBefore, options.signal)
      const ended = await this.#slot(purpose, options)
      if (ended) return ended
    }
  }

  /** Synchronous with the last check, or two waiting requests could both pass it. */
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
    this.#tell(shared => shared.pause(ms))
  }

  get #elapsed(): number {
    return elapsedOf(this.#clock)
  }

  /** Milliseconds since the epoch of a moment on `elapsed`. */
  #instant(moment: number): number {
    return this.#clock.now() + moment - this.#elapsed
  }

  /** Not awaited here: the next request waits for it, and fails if it failed. */
  #tell(say: (shared: SharedRequests) => Promise<void>): void {
    if (!this.#shared) return
    const { shared, before } = { shared: this.#shared, before: this.#telling }
    this.#telling = (before ?? Promise.resolve()).then(() => say(shared))
    // The failure reaches the caller of the next request; without a handler it would end the process before.
    this.#telling.catch(() => undefined)
  }

  refresh(me: Parameters<Budget['refresh']>[0], sentBefore: number): void {
    const { requestsToday, remainingToday } = me.usage
    this.#isTold ||= requestsToday !== undefined || remainingToday !== undefined
    this.#perMinute = me.rateLimitPerMinute
    this.#minute.resize(me.rateLimitPerMinute)
    this.#day.refresh(me, this.#sent - sentBefore, this.#clock.now())
    this.#tell(shared => shared.told(me))
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
      isTold: this.#isTold,
      spendableToday: spendable,
      leftForEvents: this.#left('webhook', now),
      forEventsToday: this.#day.forEvents,
      spendable: Math.min(spendable, Math.max(0, this.#maxRequests - this.#sent)),
      requestsThisRun: this.#sent,
      retries: this.#retries.retries,
      resetsAt: new Date(this.#day.resetsAt).toISOString(),
    }
  }

  /** Undefined when a pause began while queueing: the slot is lost, so that rather too few requests are sent. */
  async #slot(purpose: Purpose, options: SlotOptions): Promise<Ended | undefined> {
    // Slots of processes that share a key lie so far apart that nobody has to tell when a request ended.
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
    await this.#telling
    const refuseAt = (moment: number): void => {
      this.#refuseRun(moment)
      if (moment - this.#elapsed > longestWait) throw toldToStop(this.#instant(moment))
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

  /** Throws BudgetSpent when a request of this purpose can be sent neither now nor after a short wait. */
  #refuse(purpose: Purpose): void {
    this.#refuseRun(this.#elapsed)
    if (!this.#shared && this.#day.left(purpose, this.#clock.now()) < 1) throw daySpent(purpose, this.usage())
  }

  #refuseRun(moment: number): void {
    const refusal = this.#refusalOfRun(moment)
    if (refusal) throw refusal
  }

  /** At a moment on `elapsed`. */
  #refusalOfRun(moment: number): BudgetSpent | undefined {
    if (moment >= this.#endsAt) return deadlineReached(this.#instant(this.#endsAt))
    if (this.#sent < this.#maxRequests) return undefined
    return runSpent(this.#maxRequests)
  }

  /** Waits until `notBefore` and until the end of the pause, which can move while waiting. */
  async #waitUntil(notBefore: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const until = Math.max(notBefore, this.#pausedUntil)
      const left = until - this.#elapsed
      if (left <= 0) return
      if (until >= this.#endsAt) throw deadlineReached(this.#instant(this.#endsAt))
      if (left > longestWait) throw toldToStop(this.#instant(until))
      await this.#clock.sleep(left, signal)
    }
  }
}
