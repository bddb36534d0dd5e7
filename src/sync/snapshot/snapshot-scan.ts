/** The scan of one scope of a snapshot: it is read whole, or not at all. */
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { recordTexts } from '../../load/page/stand-ins.ts'
import type { WholeReading } from '../../state/scans/scopes.ts'
import { limitOf, sizeOf, snapshotPlan } from '../paging/pass-plan.ts'
import { type PassRules, seenIn } from '../paging/pass-state.ts'
import { PastPasses } from '../paging/past-passes.ts'
import {
  type Decision,
  hiddenRows,
  isLikely,
  judge,
  provedForward,
  seenAndExpected,
} from '../paging/proof.ts'
import type { Progress, ScannedPage, Strategy } from '../paging/scan.ts'
import { SeenRows } from '../paging/seen-rows.ts'
import { mostHollow } from '../paging/shown.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { hasId, namesOf } from './row-names.ts'
import { pathOf, type Scope } from './scopes.ts'
import { type AskedPage, isOnePass, wholePages } from './whole-pages.ts'

export interface Reading {
  readonly pages: readonly LandedPage[]
  /** Rows that the service claims. */
  readonly total: number
  /** Those of them that it shows on no page. */
  readonly hidden: number
  /** As many were hidden when the scope was last read. */
  readonly isHiddenKnown?: boolean
  /** False for several pages that were read once: the list may have changed between them. */
  readonly isProved: boolean
  /** Where another pass goes on. */
  readonly progress?: Progress
  readonly seen?: SeenRows
  readonly asked?: readonly AskedPage[]
}

interface SnapshotPage extends ScannedPage {
  readonly landed: LandedPage
  readonly names: readonly string[]
}

export interface ScopeScan {
  readonly scope: Scope
  readonly scanId: string
}

/** What is known of the scope: its last reading that was whole, and the one of this run that did not prove it. */
export interface Former {
  readonly last: WholeReading | undefined
  readonly before: Reading | undefined
}

/** A scope whose pages are landed. */
export interface ReadScope extends ScopeScan {
  readonly reading: Reading
}

/** The order that a pass asks for. */
function orderOf({ read }: Resource, attempt: number): Readonly<Record<string, string>> {
  const { orders = [] } = read as Snapshot
  return orders[(attempt - 1) % Math.max(1, orders.length)] ?? {}
}

/** A list without a change time: its rows count when they are on the first page, or were seen before and after it. */
export class SnapshotScan implements Strategy<SnapshotPage> {
  readonly #task: ResourceTask
  readonly #at: ScopeScan
  readonly #seen: SeenRows
  /** Whether one pass of several pages will do, when the load neither adds nor removes a row. */
  readonly #mayBeUnproved: boolean
  readonly #pages: AskedPage[]
  #hasIds = true
  readonly #past = new PastPasses()
  readonly #last: WholeReading | undefined
  reading: Reading = { pages: [], total: 0, hidden: 0, isProved: false }
  figures = { seen: 0, expected: 0 }

  constructor(task: ResourceTask, at: ScopeScan, { last, before }: Former) {
    this.#task = task
    this.#at = at
    this.#last = last
    this.#seen = before?.seen ?? new SeenRows()
    this.#pages = [...(before?.asked ?? [])]
    this.#mayBeUnproved = before === undefined
  }

  rules({ attempt, pass }: Progress): PassRules & { readonly size: number } {
    const hidesRows = this.#hides !== undefined
    return { order: 'first to last', hidesRows, size: sizeOf(limitOf(snapshotPlan(attempt), pass), pass) }
  }

  /** One that is empty for the first time is asked for once more: a slip would leave out all of its rows. */
  async ask(page: number, progress: Progress): Promise<SnapshotPage> {
    const answer = await this.#fetch(page, progress)
    const isEmpty = answer.empty && answer.total === 0 && page === 1 && this.#pages.length === 0
    if (!isEmpty || this.#last?.total === 0) return answer
    await this.#task.sync.landing.forget(answer.landed)
    return this.#fetch(page, progress)
  }

  /** Rows that the list is known to hide. */
  get #hides(): number | undefined {
    const { hidden = 0 } = this.#last ?? {}
    return hidden === 0 ? undefined : hidden
  }

