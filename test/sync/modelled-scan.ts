/** The scans of the product over a list in memory, and variants of them with one planted mistake. */
import { lastPage } from '../../src/api/client/paging.ts'
import { figuresFrom, PreviousPasses } from '../../src/sync/paging/figures.ts'
import type { KnownTimes } from '../../src/sync/paging/page-facts.ts'
import { factsOf } from '../../src/sync/paging/page-facts.ts'
import { beginPass, type Pass, type PassRules, seenIn } from '../../src/sync/paging/pass.ts'
import { type PassPlan, planOf, sizeOf, snapshotPlan } from '../../src/sync/paging/pass-plan.ts'
import {
  counts,
  judge,
  type PassFigures,
  type PassStart,
  provedStart,
  type ScanDecision,
  type SeenId,
  steadyStart,
} from '../../src/sync/paging/proof.ts'
import { type ScannedPage, type ScanProgress, type Strategy, scan } from '../../src/sync/paging/scan.ts'
import { type ChangingList, lag, type Row } from './changing-list.ts'

export type Kind = 'loaded' | 'sweep' | 'snapshot'

/** Rules that are weaker than those of the product. */
export interface Mistakes {
  /** Every id that any pass saw counts: one that came and went makes up for one that was missed. */
  readonly anyId?: boolean
  /** A scan of changes needs no count. */
  readonly uncountedPart?: boolean
  /** A record counts by its times although it was last seen before the moment. */
  readonly seenEarlier?: boolean
  /** Records committed late are not thought of. */
  readonly noLookback?: boolean
  /** Rows below the end of a part are taken from its first pass. */
  readonly firstBelow?: boolean
  /** In a list filtered by updatedAt a record counts by its createdAt. */
  readonly createdInFilter?: boolean
  /** Rows are not counted, so that no page shows more of them than the list has. */
  readonly believesTotal?: boolean
  /** A service that contradicts itself is believed. */
  readonly ignoresContradictions?: boolean

  /** Rows that pages lack are hidden, whether or not another size of pages shows them. */
  readonly believesHidden?: boolean
}

export interface ModelledScan {
  readonly kind: Kind
  readonly pageSize: number
  /** Milliseconds: everything older is known; with the least time of the filter, if the list is filtered. */
  readonly known?: KnownTimes
  readonly since?: number
  readonly beginAt?: number
  /** By which our clock is ahead of the service's, in milliseconds. */
  readonly clockAhead?: number
  readonly mistakes?: Mistakes
  /** The scan is resumed by another process before the request of this number. */
  readonly restarts?: number
}

interface ModelPage extends ScannedPage {
  readonly records: readonly Row[]
}

export interface Result {
  readonly decision: ScanDecision
  readonly start: PassStart | undefined
  /** The newest version seen of each id. */
  readonly seen: ReadonlyMap<string, Row>
  /** The list when each pass started. */
  readonly moments: ReadonlyMap<number, readonly Row[]>
  readonly requests: number
  /** Rows of which the scan says that the service counts them and shows them on no page. */
  readonly hidden: number
}

const texts = new Map<number, string>()
function iso(at: number): string {
  const text = texts.get(at) ?? new Date(at).toISOString()
  texts.set(at, text)
  return text
}

const asRecord = ({ id, created, updated }: Row) => ({ id, createdAt: iso(created), updatedAt: iso(updated) })

/** Thirty passes of sixty pages with one row each, and the search for the end of each. */
const maxRequests = 4_000

class ModelScan implements Strategy<ModelPage> {
  readonly asksTwice: boolean
  readonly seen = new Map<string, Row>()
  readonly moments = new Map<number, readonly Row[]>()
  readonly #ids = new Map<string, SeenId & { readonly changedAt: number }>()
  readonly #list: ChangingList
  readonly #job: ModelledScan
  readonly #previous = new PreviousPasses()
  #firstBelow: number | undefined
  readonly #begun: number
  proved: PassStart | undefined
  hidden = 0

  constructor(list: ChangingList, job: ModelledScan) {
    this.#list = list
    this.#job = job
    this.#begun = list.requests
    this.asksTwice = job.kind === 'sweep'
  }

