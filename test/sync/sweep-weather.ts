/** What a seed draws of all that can happen to a service while it is swept: much of it not at all, the rest seldom. */
import { namedRng } from '../../src/lib/rng.ts'
import { type FaultName, type FaultRates, faultNames } from '../fault-layer/faults.ts'
import { lists, type SweptName } from './sweeping.ts'

/** Rows of the lists when they are first synced: from a part of a page to three pages. */
export const sizes = [
  { timesheets: 60, expenses: 40 },
  { timesheets: 190, expenses: 120 },
  { timesheets: 260, expenses: 210 },
  { timesheets: 410, expenses: 90 },
] as const

/** The most that is drawn of each: before so many of the requests it happens. */
const requestRates = {
  change: 0.8,
  deletion: 0.5,
  /** A row comes whose times lie back. */
  late: 0.2,
  /** An answer of a copy that lacks the newest rows, with the total that this copy has. */
  laggingCopy: 0.12,
  /** Rows are missing from a page, and its total is right. */
  lostRows: 0.25,
  /** A page is empty, and its total says that the list ends before it. */
  lostPage: 0.15,
  /** So many requests in a row are answered 403. */
  refusals: 0.08,
  /** From then on, until the run ends, every read by id is answered 404. */
  deadGateway: 0.25,
  scopeChange: 0.2,
  /** A large part of the list is hidden, and `/me` says nothing of it. */
  hiding: 0.2,
} as const

/** The same for runs. */
const runRates = {
  /** The list lacks a few rows while it is swept that are there by id; no row twice, which nothing could tell from a deletion. */
  flicker: 0.7,
  /** The run may ask so little that its sweep is left for the next one. */
  stop: 0.5,
  /** Somebody is told of a deletion. */
  event: 0.5,
} as const

export type Happening = keyof typeof requestRates | keyof typeof runRates
export const happenings = [...Object.keys(requestRates), ...Object.keys(runRates)] as Happening[]

export interface SweepWeather {
  readonly size: (typeof sizes)[number]
  readonly lists: readonly SweptName[]
  readonly ties: boolean
  readonly rates: Readonly<Record<Happening, number>>
  readonly faults: FaultRates
}

/** These take time that passes for everybody, and not only on the clock of the seed. */
const slow: readonly FaultName[] = ['hang', 'slow-body']

export function weatherOf(seed: number): SweepWeather {
  const rng = namedRng(seed, 'weather over HTTP')
  const often = (most: number): number => (rng() < 0.5 ? 0 : rng() * most)
  const drawn = Object.entries({ ...requestRates, ...runRates }).map(([name, most]) => [name, often(most)])
  const rates = Object.fromEntries(drawn) as Record<Happening, number>
  // Where the scope has just changed only few rows are judged, and what is hidden without a word can be as few as that.
  const without = rng() < 0.5 ? ({ hiding: 0 } as const) : ({ scopeChange: 0 } as const)
  const faults = faultNames
    .filter(() => rng() < 0.3)
    .map(name => [name, rng() * (slow.includes(name) ? 0.03 : 0.08)])
  const which = rng()
  return {
    size: sizes[Math.floor(rng() * sizes.length)] ?? sizes[0],
    lists: which < 0.2 ? lists : [which < 0.6 ? 'timesheets' : 'expenses'],
    ties: rng() < 0.3,
    rates: { ...rates, ...without },
    faults: Object.fromEntries(faults),
  }
}
