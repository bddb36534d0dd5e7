/**
 * How fresh a warehouse is under a budget of requests, by simulation: the refresh policy beside reading every record
 * equally often and reading each in proportion to how often it changes. A row is fresh from a read until its next change.
 * Where parents announce a part of the changes, the policy is also shown without its signals.
 */
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { SignalKind } from '../../src/state/by-id/signal-counts.ts'
import { type KindSums, type Prior, priorOf, rateOf } from '../../src/sync/by-id/change-rate.ts'
import { RefreshChoice, type RefreshRecord } from '../../src/sync/by-id/refresh-worth.ts'
import { SignalWorth } from '../../src/sync/by-id/signal-worth.ts'
import { Freshness, isSignalled, type Population, type Row, read, rowsOf } from './simulated-rows.ts'

export interface Scenario extends Population {
  /** Requests a row and day. */
  readonly budget: number
  readonly runsPerDay: number
  /** Days before those that count, in which the policy learns. */
  readonly warmDays: number
  readonly days: number
}

export type Policy = 'uniform' | 'proportional' | 'index' | 'index with signals'

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

const signal = { name: 'parent', share: 0.3 }

/** What the reads of a run found, added up as ops.change_signal does. */
class Lessons {
  readonly #kinds = new Map<string, SignalKind>()

  add(kind: string, more: Partial<SignalKind>): void {
    const none = { signalled: 0, unchanged: 0, unchangedExpected: 0, quietChanges: 0, quietExpected: 0 }
    const stored = this.#kinds.get(kind) ?? { signal: signal.name, kind, ...none }
    const sum = (name: keyof typeof none): number => stored[name] + (more[name] ?? 0)
    const names = Object.keys(none) as (keyof typeof none)[]
    this.#kinds.set(kind, { ...stored, ...Object.fromEntries(names.map(name => [name, sum(name)])) })
  }

  get worth(): SignalWorth {
    return new SignalWorth([signal], [...this.#kinds.values()])
  }
}

interface Candidate extends RefreshRecord {
  readonly row: Row
  readonly hasSignal: boolean
  readonly estimate: number
}

/** The rows that a run of the policy reads; it knows what earlier reads found, and no true rate. */
function chosenRows(
  rows: readonly Row[],
  { at, requests, worth }: { at: number; requests: number; worth: SignalWorth | undefined },
): readonly Candidate[] {
  const known = priors(rows)
  const choice = new RefreshChoice<Candidate>({ requests, paced: requests })
  for (const row of rows) {
    const estimate = rateOf(row, known.get(row.state) ?? priorOf(undefined))
    const hasSignal = isSignalled(row, at)
    const signals = hasSignal ? [signal.name] : []
    const doubt = -Math.log(worth?.freshFactor({ kind: row.state, signals }) ?? 1)
    const rate = estimate * (worth?.quietShare({ signals }) ?? 1)
    const { id, weight: importance } = row
    choice.add({
      id,
      row,
      hasSignal,
      estimate,
      age: at - row.readAt,
      rate,
      importance,
      isSignalled: false,
      doubt,
    })
  }
  return choice.chosen()
}

function runIndex(
  rows: readonly Row[],
  scenario: Scenario,
  { rng, usesSignals }: { rng: Rng; usesSignals: boolean },
) {
  const { budget, runsPerDay, warmDays, days } = scenario
  const freshness = new Freshness(warmDays)
  const lessons = new Lessons()
  let left = 0
  for (let run = 1; run <= (warmDays + days) * runsPerDay; run += 1) {
    const at = run / runsPerDay
    left += (scenario.rows * budget) / runsPerDay
    const requests = Math.floor(left)
    left -= requests
    const worth = usesSignals ? lessons.worth : undefined
    for (const { row, hasSignal, rate, age, estimate } of chosenRows(rows, { at, requests, worth })) {
      freshness.add(row, at)
      const before = row.exposure
      const isChanged = read(row, at, rng)
      const lesson = hasSignal
        ? { signalled: 1, unchanged: isChanged ? 0 : 1, unchangedExpected: Math.exp(-rate * age) }
        : { quietChanges: isChanged ? 1 : 0, quietExpected: estimate * (row.exposure - before) }
      lessons.add(row.state, lesson)
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
  if (policy === 'index' || policy === 'index with signals')
    return runIndex(rows, scenario, { rng, usesSignals: policy === 'index with signals' })
  const { budget } = scenario
  // It knows the true rates, which no program does.
  const meanRate = rows.reduce((sum, { rate }) => sum + rate, 0) / rows.length
  const intervalOf = ({ rate }: Row): number =>
    1 / (policy === 'uniform' ? budget : (budget * rate) / meanRate)
  return runIntervals(rows, scenario, { rng, intervalOf })
}

const budgets = [0.02, 0.1, 0.3]
const usual = { rows: 3_000, runsPerDay: 24, warmDays: 60, days: 60, seed: 1 }
/** Of the changes, in the second table. */
const announced = 0.6

const over = (one: number, other: number): string =>
  `${one >= other ? '+' : ''}${((one / other - 1) * 100).toFixed(0)}%`

type Print = (line: string) => void

function printRow(print: Print, scenario: Scenario, policies: readonly Policy[]): void {
  const shares = policies.map(policy => simulate(policy, scenario))
  const gain = over(shares.at(-1) ?? 0, shares[0] ?? 0)
  print(`| ${[scenario.budget, ...shares.map(share => share.toFixed(3)), gain].join(' | ')} |`)
}

/** The tables of docs/benchmarks.md. */
export function printFreshness(print: Print): void {
  print('| requests a row and day | uniform | proportional | this policy | over uniform |')
  print('| ---: | ---: | ---: | ---: | ---: |')
  for (const budget of budgets) printRow(print, { ...usual, budget }, ['uniform', 'proportional', 'index'])
  print('')
  print(`Parents announce ${announced * 100}% of the changes, and change idly as well:`)
  print('')
  print('| requests a row and day | uniform | without signals | with signals | over uniform |')
  print('| ---: | ---: | ---: | ---: | ---: |')
  for (const budget of budgets)
    printRow(print, { ...usual, budget, announced }, ['uniform', 'index', 'index with signals'])
}
