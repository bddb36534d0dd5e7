/** Rows of a service that change at random, some of them with a word from a parent, and what reading one finds. */
import type { Rng } from '../../src/lib/rng.ts'

/** Kinds of row: what share of all, how many changes a day, how much a fresh one counts; parents changing idly a day. */
const kinds = [
  { share: 0.7, rate: 1 / 180, weight: 1, state: 'closed', idle: 1 / 90 },
  { share: 0.25, rate: 1 / 7, weight: 5, state: 'live', idle: 1 / 7 },
  { share: 0.05, rate: 2, weight: 5, state: 'live', idle: 1 / 2 },
] as const

export interface Population {
  readonly rows: number
  readonly seed: number
  /** Share of the changes that come with a change of a parent; parents change idly as well. */
  readonly announced?: number
}

export interface Row {
  readonly id: string
  readonly state: string
  readonly rate: number
  readonly weight: number
  readonly idle: number
  readonly announced: number
  readAt: number
  /** Of the first change after the read without a word, of the first with one, and of the first idle word. */
  silentAt: number
  announcedAt: number
  idleAt: number
  changes: number
  exposure: number
}

/** Days over which the first read tells of a change, as every record tells when it changed last. */
const lookBack = 30

const exponential = (rng: Rng, rate: number): number =>
  rate > 0 ? -Math.log(1 - rng()) / rate : Number.POSITIVE_INFINITY

const changeAt = ({ silentAt, announcedAt }: Row): number => Math.min(silentAt, announcedAt)
export const isSignalled = ({ announcedAt, idleAt }: Row, at: number): boolean =>
  Math.min(announcedAt, idleAt) <= at

function begin(row: Row, at: number, rng: Rng): Row {
  const after = (rate: number): number => at + exponential(rng, rate)
  const { rate, announced, idle } = row
  const times = { silentAt: after(rate * (1 - announced)), announcedAt: after(rate * announced) }
  return Object.assign(row, times, { readAt: at, idleAt: after(idle) })
}

export function rowsOf({ rows, seed, announced = 0 }: Population, rng: Rng): Row[] {
  const made = kinds.flatMap(kind => Array.from({ length: Math.round(rows * kind.share) }, () => kind))
  const never = { readAt: 0, silentAt: 0, announcedAt: 0, idleAt: 0 }
  return made.map((kind, index) => {
    const quiet = exponential(rng, kind.rate)
    const found = { changes: quiet < lookBack ? 1 : 0, exposure: Math.min(lookBack, quiet) }
    return begin({ ...kind, ...never, ...found, announced, id: `${seed}-${index}` }, 0, rng)
  })
}

/** Time in which rows were fresh, by their weight, from `from` on. */
export class Freshness {
  readonly #from: number
  #sum = 0

  constructor(from: number) {
    this.#from = from
  }

  add(row: Row, until: number): void {
    const fresh = Math.min(changeAt(row), until) - Math.max(row.readAt, this.#from)
    this.#sum += row.weight * Math.max(0, fresh)
  }

  share(rows: readonly Row[], days: number): number {
    return this.#sum / (days * rows.reduce((sum, { weight }) => sum + weight, 0))
  }
}

/** When the row changed last, if changes that began at `first` go on at random. */
const lastOf = (first: number, rate: number, { at, rng }: { at: number; rng: Rng }): number =>
  first <= at ? Math.max(first, at - exponential(rng, rate)) : 0

/** What a read finds: whether there was a change, and since when nothing changed. */
export function read(row: Row, at: number, rng: Rng): boolean {
  const isChanged = changeAt(row) <= at
  const { readAt, rate, announced } = row
  const silent = lastOf(row.silentAt, rate * (1 - announced), { at, rng })
  const lastChange = Math.max(readAt, silent, lastOf(row.announcedAt, rate * announced, { at, rng }))
  row.changes += isChanged ? 1 : 0
  row.exposure += at - lastChange
  begin(row, at, rng)
  return isChanged
}