  #plan({ attempt, starts }: ScanProgress): PassPlan {
    if (this.#job.kind === 'snapshot') return snapshotPlan(attempt)
    return planOf(attempt, { isPart: this.#job.known !== undefined, total: starts[0]?.total })
  }

  rules(progress: ScanProgress): PassRules & { readonly size: number } {
    const { known, kind, mistakes = {} } = this.#job
    const plan = this.#plan(progress)
    return {
      ...(kind === 'snapshot' && { order: 'first to last' }),
      ...(known && plan.sortBy === 'updatedAt' && { known }),
      lookbackMs: mistakes.noLookback ? 0 : lag,
      isShort: plan.isShort,
      now: this.#now,
      size: sizeOf(plan, progress.pageSize),
    }
  }

  get #now(): number {
    return this.#list.now + (this.#job.clockAhead ?? 0)
  }

  async ask(page: number, progress: ScanProgress): Promise<ModelPage> {
    const { known, since, kind, mistakes = {} } = this.#job
    const plan = this.#plan(progress)
    const limit = progress.pass.size
    if (this.#list.requests > this.#begun + maxRequests) throw new Error('the scan does not end')
    const answer = this.#list.ask(page, limit, { sort: plan.sortBy, ...(since !== undefined && { since }) })
    const { rows, total } = answer
    const timed = { updatedAt: 'updatedAt', known, now: this.#now }
    const facts = factsOf(
      rows.map(asRecord),
      kind === 'snapshot' ? { ...timed, updatedAt: undefined } : timed,
    )
    const { rows: count, ...others } = facts
    const counted = mistakes.believesTotal ? {} : { rows: count ?? 0 }
    return {
      page,
      total,
      limit: answer.limit,
      empty: rows.length === 0,
      ...others,
      ...counted,
      records: rows,
    }
  }

  async keep({ records }: ModelPage, { pass }: ScanProgress): Promise<void> {
    const { pass: number, isFront } = seenIn(pass)
    if (isFront && !this.moments.has(number)) this.moments.set(number, [...this.#list.rows])
    for (const row of records) {
      const newest = this.seen.get(row.id)
      if (!newest || newest.version <= row.version) this.seen.set(row.id, row)
      this.#sight(row, number, isFront)
    }
  }

  #sight(row: Row, number: number, isFront: boolean): void {
    const { since, kind, mistakes = {} } = this.#job
    const before = this.#ids.get(row.id)
    const byCreation = since === undefined || mistakes.createdInFilter
    this.#ids.set(row.id, {
      firstPass: Math.min(number, before?.firstPass ?? number),
      lastPass: number,
      frontPasses: isFront ? [...(before?.frontPasses ?? []), number] : (before?.frontPasses ?? []),
      existedAt: kind === 'snapshot' ? null : byCreation ? row.created : row.updated,
      changedAt: row.updated,
    })
  }

  async drop(): Promise<void> {}

  async save(): Promise<void> {}

  #counted(pass: Pass, starts: readonly PassStart[]): number[] {
    const { known, kind, mistakes = {} } = this.#job
    const moments = [...starts, ...(kind === 'loaded' ? steadyStart(pass) : [])] as PassStart[]
    const from = pass.below > 0 ? (known?.before ?? 0) : Number.NEGATIVE_INFINITY
    const ids = [...this.#ids.values()].filter(({ changedAt }) => changedAt >= from)
    if (mistakes.anyId) return starts.map(() => ids.length)
    const isCounted = (id: SeenId, start: PassStart): boolean =>
      counts(mistakes.seenEarlier ? { ...id, lastPass: Number.POSITIVE_INFINITY } : id, start)
    return moments.map(start => ids.filter(id => isCounted(id, start)).length)
  }

  #figures(progress: ScanProgress): PassFigures {
    const { mistakes = {} } = this.#job
    const { pass, starts } = progress
    this.#firstBelow ??= pass.below
    const inLastPass = [...this.#ids.values()].filter(({ lastPass }) => lastPass === pass.number).length
    const seen = { ids: this.#ids.size, inLastPass, counted: this.#counted(pass, starts) }
    const figures = figuresFrom(seen, progress, { hidesRows: undefined, previous: this.#previous })
    const hidden = mistakes.believesHidden ? (pass.shown?.missing ?? 0) : figures.hidden
    const below = mistakes.firstBelow ? this.#firstBelow : pass.below
    const contradiction = mistakes.ignoresContradictions ? undefined : figures.contradiction
    return { ...figures, hidden, excluded: below + hidden, contradiction }
  }

  async decide(progress: ScanProgress): Promise<ScanDecision> {
    const { mistakes = {}, known } = this.#job
    const figures = this.#figures(progress)
    this.#previous.add(figures, progress.pass)
    const isUncounted = mistakes.uncountedPart && known !== undefined && progress.pass.below > 0
    this.proved = isUncounted ? progress.starts[0] : provedStart(figures)
    this.hidden = figures.hidden
    return judge(figures, this.proved, this.#previous.shortfalls)
  }
}

export async function modelScan(list: ChangingList, job: ModelledScan): Promise<Result> {
  const strategy = new ModelScan(list, job)
  const before = list.requests
  const page = job.beginAt ?? lastPage(list.rows.length, job.pageSize)
  const { pageSize } = job
  const pass = beginPass(job.kind === 'snapshot' ? 1 : page, pageSize)
  const decision = await scan(strategy, { pass, attempt: 1, starts: [], sequence: 0, pageSize })
  const { proved: start, seen, moments, hidden } = strategy
  return { decision, start, seen, moments, hidden, requests: list.requests - before }
}
