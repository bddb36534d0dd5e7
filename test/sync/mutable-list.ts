/** A list that changes while it is paged, and the scans, right and wrong, that try to keep a copy of it. */
import { pageLimit } from '../../src/api/client/paging.ts'
import { advance, figuresOf, nextPass } from '../../src/sync/paging/pass.ts'
import { beginPass, type Known, type PassState } from '../../src/sync/paging/pass-state.ts'
import { judge } from '../../src/sync/paging/proof.ts'
import { knownBelow } from '../../src/sync/scan/lookback.ts'

export interface Row {
  readonly id: number
  readonly at: number
  readonly version: number
}

/** `late` commits with a time that lies a moment back; `wait` only lets time go by; `which` picks among the rows. */
export interface Change {
  readonly kind: 'insert' | 'update' | 'delete' | 'late' | 'wait'
  readonly which: number
  /** Happens before the request of this number. */
  readonly before: number
}

export interface Setting {
  readonly rows: number
  readonly pageSize: number
  readonly changes: readonly Change[]
  /** False: the clock stands still, so that changes tie with what is there. */
  readonly ticking?: boolean
  /** Scans over changes before the rest; one when left out. */
  readonly meanwhile?: number
  /** How far the copy's clock is ahead of the list's. */
  readonly ahead?: number
  /** Rows with equal times in another order at each request. */
  readonly shuffle?: (rows: Row[]) => Row[]
}

const tick = 60_000
export const lag = 2 * tick

export class MutableList {
  readonly #setting: Setting
  rows: Row[]
  #now: number
  #nextId: number
  requests = 0

  get now(): number {
    return this.#now
  }

  constructor(setting: Setting) {
    this.#setting = setting
    this.rows = Array.from({ length: setting.rows }, (_, index) => ({
      id: index,
      at: index * tick,
      version: 1,
    }))
    this.#nextId = setting.rows
    this.#now = (setting.rows - 1) * tick
  }

  /** `since` keeps the rows at or after a time, as a date filter does. */
  ask(
    page: number,
    since = Number.NEGATIVE_INFINITY,
  ): { readonly rows: readonly Row[]; readonly total: number } {
    for (const change of this.#setting.changes) if (change.before === this.requests) this.#apply(change)
    this.requests += 1
    const { pageSize, shuffle } = this.#setting
    const found = this.rows.filter(row => row.at >= since)
    const rows = shuffle ? shuffle(found) : found
    return { rows: rows.slice((page - 1) * pageSize, page * pageSize), total: rows.length }
  }

  #apply({ kind, which }: Change): void {
    if (this.#setting.ticking !== false) this.#now += tick
    const picked = this.rows[which % Math.max(1, this.rows.length)]
    if (kind === 'insert') this.#place({ id: this.#nextId++, at: this.#now, version: 1 })
    if (kind === 'late') this.#place({ id: this.#nextId++, at: this.#now - lag, version: 1 })
    if (!picked || kind === 'insert' || kind === 'late' || kind === 'wait') return
    this.rows = this.rows.filter(row => row !== picked)
    if (kind === 'update') this.#place({ ...picked, at: this.#now, version: picked.version + 1 })
  }

  /** Rows with equal times stand in the order of their changes. */
  #place(row: Row): void {
    const place = this.rows.findIndex(other => other.at > row.at)
    this.rows.splice(place === -1 ? this.rows.length : place, 0, row)
  }
}

/** What the copy knows between two scans. */
export interface Copy {
  readonly rows: Map<number, Row>
  watermark: number | undefined
  /** When the first scan that found this watermark had ended, and the last one began, by the copy's clock. */
  seen: number | undefined
  begun: number | undefined
  /** Passes that the last scan took. */
  attempts: number
}

export const emptyCopy = (): Copy => ({
  rows: new Map(),
  watermark: undefined,
  seen: undefined,
  begun: undefined,
  attempts: 0,
})

export type Scan = (list: MutableList, copy: Copy, setting: Setting) => void

function keep(copy: Copy, rows: readonly Row[]): void {
  for (const row of rows) {
    const held = copy.rows.get(row.id)
    if (!held || held.version <= row.version) copy.rows.set(row.id, row)
  }
}

const texts = new Map<number, string>()

/** Of the few times there are in all histories, each is written once. */
function iso(at: number): string {
  const text = texts.get(at) ?? new Date(at).toISOString()
  texts.set(at, text)
  return text
}

