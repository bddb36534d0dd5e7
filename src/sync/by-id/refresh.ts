/**
 * Which records are worth reading again: an index of what a read now would be worth, the greatest first. Where changes
 * come at random it makes the schedule of fixed intervals that is freshest for its requests, whatever the budget is,
 * without having to know the budget (docs/refresh.md).
 */

/** A record that is held, as the policy sees it; times in days. */
export interface Held {
  readonly id: string
  /** Since it was fetched. */
  readonly age: number
  /** Changes a day, as estimated. */
  readonly rate: number
  readonly importance: number
  /** Whether something said that it changed since. */
  readonly isSignalled: boolean
  /** What else speaks for a change, as -ln of the factor by which it lowers the probability that there was none. */
  readonly doubt: number
}

/** Every record is read so often at least, in days, as far as the share of the budget for it goes. */
export const floorDays = 30
/** Of the budget, what goes to records older than that when others are worth more. */
export const floorShare = 0.2
/** A record that has changed with less than this probability is not worth a request. */
const leastChance = 0.002
/** Milliseconds between two requests for one record at least. */
export const ceilingMs = 60_000

/** Of a record that can still change. */
const liveImportance = 5
/** Of one in a terminal state that changed just now. */
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
const unrest = ({ rate, age, doubt }: Pick<Held, 'rate' | 'age' | 'doubt'>): number =>
  rate * Math.max(0, age) + doubt

export const chanceOfChange = (held: Pick<Held, 'rate' | 'age' | 'doubt'>): number =>
  -Math.expm1(-unrest(held))

/** 1 - (1 + x) e^-x, also where the two are so close that their difference would be noise. */
function gain(x: number): number {
  if (x < 1e-3) return x * x * (0.5 - x / 3 + (x * x) / 8)
  return -Math.expm1(-x) - x * Math.exp(-x)
}

/**
 * What reading it now is worth: importance times (1/rate - (age + 1/rate) e^(-rate age)), in days of freshness. One that
 * was signalled has changed for all that is known, which is worth as much as an age without end; a hint makes it older by as
 * much as it is to be believed.
 */
export function worthOf(held: Held): number {
  const { rate, importance, isSignalled } = held
  if (rate <= 0) return isSignalled ? Number.MAX_VALUE : 0
  return (importance / rate) * (isSignalled ? 1 : gain(unrest(held)))
}

export const isWorthIt = (held: Held): boolean =>
  held.isSignalled || held.age >= floorDays || chanceOfChange(held) >= leastChance

const byValue = (left: Ranked<Held>, right: Ranked<Held>): number =>
  right.value - left.value || (left.held.id < right.held.id ? -1 : 1)
const byAge = (left: Ranked<Held>, right: Ranked<Held>): number =>
  right.held.age - left.held.age || (left.held.id < right.held.id ? -1 : 1)

interface Ranked<One> {
  readonly held: One
  readonly value: number
}

/** Keeps the best of any number of records in the memory of a few. */
class Best<One extends Held> {
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
  /** Of them, those that may go to records that were not signalled. */
  readonly paced: number
}

/** Takes records in any order; gives the best choice for a number of requests. */
export class Choice<One extends Held = Held> {
  readonly #requests: number
  readonly #overdue: Best<One>
  readonly #signalled: Best<One>
  readonly #best: Best<One>
  /** Records that are worth a request, chosen or not. */
  worth = 0

  constructor({ requests, paced }: RefreshBudget) {
    this.#requests = Math.max(0, Math.floor(requests))
    const most = Math.max(0, Math.floor(Math.min(requests, paced)))
    this.#overdue = new Best<One>(Math.floor(most * floorShare), byAge)
    this.#signalled = new Best<One>(this.#requests, byValue)
    this.#best = new Best<One>(most, byValue)
  }

  add(held: One): void {
    if (!isWorthIt(held)) return
    this.worth += 1
    const ranked = { held, value: worthOf(held) }
    if (held.isSignalled) this.#signalled.add(ranked)
    else this.#best.add(ranked)
    if (held.age >= floorDays && !held.isSignalled) this.#overdue.add(ranked)
  }

  /** At most as many as the budget allows; a record at most once. */
  chosen(): readonly One[] {
    const overdue = this.#overdue.list()
    const taken = new Set(overdue)
    const paced = this.#best.list()
    const others = paced.filter(one => !taken.has(one)).slice(0, this.#best.most - overdue.length)
    const rest = [...this.#signalled.list(), ...others].sort(byValue)
    return [...overdue, ...rest].slice(0, this.#requests).map(({ held }) => held)
  }
}
