/** Scans one scope of a snapshot: all of it, or nothing. */
import { BadRequest, NotFound } from '../../api/client/errors.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/landing.ts'
import { formatNumber } from '../../lib/counted.ts'
import { isDeep } from '../../lib/json-depth.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { recordTexts } from '../../load/page/stand-ins.ts'
import type { CompleteReading } from '../../state/scans/scopes.ts'
import { jsonValue } from '../../warehouse/exact-json.ts'
import { figuresOfSeen, PreviousPasses } from '../paging/figures.ts'
import { type PassRules, seenIn } from '../paging/pass.ts'
import { sizeOf, snapshotPlan } from '../paging/pass-plan.ts'
import { isPlausible, judge, provedStart, type ScanDecision, seenAndExpected } from '../paging/proof.ts'
import type { ScannedPage, ScanProgress, Strategy } from '../paging/scan.ts'
import { SeenRows } from '../paging/seen-rows.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { pathOf, type SnapshotScope } from './scopes.ts'

export interface SnapshotPassPage {
  /** The pass that requested it. */
  readonly pass: number
  readonly landed: LandedPage
  /** Names of its rows. */
  readonly names: readonly string[]
  /** Rows of the list, as reported. */
  readonly total: number
}

/** Whether the chosen pages are the last landed pass, complete, with each row once and only rows that count. */
export function isOnePass(
  asked: readonly SnapshotPassPage[],
  chosen: readonly SnapshotPassPage[],
  doesCount: (name: string) => boolean,
): boolean {
  const pass = asked.slice(asked.findLastIndex(({ landed }) => landed.page === 1))
  const names = chosen.flatMap(page => page.names)
  const isComplete = pass.length === chosen.length && pass.length === lastPage(pass[0]?.total ?? 0)
  return isComplete && pass[0] === chosen[0] && new Set(names).size === names.length && names.every(doesCount)
}

/** The latest received JSON of each row that counts. */
function textsOf(pages: readonly SnapshotPassPage[], doesCount: (name: string) => boolean): string[] {
  const texts = new Map<string, string>()
  for (const { landed, names } of pages)
    for (const [index, text] of recordTexts(pageBytes(landed)).entries()) {
      const name = names[index]
      if (name !== undefined && doesCount(name)) texts.set(name, text)
    }
  return [...texts.values()]
}

/** Builds page bodies with the rows that count, each once. */
export function pageBodies(
  pages: readonly SnapshotPassPage[],
  doesCount: (name: string) => boolean,
): Buffer[] {
  const texts = textsOf(pages, doesCount)
  return Array.from({ length: lastPage(texts.length) }, (_, place) => {
    const rows = texts.slice(place * pageLimit, (place + 1) * pageLimit)
    const meta = JSON.stringify({ page: place + 1, limit: pageLimit, total: texts.length })
    return Buffer.from(`{"success":true,"data":[${rows.join(',')}],"meta":${meta}}`)
  })
}

const idOf = (row: unknown): unknown => ((row ?? {}) as { readonly id?: unknown }).id

export const hasId = (row: unknown): boolean => typeof idOf(row) === 'string'

