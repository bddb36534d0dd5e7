/**
 * Leave to send: no request goes out that the key's minute, its day, this run or a told pause does not allow.
 */
import type { Clock } from '../../lib/clock.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { DEFAULT_PER_MINUTE, type KeyInfo } from '../client/key.ts'
import { createRetryBudget, LONGEST_WAIT } from '../client/retry.ts'
import { DayBudget, type Purpose } from './day.ts'
import { createMinuteWindow, type MinuteWindow } from './minute.ts'
import { type SharedRequests, waitForSlot } from './shared-requests.ts'

/** Figures for people and for the ledger; all are numbers of requests. */
export interface Usage {
  readonly perMinute: number
  readonly perDay: number
  /** Today on this key, by all programs, as far as known. */
  readonly usedToday: number
  readonly remainingToday: number
  /** What purpose `sync` can still spend now: reserves and the run's own limit are taken off. */
  readonly spendable: number
  /** The same without the run's own limit. */
  readonly spendableToday: number
  readonly requestsThisRun: number
  readonly retries: number
  /** ISO 8601, UTC. */
  readonly resetsAt: string
}

interface TakeOptions {
  /** Milliseconds since the epoch: not before then. */
  readonly notBefore?: number
  readonly signal?: AbortSignal | undefined
}

/** One per key: everything that spends the key shares it. */
export interface Budget {
  /**
   * Resolves when one request may be sent, and counts it. Throws BudgetSpent (exit 75) or the abort reason.
   */
  take(purpose: Purpose, options?: TakeOptions): Promise<void>
  /** Takes one repetition; false when more than a tenth of the requests would be repetitions. */
  spendRetry(): boolean
  /** Nobody sends before this moment (ms since the epoch). */
  pause(until: number): void
  /** Takes over an answer of `/me`; `sentBefore` is requestsThisRun when `/me` was asked for. */
  refresh(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>, sentBefore: number): void
  usage(): Usage
}

export interface BudgetOptions {
  readonly clock: Clock
  /** Requests of this run, `/me` and repetitions included. */
  readonly maxRequests?: number | undefined
  /** Milliseconds since the epoch: nothing is sent from then on; what is on its way may finish. */
  readonly deadline?: number | undefined
  /** Requests in the last 60 s by earlier processes on the key. */
  readonly recentRequests?: number
  /**
   * Requests a minute as an earlier run was told: until `/me` answers, DEFAULT_PER_MINUTE may be too few for
   * it.
   */
  readonly perMinute?: number | undefined
  /** Requests of this UTC day by earlier processes on the key. */
  readonly usedToday?: number
  /** Milliseconds since the epoch: an earlier process was told not to call before then. */
  readonly pausedUntil?: number
  /** Told of every pause that is longer than those before it. */
  readonly onPause?: (until: number) => void
  /** Replaces the p-queue limiter, which reads the wall clock: for runs on a virtual clock. */
  readonly minute?: MinuteWindow
  /** Where processes on the key share its minute and its day; without it this budget counts alone. */
  readonly shared?: SharedRequests | undefined
}

/** Until the first `/me` answers, DEFAULT_PER_DAY holds, and `perMinute` or DEFAULT_PER_MINUTE. */
export function createBudget(options: BudgetOptions): Budget {
  return new KeyBudget(options)
}

class KeyBudget implements Budget {
  readonly #clock: Clock
  readonly #maxRequests: number
  readonly #deadline: number
  readonly #minute: MinuteWindow
  readonly #day: DayBudget
  readonly #shared: SharedRequests | undefined
  readonly #onPause: BudgetOptions['onPause']
  readonly #retries = createRetryBudget()
  #telling: Promise<void> | undefined
  #perMinute: number
  #sent = 0
  #pausedUntil: number

  constructor(options: BudgetOptions) {
    const { clock, recentRequests: recent = 0 } = options
    this.#clock = clock
    this.#maxRequests = options.maxRequests ?? Number.POSITIVE_INFINITY
    this.#deadline = options.deadline ?? Number.POSITIVE_INFINITY
    this.#perMinute = options.perMinute ?? DEFAULT_PER_MINUTE
    this.#minute = options.minute ?? createMinuteWindow({ clock, cap: this.#perMinute, recent })
    this.#day = new DayBudget(clock.now(), options.usedToday ?? 0)
    this.#shared = options.shared
    this.#pausedUntil = options.pausedUntil ?? 0
    this.#onPause = options.onPause
  }

