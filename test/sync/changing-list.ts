/** A list that changes while it is paged, whatever the order of its records with equal keys. */
import type { Rng } from '../../src/lib/rng.ts'

export interface Row {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly created: number
  readonly updated: number
  readonly version: number
}

export type SortKey = 'updatedAt' | 'createdAt'

export interface Weather {
  readonly rows: number
  readonly pageSize: number
  /** Chance of a change before a request. */
  readonly change: number
  /** Share of the changes that are of this kind; the rest are updates. */
  readonly insert: number
  readonly remove: number
  readonly bulk: number
  readonly late: number
  /** Chance that records with equal keys come in another order with a request. */
  readonly shuffle: number
  /** Chance that a change has the time of the one before. */
  readonly tie: number
  /** Greatest number of rows a page, whatever is asked for. */
  readonly cap?: number
  /** The greatest total that it claims. */
  readonly maxTotal?: number
  /** Every so manieth record is on no page, though it counts. */
  readonly hides?: number
  /** Page 2 always lacks its last so many rows. */
  readonly lacks?: number
  /** Every page lacks its rows from this one on, counted from 0. */
  readonly cuts?: number
  /** The last page is shown again for every page after it. */
  readonly clamps?: boolean
  readonly breaks?: Breaks
}

/** What a scan assumes that a service does not do. */
export interface Breaks {
  /** Chance that the first half of a page is from before the changes that its other half shows. */
  readonly torn?: number
  /** Late records become visible up to so many lags after their times. */
  readonly lags?: number
  /** Chance that an update leaves the time of change as it was. */
  readonly unmarked?: number
  /** Deleted records come back, in place of new ones. */
  readonly reborn?: boolean
  /** Chance that a page has the rows of the page before it. */
  readonly shifted?: number
}

const tick = 60_000
/** A list that grew faster than it is read would be read for ever. */
const maxRows = 60

/** A record becomes visible at most so long after its time. */
export const lag = 3 * tick

export interface Page {
  readonly rows: readonly Row[]
  readonly total: number
  readonly limit: number
}

export class ChangingList {
  readonly #weather: Weather
  readonly #rng: Rng
  rows: Row[] = []
  now = 1_000 * tick
  requests = 0
  isResting = false
  /** A total that was too low has shown itself: some page had more rows than it. */
  isContradicted = false
  /** While the total was too low, a page was empty before the last one, or the last one lacked rows: the end cannot be known. */
  isEndHidden = false
  #isCapped = false
  #nextId = 0
  readonly #deleted: Row[] = []

  constructor(weather: Weather, rng: Rng) {
    this.#weather = weather
    this.#rng = rng
    for (let n = 0; n < weather.rows; n += 1) this.#arrive(this.#tick())
    this.now += 2 * lag
  }

  /** Whether its answers were such that a scan can know where it ends. */
  get showsItsEnd(): boolean {
    return !this.isEndHidden && (!this.#isCapped || this.isContradicted)
  }

  get lacksRows(): boolean {
    return this.#weather.lacks !== undefined || this.#weather.cuts !== undefined
  }

  get pageSize(): number {
    return this.#weather.pageSize
  }

  get hidden(): ReadonlySet<string> {
    const { hides } = this.#weather
    return new Set(
      hides === undefined ? [] : this.rows.filter(({ id }) => Number(id) % hides === 0).map(({ id }) => id),
    )
  }

  #tick(): number {
    if (this.#rng() >= this.#weather.tie) this.now += tick
    return this.now
  }

  #arrive(at: number): void {
    this.rows.push({ id: String(this.#nextId++), created: at, updated: at, version: 1 })
  }

  #any(): number {
    return Math.floor(this.#rng() * this.rows.length)
  }

  #update(index: number, at: number): void {
    const { unmarked } = this.#breaks
    const row = this.rows[index]
    const isUnmarked = unmarked !== undefined && this.#rng() < unmarked
    if (row) this.rows[index] = { ...row, updated: isUnmarked ? row.updated : at, version: row.version + 1 }
  }

  get #breaks(): Breaks {
    return this.#weather.breaks ?? {}
  }

  #insert(at: number): void {
    const back = this.#breaks.reborn ? this.#deleted.pop() : undefined
    if (back) this.rows.push({ ...back, updated: at, version: back.version + 1 })
    else this.#arrive(at)
  }

