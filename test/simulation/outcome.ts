/** Merges the outcomes of workers, and formats the summary. */
import { Counts, type Occurrences } from './counts.ts'

export interface Outcome {
  /** Number of seeds that ran. */
  readonly ran: number
  /** Seeds that broke a law. */
  readonly broken: readonly number[]
  readonly counts: readonly (readonly [string, Occurrences])[]
  /** Seconds of CPU time. */
  readonly busy: number
}

export function mergeOutcomes(outcomes: readonly Outcome[]): Outcome {
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

export const toCounts = ({ counts }: Outcome): Counts => {
  const all = new Counts()
  all.merge(counts)
  return all
}

/** A line for each counter: how often the thing happened, and on how many days. */
function* countLines({ counts }: Outcome): Generator<string> {
  yield `   times    days`
  for (const [what, { times, days }] of counts)
    yield `${String(times).padStart(8)}${String(days).padStart(8)}  ${what}`
}

export interface SummaryParts {
  readonly seconds: number
  /** Options for the command that replays a seed. */
  readonly replayOptions: string
}

export function* summaryLines(outcome: Outcome, { seconds, replayOptions }: SummaryParts): Generator<string> {
  yield* countLines(outcome)
  const { ran, broken, busy } = outcome
  const days = toCounts(outcome).of('days')
  const [first] = broken
  if (first !== undefined) yield `replay the first: npm run simulate -- --seeds ${first}${replayOptions}`
  const each = `${(seconds / days).toFixed(2)} s a day, ${(busy / days).toFixed(2)} s of CPU`
  yield `${ran} seeds, ${days} days in ${seconds.toFixed(0)} s, ${each}; ${
    first === undefined ? 'every law held' : `broken by seeds ${broken.join(' ')}`
  }`
}