  async take(purpose: Purpose, { notBefore = 0, signal }: TakeOptions = {}): Promise<void> {
    do {
      signal?.throwIfAborted()
      this.#refuse(purpose)
      await this.#waitUntil(notBefore, signal)
    } while (!(await this.#slot(purpose, signal)))
  }

  /** In the same breath as the last check, or two that wait would both pass it. */
  #count(): void {
    this.#sent += 1
    this.#retries.sent()
  }

  spendRetry(): boolean {
    return this.#retries.spend()
  }

  pause(until: number): void {
    if (until <= this.#pausedUntil) return
    this.#pausedUntil = until
    this.#onPause?.(until)
    this.#tell(shared => shared.pause(until - this.#clock.now()))
  }

  /** The next request waits for it, and fails with it. */
  #tell(say: (shared: SharedRequests) => Promise<void>): void {
    if (!this.#shared) return
    const { shared, before } = { shared: this.#shared, before: this.#telling }
    this.#telling = (before ?? Promise.resolve()).then(() => say(shared))
    this.#telling.catch(() => undefined)
  }

  refresh(me: Parameters<Budget['refresh']>[0], sentBefore: number): void {
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
      spendableToday: spendable,
      spendable: Math.min(spendable, Math.max(0, this.#maxRequests - this.#sent)),
      requestsThisRun: this.#sent,
      retries: this.#retries.retries,
      resetsAt: new Date(this.#day.resetsAt).toISOString(),
    }
  }

  /** False when told to pause while queueing: the slot is lost, which errs on the side of fewer requests. */
  async #slot(purpose: Purpose, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#shared) return this.#sharedSlot(this.#shared, purpose, signal)
    await this.#minute.take(signal)
    if (this.#clock.now() < this.#pausedUntil) return false
    this.#refuse(purpose)
    this.#day.spend(purpose, this.#clock.now())
    this.#count()
    return true
  }

  async #sharedSlot(
    shared: SharedRequests,
    purpose: Purpose,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    await this.#telling
    const refuseAt = (moment: number): void => {
      this.#refuseRun(moment)
      if (moment - this.#clock.now() > LONGEST_WAIT) throw toldToStop(moment)
    }
    const isGranted = await waitForSlot(shared, { clock: this.#clock, purpose, signal, refuseAt })
    if (isGranted === undefined) throw this.#daySpent(purpose)
    if (!isGranted) return false
    if (this.#clock.now() < this.#pausedUntil || this.#sent >= this.#maxRequests) {
      await shared.giveBack(purpose)
      return false
    }
    this.#count()
    return true
  }

  /** Throws BudgetSpent when a request of this purpose can not be sent now nor after a short wait. */
  #refuse(purpose: Purpose): void {
    const now = this.#clock.now()
    this.#refuseRun(now)
    if (!this.#shared && this.#day.left(purpose, now) < 1) throw this.#daySpent(purpose)
  }

  #refuseRun(now: number): void {
    if (now >= this.#deadline) throw deadlineReached(this.#deadline)
    if (this.#sent >= this.#maxRequests) {
      throw new BudgetSpent({
        what: `the ${this.#maxRequests} requests of this run are used`,
        next: 'run again, or raise --max-requests',
      })
    }
  }

  #daySpent(purpose: Purpose): BudgetSpent {
    const { usedToday, perDay, remainingToday, resetsAt } = this.usage()
    return new BudgetSpent({
      what: `no request left today for ${purpose}`,
      where: `${usedToday} of ${perDay} used, ${remainingToday} kept for other purposes`,
      next: `the count starts anew at ${resetsAt}; run again then`,
    })
  }

  /** Until `notBefore` and until no pause is left, both of which can grow while waiting. */
  async #waitUntil(notBefore: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const now = this.#clock.now()
      const until = Math.max(notBefore, this.#pausedUntil)
      if (until <= now) return
      if (until >= this.#deadline) throw deadlineReached(this.#deadline)
      if (until - now > LONGEST_WAIT) throw toldToStop(until)
      await this.#clock.sleep(until - now, signal)
    }
  }
}

function deadlineReached(deadline: number): BudgetSpent {
  return new BudgetSpent({
    what: `the deadline of this run (${new Date(deadline).toISOString()}) leaves no time for another request`,
    next: 'run again, or give a later --deadline',
  })
}

function toldToStop(until: number): BudgetSpent {
  return new BudgetSpent({
    what: `the service asks not to be called before ${new Date(until).toISOString()}`,
    next: 'run again then',
  })
}