  #remove(): void {
    this.#deleted.push(...this.rows.splice(this.#any(), 1))
  }

  #change(): void {
    const { remove, bulk } = this.#weather
    const isFull = this.rows.length >= maxRows
    const [insert, late] = isFull ? [0, 0] : [this.#weather.insert, this.#weather.late]
    const kind = this.#rng()
    const at = this.#tick()
    if (kind < insert) this.#insert(at)
    else if (kind < insert + late) this.#arrive(at - Math.floor(this.#rng() * lag * (this.#breaks.lags ?? 1)))
    else if (kind < insert + late + remove) this.#remove()
    else this.#updateSome(kind < insert + late + remove + bulk, at)
  }

  /** Many at one time, or one. */
  #updateSome(isBulk: boolean, at: number): void {
    const many = isBulk ? 1 + Math.floor(this.#rng() * this.rows.length) : 1
    for (let n = 0; n < many; n += 1) this.#update(this.#any(), at)
  }

  /** `since` keeps the rows updated at or after a time, as a filter does. */
  ask(
    number: number,
    limit: number,
    { sort = 'updatedAt' as SortKey, since = Number.NEGATIVE_INFINITY } = {},
  ): Page {
    const before = this.rows
    this.rows = [...before]
    while (!this.isResting && this.#rng() < this.#weather.change) this.#change()
    this.requests += 1
    const {
      cap = limit,
      maxTotal = Number.POSITIVE_INFINITY,
      shuffle,
      lacks = 0,
      cuts = limit,
    } = this.#weather
    const { torn, shifted } = this.#breaks
    const isShuffled = this.#rng() < shuffle
    const isShifted = shifted !== undefined && number > 1 && this.#rng() < shifted
    const key = (row: Row): number => (sort === 'updatedAt' ? row.updated : row.created)
    const places = new Map(this.rows.map(row => [row.id, isShuffled ? this.#rng() : Number(row.id)]))
    const placeOf = ({ id }: Row): number => places.get(id) ?? Number(id)
    const sorted = (rows: readonly Row[]): Row[] =>
      rows
        .filter(({ updated }) => updated >= since)
        .sort((left, right) => key(left) - key(right) || placeOf(left) - placeOf(right))
    const found = sorted(this.rows)
    const size = Math.min(limit, cap)
    const last = this.#weather.clamps ? Math.max(1, Math.ceil(found.length / size)) : number
    const page = Math.min(isShifted ? number - 1 : number, last)
    const hidden = this.hidden
    const of = (rows: readonly Row[]): readonly Row[] => rows.slice((page - 1) * size, page * size)
    const isTornApart = torn !== undefined && this.#rng() < torn
    const half = isTornApart ? Math.floor(size / 2) : 0
    const whole = [...of(sorted(before)).slice(0, half), ...of(found).slice(half)]
    const shown = whole.filter(({ id }) => !hidden.has(id))
    const sent = page === 2 ? shown.slice(0, Math.max(0, shown.length - lacks)) : shown
    const rows = sent.slice(0, cuts)
    const total = Math.min(found.length, maxTotal)
    this.#isCapped ||= total < found.length
    this.isContradicted ||= rows.length > 0 && (page - 1) * size + rows.length > total
    const isTorn = rows.length === 0 || page * size >= found.length
    this.isEndHidden ||= total < found.length && isTorn && rows.length < of(found).length
    return { rows, total, limit }
  }
}