/** `src/sync/scan.ts` counts pages of 200 rows: totals of smaller pages are stretched to as many pages. */
const stretched = (rows: number, pageSize: number): number => Math.ceil((rows * pageLimit) / pageSize)

export interface Variant {
  readonly lookback?: number
  /** A scan ends at the watermark when the last one began later than this by more than twice the lookback. */
  readonly settles?: (copy: Copy) => number | undefined
  readonly watermark?: 'first page' | 'end of scan'
  /** Planted: a row at the watermark itself counts as read before. */
  readonly strict?: boolean
  /** Whole passes are repeated until they saw as many ids as the list claimed to have. */
  readonly accept?: boolean
  readonly beginAt?: number
}

function knownOf(copy: Copy, { lookback = 0, settles, strict = false }: Variant): Known | undefined {
  const { watermark, begun } = copy
  if (watermark === undefined) return undefined
  const seen = settles?.(copy)
  if (seen === undefined || begun === undefined) return { before: watermark - lookback + (strict ? 1 : 0) }
  return knownBelow({ watermark: iso(watermark), seen: iso(seen), begun: iso(begun), lookbackMs: lookback })
}

function reversePass(
  list: MutableList,
  copy: Copy,
  at: { setting: Setting; variant: Variant; begin: PassState; seen: Set<number> },
): PassState {
  const { setting, variant, begin, seen } = at
  const known = knownOf(copy, variant)
  let state = begin
  while (state.nextPage > 0) {
    const page = state.nextPage
    const { rows, total } = list.ask(page)
    keep(copy, rows)
    for (const row of rows) seen.add(row.id)
    const ends = rows.length > 0 && { oldest: iso(rows[0]!.at), newest: iso(rows.at(-1)!.at) }
    const answer = {
      page,
      total: stretched(total, setting.pageSize),
      empty: rows.length === 0,
      ...(ends || {}),
    }
    state = advance(state, answer, { known })
  }
  return state
}

/** The scan of the product, or a variant of it with one planted mistake. */
export function reverse(variant: Variant = {}): Scan {
  return (list, copy, setting) => {
    const isWhole = copy.watermark === undefined
    const { ahead = 0 } = setting
    const begun = list.now + ahead
    const seen = new Set<number>()
    let begin = beginPass(variant.beginAt ?? 1)
    for (copy.attempts = 1; ; copy.attempts += 1) {
      const state = reversePass(list, copy, { setting, variant, begin, seen })
      const distinctIds = stretched(seen.size, setting.pageSize)
      const figures = { kind: 'backfill', isWhole: true, attempt: copy.attempts, distinctIds } as const
      const complete = judge(figuresOf(state, figures)) === 'accepted'
      begin = nextPass(state)
      if (variant.accept && isWhole && !complete && copy.attempts < 1000) continue
      const { firstWatermark } = state
      const watermark =
        variant.watermark === 'end of scan'
          ? list.rows.at(-1)?.at
          : firstWatermark
            ? Date.parse(firstWatermark)
            : undefined
      if (watermark !== undefined && watermark > (copy.watermark ?? Number.NEGATIVE_INFINITY)) {
        copy.watermark = watermark
        copy.seen = list.now + ahead
      }
      copy.begun = begun
      return
    }
  }
}

/** Planted: what changed since the watermark, from the first page to the last, with the greatest time seen as the new watermark. */
export const forward: Scan = (list, copy, { pageSize }) => {
  const { watermark } = copy
  let last = 1
  let greatest = watermark ?? Number.NEGATIVE_INFINITY
  for (let page = 1; page <= last; page += 1) {
    const { rows, total } = list.ask(page, watermark)
    keep(copy, rows)
    greatest = Math.max(greatest, ...rows.map(row => row.at))
    last = Math.ceil(total / pageSize)
  }
  copy.watermark = greatest
}

/** A first scan, `meanwhile` more, then rest and a last one: what the copy then lacks of the list. */
export function lost(setting: Setting, scan: Scan, incremental: Scan = scan): string[] {
  const { meanwhile = 1 } = setting
  const list = new MutableList(setting)
  const copy = emptyCopy()
  scan(list, copy, setting)
  for (let done = 0; done < meanwhile; done += 1) incremental(list, copy, setting)
  const last = Math.max(0, ...setting.changes.map(change => change.before))
  while (list.requests <= last) list.ask(1)
  incremental(list, copy, setting)
  return list.rows
    .filter(row => copy.rows.get(row.id)?.version !== row.version)
    .map(row => `${row.id} version ${row.version}`)
}