/** JSON with sorted keys and uniform numbers. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${ordered(one)}`).join()}}`
}

/** Normalizes a row: the order of keys and the notation of numbers and strings may differ between responses. */
function contentOf(text: string): string {
  try {
    const value = jsonValue(text)
    return isDeep(value) ? text : ordered(value)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/** Names rows by id, or else by content. Equal contents are two rows only if both are on one page. */
export function namesOf(rows: readonly unknown[], texts: readonly string[]): string[] {
  const times = new Map<string, number>()
  return rows.map((row, index) => {
    if (hasId(row)) return idOf(row) as string
    const content = contentOf(texts[index] as string)
    times.set(content, (times.get(content) ?? 0) + 1)
    return `${content} ${times.get(content)}`
  })
}

export interface ScopeReading {
  readonly pages: readonly LandedPage[]
  /** Rows that the service claims. */
  readonly total: number
  /** Rows of these that it shows on no page. */
  readonly hidden: number
  /** Whether the last reading of the scope found the same number of hidden rows. */
  readonly isHiddenKnown?: boolean
  /** False for several pages that were read once: the list may have changed between them. */
  readonly isProved: boolean
  /** Where another pass continues. */
  readonly progress?: ScanProgress
  readonly seen?: SeenRows
  readonly asked?: readonly SnapshotPassPage[]
}

interface SnapshotPage extends ScannedPage {
  readonly landed: LandedPage
  readonly names: readonly string[]
}

export interface ScopeScan {
  readonly scope: SnapshotScope
  readonly scanId: string
}

/** Earlier readings of the scope: the last complete one, and the one of this run that did not prove it. */
export interface PreviousReadings {
  readonly last: CompleteReading | undefined
  readonly before: ScopeReading | undefined
}

/** A scope whose pages are landed. */
export interface ReadScope extends ScopeScan {
  readonly reading: ScopeReading
}

/** The sort order for a pass. */
function orderOf({ read }: Resource, attempt: number): Readonly<Record<string, string>> {
  const { orders = [] } = read as Snapshot
  return orders[(attempt - 1) % Math.max(1, orders.length)] ?? {}
}

const refusedPage = (page: number, total: number): string =>
  `page ${page} of a list of ${formatNumber(total)} was refused`

/**
 * Scans a list without a change time: its rows count if they are on the first page, or were seen both before and after
 * it.
 */
export class SnapshotScan implements Strategy<SnapshotPage> {
  readonly #task: ResourceTask
  readonly #at: ScopeScan
  readonly #seen: SeenRows
  /** Whether a single pass over several pages is enough, provided that the load neither adds nor removes a row. */
  readonly #mayBeUnproved: boolean
  readonly #pages: SnapshotPassPage[]
  #hasIds = true
  readonly #previous = new PreviousPasses()
  readonly #last: CompleteReading | undefined
  reading: ScopeReading = { pages: [], total: 0, hidden: 0, isProved: false }
  figures = { seen: 0, expected: 0 }
  contradiction: string | undefined

  constructor(task: ResourceTask, at: ScopeScan, { last, before }: PreviousReadings) {
    this.#task = task
    this.#at = at
    this.#last = last
    this.#seen = before?.seen ?? new SeenRows()
    this.#pages = [...(before?.asked ?? [])]
    this.#mayBeUnproved = before === undefined
  }

  rules({ attempt, pageSize }: ScanProgress): PassRules & { readonly size: number } {
    const hidesRows = this.#hides !== undefined
    return { order: 'first to last', hidesRows, size: sizeOf(snapshotPlan(attempt), pageSize) }
  }

  /** Requests an empty list a second time, unless it was empty before: a glitch would drop all of its rows. */
  async ask(page: number, progress: ScanProgress): Promise<SnapshotPage> {
    const answer = await this.#fetch(page, progress)
    const isEmpty = answer.empty && answer.total === 0 && page === 1 && this.#pages.length === 0
    if (!isEmpty || this.#last?.total === 0) return answer
    await this.drop(answer)
    return this.#fetch(page, progress)
  }

  drop({ landed }: SnapshotPage): Promise<void> {
    return this.#task.sync.landing.forget(landed)
  }

  /** Rows that the list is known to hide. */
  get #hides(): number | undefined {
    const hidden = Math.max(this.#last?.hidden ?? 0, this.#task.sync.hidden ?? 0)
    return hidden === 0 ? undefined : hidden
  }

  async #fetch(page: number, { sequence, attempt, pass }: ScanProgress): Promise<SnapshotPage> {
    const { sync, resource, counters } = this.#task
    const { scope, scanId } = this.#at
    const order = orderOf(resource, attempt)
    const query = { ...resource.query, ...scope.query, ...order, page, limit: pass.size }
    const isBehindEnd = page > lastPage(pass.lastTotal, pass.size)
    const options = { mayBeHollow: true, ...(!isBehindEnd && { rows: pass.lastTotal }) }
    const answer = await sync.client.getPage(pathOf(resource, scope), query, options).catch(error => {
      // The service refuses the page, not the scope.
      const isRefused = error instanceof NotFound || error instanceof BadRequest
      if (!isRefused || page === 1) throw error
      const expected = pass.lastTotal
      throw new Incomplete({
        resource: resource.name,
        seen: 0,
        expected,
        reason: refusedPage(page, expected),
      })
    })
    counters.requests += 1
    const { fetchedAt, bytes, meta } = answer
    const arrived = { sequence: sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(scanId, arrived)
    const records = answer.records()
    const names = namesOf(records, recordTexts(bytes))
    this.#hasIds &&= records.every(hasId)
    return {
      page,
      total: meta.total,
      limit: meta.limit,
      empty: names.length === 0,
      rows: names.length,
      landed,
      names,
    }
  }

  async keep({ landed, names, total }: SnapshotPage, { pass }: ScanProgress): Promise<void> {
    const seen = seenIn(pass)
    this.#pages.push({ pass: seen.pass, landed, names, total })
    for (const name of names) this.#seen.add(name, seen)
  }

  /** An interrupted snapshot starts again in the next run. */
  async save(): Promise<void> {}

  get passes(): number {
    return this.#previous.shortfalls.length
  }

  async decide(progress: ScanProgress): Promise<ScanDecision> {
    const { pass } = progress
    const previous = this.#previous
    const figures = figuresOfSeen(this.#seen, progress, { hidesRows: this.#hides, previous })
    const { hidden, ids, contradiction } = figures
    const { inLastPass } = this.#seen.figures(pass.number)
    const proved = provedStart(figures)
    this.figures = seenAndExpected(figures)
    this.contradiction = contradiction
    previous.add(figures, pass)
    const isClean =
      pass.start !== undefined &&
      contradiction === undefined &&
      isPlausible(pass.start, ids) &&
      inLastPass === pass.start.total - hidden
    const accepted = proved ?? (this.#mayBeUnproved && isClean ? pass.start : undefined)
    if (!accepted) return judge(figures, proved, previous.shortfalls)
    // Without ids, rows from other passes may have changed since: use exactly the rows that count for the proved pass
    // start.
    const isAtStart = proved !== undefined && !this.#hasIds && !isClean
    const since = proved && (this.#hasIds || isAtStart) ? proved.pass : pass.number
    const pages = this.#pages.filter(one => one.pass >= since)
    const put = await this.#put(progress, pages, name => !isAtStart || this.#seen.has(name, proved))
    this.reading = {
      pages: put,
      total: accepted.total,
      hidden,
      isHiddenKnown: hidden === (this.#last?.hidden ?? 0),
      isProved: proved !== undefined,
      progress: { ...progress, sequence: Math.max(progress.sequence, ...put.map(page => page.sequence)) },
      seen: this.#seen,
      asked: this.#pages,
    }
    return 'accepted'
  }

  /** Returns the pages as received, or lands them again as one pass. */
  async #put(
    { sequence }: ScanProgress,
    pages: readonly SnapshotPassPage[],
    doesCount: (name: string) => boolean,
  ): Promise<LandedPage[]> {
    if (isOnePass(this.#pages, pages, doesCount)) return pages.map(({ landed }) => landed)
    const { sync } = this.#task
    const fetchedAt = pages.at(-1)?.landed.fetchedAt ?? now(sync)
    const put: LandedPage[] = []
    for (const [place, bytes] of pageBodies(pages, doesCount).entries()) {
      const facts = { sequence: sequence + 1 + place, page: place + 1, fetchedAt, runId: sync.runId }
      put.push(await sync.landing.land(this.#at.scanId, { ...facts, bytes }))
    }
    return put
  }
}
