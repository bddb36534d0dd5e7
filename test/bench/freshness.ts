/**
 * How fresh a warehouse is under a budget of requests, by simulation: the refresh policy beside reading every record
 * equally often and reading each in proportion to how often it changes. A row is fresh from a read until its next change.
 */
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { Choice, type Held } from '../../src/sync/refresh.ts'
import { type KindSums, type Prior, priorOf, rateOf } from '../../src/sync/refresh-rate.ts'

/** Kinds of row: what share of all, how many changes a day, and how much a fresh one counts. */
const kinds = [
  { share: 0.7, rate: 1 / 180, weight: 1, state: 'closed' },
  { share: 0.25, rate: 1 / 7, weight: 5, state: 'live' },
  { share: 0.05, rate: 2, weight: 5, state: 'live' },
] as const

export interface Scenario {
  readonly rows: number
  /** Requests a row and day. */
  readonly budget: number
  readonly runsPerDay: number
  /** Days before those that count, in which the policy learns. */
  readonly warmDays: number
  readonly days: number
  readonly seed: number
}

export type Policy = 'uniform' | 'proportional' | 'index'

interface Row {
  readonly id: string
  readonly state: string
  readonly rate: number
  readonly weight: number
  readAt: number
  changeAt: number
  changes: number
  exposure: number
}

const exponential = (rng: Rng, rate: number): number => -Math.log(1 - rng()) / rate

function rowsOf({ rows, seed }: Scenario, rng: Rng): Row[] {
  const made = kinds.flatMap(({ share, rate, weight, state }) =>
    Array.from({ length: Math.round(rows * share) }, () => ({ rate, weight, state })),
  )
  return made.map((kind, index) => ({
    ...kind,
    id: `${seed}-${index}`,
    readAt: 0,
    changeAt: exponential(rng, kind.rate),
    changes: 0,
    exposure: 0,
  }))
}

/** Time in which rows were fresh, by their weight, from `from` on. */
class Freshness {
  readonly #from: number
  #sum = 0

  constructor(from: number) {
    this.#from = from
  }

  add({ readAt, changeAt, weight }: Row, until: number): void {
    this.#sum += weight * Math.max(0, Math.min(changeAt, until) - Math.max(readAt, this.#from))
  }

  share(rows: readonly Row[], days: number): number {
    return this.#sum / (days * rows.reduce((sum, { weight }) => sum + weight, 0))
  }
}

/** What a read finds: whether there was a change, and since when nothing changed. */
function read(row: Row, at: number, rng: Rng): void {
  const isChanged = row.changeAt <= at
  const lastChange = isChanged ? Math.max(row.changeAt, at - exponential(rng, row.rate)) : row.readAt
  row.changes += isChanged ? 1 : 0
  row.exposure += at - lastChange
  row.readAt = at
  row.changeAt = at + exponential(rng, row.rate)
}

function priors(rows: readonly Row[]): Map<string, Prior> {
  const sums = new Map<string, KindSums>()
  for (const { state, changes, exposure } of rows) {
    const sum = sums.get(state)
    sums.set(state, {
      records: (sum?.records ?? 0) + 1,
      changes: (sum?.changes ?? 0) + changes,
      exposure: (sum?.exposure ?? 0) + exposure,
      exposureSquared: (sum?.exposureSquared ?? 0) + exposure * exposure,
      changesByExposure: (sum?.changesByExposure ?? 0) + changes * exposure,
      changesSquared: (sum?.changesSquared ?? 0) + changes * changes,
    })
  }
  return new Map([...sums].map(([state, sum]) => [state, priorOf(sum)]))
}

/** The rows that a run of the policy reads; it knows what earlier reads found, and no true rate. */
function chosenRows(rows: readonly Row[], at: number, requests: number): Row[] {
  const known = priors(rows)
  const choice = new Choice({ requests, paced: requests })
  const rowOf = new Map<Held, Row>()
  for (const row of rows) {
    const rate = rateOf(row, known.get(row.state) ?? priorOf(undefined))
    const held = { id: row.id, age: at - row.readAt, rate, importance: row.weight, isSignalled: false }
    rowOf.set(held, row)
    choice.add(held)
  }
  return choice.chosen().map(held => rowOf.get(held) as Row)
}

function runIndex(rows: readonly Row[], scenario: Scenario, rng: Rng): number {
  const { budget, runsPerDay, warmDays, days } = scenario
  const freshness = new Freshness(warmDays)
  let left = 0
  for (let run = 1; run <= (warmDays + days) * runsPerDay; run += 1) {
    const at = run / runsPerDay
    left += (scenario.rows * budget) / runsPerDay
    const requests = Math.floor(left)
    left -= requests
    for (const row of chosenRows(rows, at, requests)) {
      freshness.add(row, at)
      read(row, at, rng)
    }
  }
  for (const row of rows) freshness.add(row, warmDays + days)
  return freshness.share(rows, days)
}

/** Each row at an interval of its own; all of them together take as many requests as the others. */
function runIntervals(
  rows: readonly Row[],
  { warmDays, days }: Scenario,
  { rng, intervalOf }: { readonly rng: Rng; readonly intervalOf: (row: Row) => number },
): number {
  const freshness = new Freshness(warmDays)
  for (const row of rows) {
    const interval = intervalOf(row)
    for (let at = rng() * interval; at < warmDays + days; at += interval) {
      freshness.add(row, at)
      read(row, at, rng)
    }
    freshness.add(row, warmDays + days)
  }
  return freshness.share(rows, days)
}

/** Weighted share of the time in which a row is fresh. */
export function simulate(policy: Policy, scenario: Scenario): number {
  const rng = namedRng(scenario.seed, policy)
  const rows = rowsOf(scenario, rng)
  if (policy === 'index') return runIndex(rows, scenario, rng)
  const { budget } = scenario
  // It knows the true rates, which no program does.
  const meanRate = rows.reduce((sum, { rate }) => sum + rate, 0) / rows.length
  const intervalOf = ({ rate }: Row): number =>
    1 / (policy === 'uniform' ? budget : (budget * rate) / meanRate)
  return runIntervals(rows, scenario, { rng, intervalOf })
}

const budgets = [0.02, 0.1, 0.3]

/** The table of docs/measurements.md. */
export function printFreshness(print: (line: string) => void): void {
  print('| requests a row and day | uniform | proportional | this policy | over uniform |')
  print('| ---: | ---: | ---: | ---: | ---: |')
  for (const budget of budgets) {
    const scenario = { rows: 3_000, budget, runsPerDay: 24, warmDays: 60, days: 60, seed: 1 }
    const [uniform, proportional, index] = (['uniform', 'proportional', 'index'] as const).map(policy =>
      simulate(policy, scenario),
    ) as [number, number, number]
    const gain = `${index >= uniform ? '+' : ''}${((index / uniform - 1) * 100).toFixed(0)}%`
    print(
      `| ${budget} | ${uniform.toFixed(3)} | ${proportional.toFixed(3)} | ${index.toFixed(3)} | ${gain} |`,
    )
  }
}
