/**
 * Which stored records are worth another fetch: each has an index, and the greatest go first. Where changes come at random,
 * this gives the freshest schedule for any number of requests, without knowing that number (docs/refresh.md).
 */
import { minuteMs } from '../../lib/dates.ts'

/** A stored record, as the policy sees it; times in days. */
export interface Stored {
  readonly id: string
  /** Since it was fetched. */
  readonly age: number
  /** Changes a day, as estimated. */
  readonly rate: number
  readonly importance: number
  /** Whether an event said that it changed since. */
  readonly isSignalled: boolean
  /** Change signals other than events, as -ln of the factor by which they lower the probability of no change. */
  readonly doubt: number
}

/** Every record is fetched at least this often, in days, as far as the share of the budget below goes. */
export const floorDays = 30
/** Share of the budget for older records, even when others are worth more. */
export const floorShare = 0.2
/** A record that changed with a lower probability is not worth a request. */
const leastChance = 0.002
/** A record is not fetched again within this time, in milliseconds. */
export const refetchPauseMs = minuteMs

/** Of a record in a state that can still change. */
const liveImportance = 5
/** Of a record in a terminal state that has just changed. */
const terminalImportance = 1
const leastImportance = 0.05
/** Days in which the importance of a terminal state halves. */
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
  return Math.max(leastImportance, terminalImportance * 2 ** (-Math.max(0, quietDays) / halfLife))
}

/** -ln of the probability that a record is unchanged since it was fetched. */
const expectedChanges = ({ rate, age, doubt }: Pick<Stored, 'rate' | 'age' | 'doubt'>): number =>
  rate * Math.max(0, age) + doubt

export const chanceOfChange = (stored: Pick<Stored, 'rate' | 'age' | 'doubt'>): number =>
  -Math.expm1(-expectedChanges(stored))

/** 1 - (1 + x) e^-x; by its series for small x, where the difference would be noise. */
function gain(x: number): number {
  if (x < 1e-3) return x * x * (0.5 - x / 3 + (x * x) / 8)
  return -Math.expm1(-x) - x * Math.exp(-x)
}

/**
 * The worth of a fetch now: importance times (1/rate - (age + 1/rate) e^(-rate age)), in days of freshness. An event gives
 * the maximum, importance / rate. Other signals add to the age.
 */
export function worthOf(stored: Stored): number {
  const { rate, importance, isSignalled } = stored
  if (rate <= 0) return isSignalled ? Number.MAX_VALUE : 0
  return (importance / rate) * (isSignalled ? 1 : gain(expectedChanges(stored)))
}

export const isWorthIt = (stored: Stored): boolean =>
  stored.isSignalled || stored.age >= floorDays || chanceOfChange(stored) >= leastChance

const byValue = (left: Ranked<Stored>, right: Ranked<Stored>): number =>
  right.value - left.value || (left.stored.id < right.stored.id ? -1 : 1)
const byAge = (left: Ranked<Stored>, right: Ranked<Stored>): number =>
  right.stored.age - left.stored.age || (left.stored.id < right.stored.id ? -1 : 1)

interface Ranked<One> {
  readonly stored: One
  readonly value: number
}

/** Keeps the best of any number of records, in memory for twice as many as it may keep. */
class Best<One extends Stored> {
  readonly most: number
  readonly #order: (left: Ranked<One>, right: Ranked<One>) => number
  #kept: Ranked<One>[] = []

  constructor(most: number, order: (left: Ranked<One>, right: Ranked<One>) => number) {
    this.most = most
    this.#order = order
  }

  add(one: Ranked<One>): void {
    this.#kept.push(one)
    if (this.#kept.length > 2 * this.most + 100) this.#cut()
  }

  #cut(): void {
    this.#kept = this.#kept.sort(this.#order).slice(0, this.most)
  }

  list(): readonly Ranked<One>[] {
    this.#cut()
    return this.#kept
  }
}

export interface RefreshBudget {
  /** Requests in all. */
  readonly requests: number
  /** Of these, requests that are spread over the day: for records without an event, and for those beyond `events`. */
  readonly paced: number
  /** Of these, requests for records with an event; as many as there are when left out. */
  readonly events?: number
}

/** Takes records in any order and chooses the best for a number of requests. */
export class Choice<One extends Stored = Stored> {
  readonly #requests: number
  readonly #overdue: Best<One>
  readonly #signalled: Best<One>
  readonly #best: Best<One>
  readonly #paced: number
  /** Records that are worth a request, chosen or not. */
  worth = 0

  constructor({ requests, paced, events = requests }: RefreshBudget) {
    this.#requests = Math.max(0, Math.floor(requests))
    const most = Math.max(0, Math.floor(Math.min(requests, paced)))
    this.#overdue = new Best<One>(Math.floor(most * floorShare), byAge)
    const signalled = Math.max(0, Math.floor(Math.min(requests, events)))
    this.#signalled = new Best<One>(signalled, byValue)
    this.#paced = most
    // Those with an event are in both, and count here where their own share is spent.
    this.#best = new Best<One>(most + signalled, byValue)
  }

  add(stored: One): void {
    if (!isWorthIt(stored)) return
    this.worth += 1
    const ranked = { stored, value: worthOf(stored) }
    if (stored.isSignalled) this.#signalled.add(ranked)
    this.#best.add(ranked)
    if (stored.age >= floorDays && !stored.isSignalled) this.#overdue.add(ranked)
  }

  /** The records with an event for which the share of events pays, if they are chosen. */
  forEvents(): ReadonlySet<One> {
    return new Set(this.#signalled.list().map(({ stored }) => stored))
  }

  /** At most as many as the budget allows; a record at most once. */
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
