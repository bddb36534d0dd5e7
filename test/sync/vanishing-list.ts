/** A service whose list changes, fails and hides rows while it is read, and a key that gains and loses companies. */
import { pageLimit } from '../../src/api/client/paging.ts'
import type { Rng } from '../../src/lib/rng.ts'
import type { RawPage } from '../../src/sync/deletions/swept-page.ts'

export interface Row {
  readonly id: string
  readonly company: number
  /** Minutes since the beginning; rows stand in their order. */
  at: number
}

/** How often, of all requests or between two of them, something happens; drawn by each seed. */
export interface Weather {
  readonly changes: number
  readonly deletions: number
  /** Rows come with a time that lies back. */
  readonly late: number
  readonly ties: boolean
  /** Answers that lack rows: with the total as it is, and with one that agrees. */
  readonly lostRows: number
  readonly laggingCopy: number
  readonly wrongTotal: number
  /** Runs of refused requests. */
  readonly refusals: number
  readonly scopeChanges: number
  /** Part of the list is hidden, and `/me` says nothing of it. */
  readonly hiding: number
  /** For one sweep the list lacks a few rows that are there by id; no row twice, which nothing could tell from a deletion. */
  readonly flicker: number
  /** From then on, until the run ends, every id is answered 404. */
  readonly deadGateway: number
}

export class Refused extends Error {}

const companies = 4

export class VanishingList {
  readonly #rng: Rng
  readonly #weather: Weather
  rows: Row[] = []
  now = 0
  isQuiet = false
  visible = new Set(Array.from({ length: companies }, (_, company) => company))
  /** Ids of which the service said that they were deleted, to be fetched once. */
  events: string[] = []
  readonly happened: Record<keyof Weather, number>
  #next = 0
  #refusing = 0
  readonly #flickered = new Set<string>()
  #dark = new Set<string>()
  #isScopeChanged = false
  #isGatewayDead = false
  #hidden: { readonly rows: ReadonlySet<string>; left: number } | undefined

  constructor(rng: Rng, weather: Weather, rows: number) {
    this.#rng = rng
    this.#weather = weather
    this.happened = Object.fromEntries(Object.keys(weather).map(name => [name, 0])) as Record<
      keyof Weather,
      number
    >
    for (let n = 0; n < rows; n += 1) this.#insert(0)
  }

