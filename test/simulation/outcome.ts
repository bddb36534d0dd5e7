/** What seeds came to, in this process or in a worker, and the lines that say so. */
import { Counts, type Happened } from './counts.ts'

export interface Outcome {
  readonly ran: number
  readonly broken: readonly number[]
  readonly counts: readonly (readonly [string, Happened])[]
  /** Seconds of the processor. */
  readonly busy: number
}

export function together(outcomes: readonly Outcome[]): Outcome {
  const counts = new Counts()
  for (const outcome of outcomes) counts.merge(outcome.counts)
  const sum = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0)
  return {
    ran: sum(({ ran }) => ran),
    broken: outcomes.flatMap(({ broken }) => broken).sort((one, other) => one - other),
    counts: counts.list(),
    busy: sum(({ busy }) => busy),
  }
}

export const countsOf = ({ counts }: Outcome): Counts => {
  const all = new Counts()
  all.merge(counts)
  return all
}

/** Things by kind: how often each happened, and in how many nights. */
function* tableOf({ counts }: Outcome): Generator<string> {
  yield `   times  nights`
  for (const [what, { times, nights }] of counts)
    yield `${String(times).padStart(8)}${String(nights).padStart(8)}  ${what}`
}

export interface Told {
  readonly seconds: number
  /** For the command that replays a seed. */
  readonly how: string
}

export function* linesOf(outcome: Outcome, { seconds, how }: Told): Generator<string> {
  yield* tableOf(outcome)
  const { ran, broken, busy } = outcome
  const nights = countsOf(outcome).of('nights')
  const [first] = broken
  if (first !== undefined) yield `replay the first: npm run simulate -- --seeds ${first}${how}`
  const each = `${(seconds / nights).toFixed(2)} s a night, of the processor ${(busy / nights).toFixed(2)} s`
  yield `${ran} seeds, ${nights} nights in ${seconds.toFixed(0)} s, ${each}; ${
    first === undefined ? 'every law held' : `broken by seeds ${broken.join(' ')}`
  }`
}
