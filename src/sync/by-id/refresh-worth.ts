/**
 * Decides which stored records are worth another fetch: ranks each by an index, highest first. If changes come at
 * random, this gives the freshest schedule for any number of requests, without knowing that number (docs/records.md).
 */
import { minuteMs } from '../../lib/dates.ts'

/** A stored record as the policy sees it; times in days. */
export interface RefreshRecord {
  readonly id: string
  /** Since the last fetch. */
  readonly age: number
  /** Estimated changes a day. */
  readonly rate: number
  readonly importance: number
  /** Whether an event has reported a change since. */
  readonly isSignalled: boolean
  /** Change signals other than events, as -ln of the factor by which they lower the probability of no change. */
  readonly doubt: number
}

/** Every record is fetched at least this often, in days, as far as the budget share below allows. */
export const floorDays = 30
/** Share of the budget for older records, even if others are worth more. */
export const floorShare = 0.2
/** A record less likely to have changed is not worth a request. */
const minChance = 0.002
/** Minimum time between two fetches of a record, in milliseconds. */
export const refetchPauseMs = minuteMs

/** Importance of a record whose state can still change. */
const liveImportance = 5
/** Importance of a record in a terminal state that has just changed. */
const terminalImportance = 1
const minImportance = 0.05
/** Days until the importance of a terminal state halves. */
const halfLife = 90

/** `quietDays` is how long the record has not changed. */
export function importanceOf({
  isTerminal,
  quietDays,
}: {
  readonly isTerminal: boolean
  readonly quietDays: number
}): number {
  if (!isTerminal) return liveImportance
  return Math.max(minImportance, terminalImportance * 2 ** (-Math.max(0, quietDays) / halfLife))
}

/** -ln of the probability that a record is unchanged since it was fetched. */
const expectedChanges = ({ rate, age, doubt }: Pick<RefreshRecord, 'rate' | 'age' | 'doubt'>): number =>
  rate * Math.max(0, age) + doubt

export const chanceOfChange = (stored: Pick<RefreshRecord, 'rate' | 'age' | 'doubt'>): number =>
  -Math.expm1(-expectedChanges(stored))

/** 1 - (1 + x) e^-x; computed as a series for small x, where the difference would be rounding noise. */
function gain(x: number): number {
  if (x < 1e-3) return x * x * (0.5 - x / 3 + (x * x) / 8)
  return -Math.expm1(-x) - x * Math.exp(-x)
}

/**
 * The worth of a fetch now: importance times (1/rate - (age + 1/rate) e^(-rate age)), in days of freshness. An event
 * gives the maximum, importance / rate. Other signals add to the age.
 */
export function worthOf(stored: RefreshRecord): number {
  const { rate, importance, isSignalled } = stored
  if (rate <= 0) return isSignalled ? Number.MAX_VALUE : 0
  return (importance / rate) * (isSignalled ? 1 : gain(expectedChanges(stored)))
}

export const isWorthIt = (stored: RefreshRecord): boolean =>
  stored.isSignalled || stored.age >= floorDays || chanceOfChange(stored) >= minChance

const byValue = (left: RankedRecord<RefreshRecord>, right: RankedRecord<RefreshRecord>): number =>
  right.value - left.value || (left.stored.id < right.stored.id ? -1 : 1)
const byAge = (left: RankedRecord<RefreshRecord>, right: RankedRecord<RefreshRecord>): number =>
  right.stored.age - left.stored.age || (left.stored.id < right.stored.id ? -1 : 1)

interface RankedRecord<One> {
  readonly stored: One
  readonly value: number
}

/** Keeps the best `max` of any number of records, with at most about twice as many in memory. */
class BestRecords<One extends RefreshRecord> {
  readonly max: number
  readonly #order: (left: RankedRecord<One>, right: RankedRecord<One>) => number
  #records: RankedRecord<One>[] = []

  constructor(max: number, order: (left: RankedRecord<One>, right: RankedRecord<One>) => number) {
    this.max = max
    this.#order = order
  }

  add(one: RankedRecord<One>): void {
    this.#records.push(one)
    if (this.#records.length > 2 * this.max + 100) this.#cut()
  }

  #cut(): void {
    this.#records = this.#records.sort(this.#order).slice(0, this.max)
  }

  list(): readonly RankedRecord<One>[] {
    this.#cut()
    return this.#records
  }
}

export interface RefreshBudget {
  /** Total number of requests. */
  readonly requests: number
  /** Requests spread over the day: for records without an event, and for records with one beyond `events`. */
  readonly paced: number
  /** Requests for records with an event; unlimited if absent. */
  readonly events?: number
}

/** Takes records in any order, and chooses the best for a number of requests. */
export class RefreshChoice<One extends RefreshRecord = RefreshRecord> {
  readonly #requests: number
  readonly #overdue: BestRecords<One>
  readonly #signalled: BestRecords<One>
  readonly #best: BestRecords<One>
  readonly #paced: number
  /** Records worth a request, chosen or not. */
  worth = 0

  constructor({ requests, paced, events = requests }: RefreshBudget) {
    this.#requests = Math.max(0, Math.floor(requests))
    const max = Math.max(0, Math.floor(Math.min(requests, paced)))
    this.#overdue = new BestRecords<One>(Math.floor(max * floorShare), byAge)
    const signalled = Math.max(0, Math.floor(Math.min(requests, events)))
    this.#signalled = new BestRecords<One>(signalled, byValue)
    this.#paced = max
    // Records with an event are in both, and count here once their own share is used up.
    this.#best = new BestRecords<One>(max + signalled, byValue)
  }

  add(stored: One): void {
    if (!isWorthIt(stored)) return
    this.worth += 1
    const ranked = { stored, value: worthOf(stored) }
    if (stored.isSignalled) this.#signalled.add(ranked)
    this.#best.add(ranked)
    if (stored.age >= floorDays && !stored.isSignalled) this.#overdue.add(ranked)
  }

  /** Records with an event that the share for events pays for, if they are chosen. */
  forEvents(): ReadonlySet<One> {
    return new Set(this.#signalled.list().map(({ stored }) => stored))
  }

  /** At most as many as the budget allows, each record once. */
  chosen(): readonly One[] {
    const overdue = this.#overdue.list()
    const signalled = this.#signalled.list()
    const taken = new Set([...overdue, ...signalled])
    const others = this.#best
      .list()
      .filter(one => !taken.has(one))
      .slice(0, this.#paced - overdue.length)
    const rest = [...signalled, ...others].sort(byValue)
    return [...overdue, ...rest].slice(0, this.#requests).map(({ stored }) => stored)
  }
}