  async #fetch(page: number, { sequence, attempt, pass }: Progress): Promise<SnapshotPage> {
    const { sync, resource, counters } = this.#task
    const { scope, scanId } = this.#at
    const limit = limitOf(snapshotPlan(attempt), pass)
    const query = { ...resource.query, ...scope.query, ...orderOf(resource, attempt), page, limit }
    const mayBeHollow = pass.hollow < mostHollow
    const answer = await sync.client.getPage(pathOf(resource, scope), query, { mayBeHollow })
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

  async keep({ landed, names, total }: SnapshotPage, { pass }: Progress): Promise<void> {
    const seen = seenIn(pass)
    this.#pages.push({ pass: seen.pass, landed, names, total })
    for (const name of names) this.#seen.add(name, seen)
  }

  /** A snapshot that was cut off begins anew in the next run. */
  async save(): Promise<void> {}

  get passes(): number {
    return this.#past.lacks.length
  }

  async decide(progress: Progress): Promise<Decision> {
    const { bases, attempt, pass } = progress
    const counted = bases.map(base => this.#seen.count(base))
    const seen = this.#seen.figures(pass.number)
    const past = this.#past
    const isShuffled = past.isShuffledWith(pass, seen.inLastPass)
    const still = past.stillWith(seen.ids, pass)
    const hidden = hiddenRows(pass, { attempt, ...seen, known: this.#hides, still, isShuffled })
    const { said: claimed, isCapped } = pass
    const { ids } = seen
    const figures = { attempt, bases, counted, ids, claimed, excluded: hidden, hidden, isCapped, isShuffled }
    const proved = provedForward(figures, { ...pass, ...seen })
    this.figures = seenAndExpected(figures)
    const { base } = pass
    const isClean = base !== undefined && isLikely(base, seen.ids) && seen.inLastPass === base.total - hidden
    past.add(figures, pass)
    if (!proved && !(this.#mayBeUnproved && isClean)) return judge(figures, proved, past.lacks)
    // Rows without ids that other passes have shown may have changed since: those that count are the list of the proved moment.
    const isOfMoment = proved !== undefined && !this.#hasIds && !isClean
    const since = proved && (this.#hasIds || isOfMoment) ? proved.pass : pass.number
    const pages = this.#pages.filter(one => one.pass >= since)
    const put = await this.#put(progress, pages, name => !isOfMoment || this.#seen.has(name, proved))
    this.reading = {
      pages: put,
      total: proved?.total ?? this.figures.expected + hidden,
      hidden,
      isHiddenKnown: hidden === (this.#last?.hidden ?? 0),
      isProved: proved !== undefined,
      progress: { ...progress, sequence: Math.max(progress.sequence, ...put.map(page => page.sequence)) },
      seen: this.#seen,
      asked: this.#pages,
    }
    return 'accepted'
  }

  /** The pages as they came, or landed anew as one pass. */
  async #put(
    { sequence }: Progress,
    pages: readonly AskedPage[],
    doesCount: (name: string) => boolean,
  ): Promise<LandedPage[]> {
    if (isOnePass(this.#pages, pages, doesCount)) return pages.map(({ landed }) => landed)
    const { sync } = this.#task
    const fetchedAt = pages.at(-1)?.landed.fetchedAt ?? now(sync)
    const put: LandedPage[] = []
    for (const [place, bytes] of wholePages(pages, doesCount).entries()) {
      const facts = { sequence: sequence + 1 + place, page: place + 1, fetchedAt, runId: sync.runId }
      put.push(await sync.landing.land(this.#at.scanId, { ...facts, bytes }))
    }
    return put
  }
}