  #hits(name: Exclude<keyof Weather, 'ties'>): boolean {
    const hit = !this.isQuiet && this.#rng() < this.#weather[name]
    if (hit) this.happened[name] += 1
    return hit
  }

  #pick(): number {
    return Math.floor(this.#rng() * this.rows.length)
  }

  #place(row: Row): void {
    let place = this.rows.length
    while (place > 0 && (this.rows[place - 1] as Row).at > row.at) place -= 1
    this.rows.splice(place, 0, row)
  }

  #insert(back: number): void {
    this.now += 1
    this.#next += 1
    this.#place({ id: `r${this.#next}`, company: Math.floor(this.#rng() * companies), at: this.now - back })
  }

  remove(place: number): Row | undefined {
    const [row] = this.rows.splice(place, 1)
    if (row && this.#rng() < 0.3) this.events.push(row.id)
    return row
  }

  /** What happens before a request. */
  #tick(): void {
    while (this.#hits('changes')) {
      const row = this.rows[this.#pick()]
      if (this.#rng() < 0.3 || !row) this.#insert(0)
      else {
        this.rows.splice(this.rows.indexOf(row), 1)
        this.now += 1
        this.#place({ ...row, at: this.now })
      }
    }
    if (this.#hits('late')) this.#insert(30)
    while (this.#hits('deletions')) this.remove(this.#pick())
    if (!this.#isScopeChanged && this.#hits('scopeChanges')) this.changeScope()
    if (this.#hits('refusals')) this.#refusing = 1 + Math.floor(this.#rng() * 8)
    // Fewer than twenty that are hidden from lists and by id, and of which `/me` says nothing, look deleted to everybody.
    if (this.#hits('hiding')) {
      const share = 0.3 + this.#rng() * 0.6
      const hidden = this.#seen().filter(() => this.#rng() < share)
      const left = 30 + Math.floor(this.#rng() * 60)
      if (hidden.length > 60) this.#hidden = { rows: new Set(hidden.map(({ id }) => id)), left }
    }
    if (this.#hidden && (this.isQuiet || --this.#hidden.left < 0)) this.#hidden = undefined
  }

  /** Once a run: nobody widens a key and narrows it again within minutes. */
  changeScope(): void {
    this.#isScopeChanged = true
    const company = Math.floor(this.#rng() * companies)
    if (this.visible.has(company) && this.visible.size > 1) this.visible.delete(company)
    else this.visible.add(company)
  }

  /** From now on all rows are hidden, or more than half of them; `show` ends it. */
  hideMost(): void {
    const rows = this.#seen()
    const least = Math.floor(rows.length / 2) + 1
    const count = this.#rng() < 0.5 ? rows.length : least + Math.floor(this.#rng() * (rows.length - least))
    const hidden = rows.toSorted(() => this.#rng() - 0.5).slice(0, count)
    this.#hidden = { rows: new Set(hidden.map(({ id }) => id)), left: Number.POSITIVE_INFINITY }
  }

  show(): void {
    this.#hidden = undefined
  }

  #seen(): Row[] {
    return this.rows.filter(({ id, company }) => this.visible.has(company) && !this.#hidden?.rows.has(id))
  }

  #refuseIfTold(): void {
    if (this.isQuiet) this.#refusing = 0
    if (this.#refusing > 0) {
      this.#refusing -= 1
      throw new Refused()
    }
  }

  /** A run begins. */
  begin(): void {
    this.#isScopeChanged = false
    this.#isGatewayDead = false
    this.#dark = new Set()
    if (!this.#hits('flicker')) return
    for (let n = 0; n < 4; n += 1) {
      const id = this.rows[this.#pick()]?.id
      if (id === undefined || this.#flickered.has(id)) continue
      this.#flickered.add(id)
      this.#dark.add(id)
    }
  }

  /** `/me`: as many words as companies. */
  me(): string {
    this.#tick()
    return [...this.visible].sort().join()
  }

  ask(page: number, limit = pageLimit): RawPage {
    this.#tick()
    this.#refuseIfTold()
    let rows = this.#dark.size > 0 ? this.#seen().filter(({ id }) => !this.#dark.has(id)) : this.#seen()
    if (this.#weather.ties && !this.isQuiet) rows = this.#shuffledTies(rows)
    if (this.#hits('laggingCopy')) rows = rows.slice(0, Math.floor(rows.length * (0.5 + this.#rng() / 2)))
    const found = rows.slice((page - 1) * limit, page * limit)
    const kept = this.#hits('lostRows') ? found.filter(() => this.#rng() < 0.9) : found
    const wrong = this.#hits('wrongTotal') ? Math.floor(this.#rng() * 400) - 200 : 0
    const records = kept.map(({ id, at }) => ({ id, updatedAt: new Date(at * 60_000).toISOString() }))
    return { total: Math.max(0, rows.length + wrong), limit, records }
  }

  /** By id: whether the service has it, for what the key sees. */
  find(id: string): boolean {
    this.#tick()
    this.#refuseIfTold()
    this.#isGatewayDead ||= this.#hits('deadGateway')
    return !this.#isGatewayDead && this.#seen().some(row => row.id === id)
  }

  /** Rows of one hour stand in another order at each request. */
  #shuffledTies(rows: readonly Row[]): Row[] {
    return rows
      .map(row => ({ row, key: Math.floor(row.at / 60) + this.#rng() }))
      .sort((left, right) => left.key - right.key)
      .map(({ row }) => row)
  }

  /** What a sync brings: everything that the key sees, or part of it when it is cut off. */
  synced(share: number): Row[] {
    this.#tick()
    const rows = this.#seen()
    return rows.slice(Math.floor(rows.length * (1 - share)))
  }
}
