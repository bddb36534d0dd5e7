/** The scans of the product over a list in memory, and variants of them with one planted mistake. */
import { lastPage } from '../../src/api/client/paging.ts'
import { factsOf } from '../../src/sync/paging/page-facts.ts'
import { limitOf, type PassPlan, planOf, sizeOf, snapshotPlan } from '../../src/sync/paging/pass-plan.ts'
import {
  beginPass,
  type Known,
  type PassRules,
  type PassState,
  seenIn,
} from '../../src/sync/paging/pass-state.ts'
import { PastPasses } from '../../src/sync/paging/past-passes.ts'
import {
  type Base,
  counts,
  type Decision,
  hiddenRows,
  judge,
  type PassFigures,
  provedBase,
  provedForward,
  type SeenId,
  steadyMoment,
  withSteady,
} from '../../src/sync/paging/proof.ts'
import { type Progress, type ScannedPage, type Strategy, scan } from '../../src/sync/paging/scan.ts'
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
  /** A total that is too low is believed. */
  readonly believesTotal?: boolean

  /** Rows that pages lack are hidden, whether or not another size of pages shows them. */
  readonly believesHidden?: boolean
}

export interface ModelledScan {
  readonly kind: Kind
  readonly pageSize: number
  /** Milliseconds: everything older is known; with the least time of the filter, if the list is filtered. */
  readonly known?: Known
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
  readonly decision: Decision
  readonly base: Base | undefined
  /** The newest version seen of each id. */
  readonly seen: ReadonlyMap<string, Row>
  /** The list at the moment of each base. */
  readonly moments: ReadonlyMap<number, readonly Row[]>
  readonly requests: number
  /** Rows of which the scan says that the service counts them and shows them on no page. */
  readonly hidden: number
}

class BadAnswer extends Error {}

const texts = new Map<number, string>()
function iso(at: number): string {
  const text = texts.get(at) ?? new Date(at).toISOString()
  texts.set(at, text)
  return text
}

const asRecord = ({ id, created, updated }: Row) => ({ id, createdAt: iso(created), updatedAt: iso(updated) })

/** Thirty passes of sixty pages with one row each, and the search for the end of each. */
const mostRequests = 4_000

class ModelScan implements Strategy<ModelPage> {
  readonly asksTwice: boolean
  readonly seen = new Map<string, Row>()
  readonly moments = new Map<number, readonly Row[]>()
  readonly #ids = new Map<string, SeenId & { readonly changedAt: number }>()
  readonly #list: ChangingList
  readonly #job: ModelledScan
  readonly #past = new PastPasses()
  #firstBelow: number | undefined
  readonly #begun: number
  proved: Base | undefined
  hidden = 0

  constructor(list: ChangingList, job: ModelledScan) {
    this.#list = list
    this.#job = job
    this.#begun = list.requests
    this.asksTwice = job.kind === 'sweep'
  }

  #plan({ attempt, bases }: Progress): PassPlan {
    if (this.#job.kind === 'snapshot') return snapshotPlan(attempt)
    return planOf(attempt, { isPart: this.#job.known !== undefined, total: bases[0]?.total })
  }

  rules(progress: Progress): PassRules & { readonly size: number } {
    const { known, kind, mistakes = {} } = this.#job
    const plan = this.#plan(progress)
    return {
      ...(kind === 'snapshot' && { order: 'first to last' }),
      ...(known && plan.sortBy === 'updatedAt' && { known }),
      lookbackMs: mistakes.noLookback ? 0 : lag,
      isShort: plan.isShort,
      now: this.#now,
      size: sizeOf(limitOf(plan, progress.pass), progress.pass),
    }
  }

  get #now(): number {
    return this.#list.now + (this.#job.clockAhead ?? 0)
  }

  async ask(page: number, progress: Progress): Promise<ModelPage> {
    const { known, since, kind, mistakes = {} } = this.#job
    const plan = this.#plan(progress)
    const limit = limitOf(plan, progress.pass)
    if (this.#list.requests > this.#begun + mostRequests) throw new Error('the scan does not end')
    const answer = this.#list.ask(page, limit, { sort: plan.sortBy, ...(since !== undefined && { since }) })
    const { rows, total } = answer
    // As the client does.
    if (rows.length === 0 && (page - 1) * limit < total) throw new BadAnswer()
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

  async keep({ records }: ModelPage, { pass }: Progress): Promise<void> {
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

  async save(): Promise<void> {}

  #counted(pass: PassState, bases: readonly Base[]): number[] {
    const { known, kind, mistakes = {} } = this.#job
    const moments = [...bases, ...(kind === 'loaded' ? steadyMoment(pass) : [])] as Base[]
    const from = pass.below > 0 ? (known?.before ?? 0) : Number.NEGATIVE_INFINITY
    const ids = [...this.#ids.values()].filter(({ changedAt }) => changedAt >= from)
    if (mistakes.anyId) return bases.map(() => ids.length)
    const isCounted = (id: SeenId, base: Base): boolean =>
      counts(mistakes.seenEarlier ? { ...id, lastPass: Number.POSITIVE_INFINITY } : id, base)
    const counted = moments.map(base => ids.filter(id => isCounted(id, base)).length)
    return withSteady(bases, counted)
  }

  #figures({ pass, bases, attempt }: Progress): PassFigures {
    const { mistakes = {} } = this.#job
    this.#firstBelow ??= pass.below
    const below = mistakes.firstBelow ? this.#firstBelow : pass.below
    const seen = this.#idsOf(pass)
    const isShuffled = this.#past.isShuffledWith(pass, seen.inLastPass)
    const still = this.#past.stillWith(seen.ids, pass)
    const hiding = { attempt, ...seen, known: undefined, still, isShuffled }
    const hidden = mistakes.believesHidden ? (pass.lacking ?? 0) : hiddenRows(pass, hiding)
    return {
      attempt,
      bases,
      counted: this.#counted(pass, bases),
      ids: this.#ids.size,
      claimed: pass.said,
      excluded: below + hidden,
      hidden,
      isCapped: pass.isCapped,
      isShuffled,
    }
  }

  #idsOf({ number }: PassState): { readonly ids: number; readonly inLastPass: number } {
    const inLastPass = [...this.#ids.values()].filter(({ lastPass }) => lastPass === number).length
    return { ids: this.#ids.size, inLastPass }
  }

  async decide(progress: Progress): Promise<Decision> {
    const { mistakes = {}, known, kind } = this.#job
    const figures = this.#figures(progress)
    this.#past.add(figures, progress.pass)
    const isUncounted = mistakes.uncountedPart && known !== undefined && progress.pass.below > 0
    const forward = { ...progress.pass, ...this.#idsOf(progress.pass) }
    const proved = kind === 'snapshot' ? provedForward(figures, forward) : provedBase(figures)
    this.proved = isUncounted ? progress.bases[0] : proved
    this.hidden = figures.hidden
    return judge(figures, this.proved, this.#past.lacks)
  }
}

export async function modelScan(list: ChangingList, job: ModelledScan): Promise<Result> {
  const strategy = new ModelScan(list, job)
  const before = list.requests
  const page = job.beginAt ?? lastPage(list.rows.length, job.pageSize)
  const pass = beginPass(job.kind === 'snapshot' ? 1 : page, job.pageSize, job.pageSize)
  const decision = await scan(strategy, { pass, attempt: 1, bases: [], sequence: 0 }).catch(error => {
    if (error instanceof BadAnswer) return 'refused' as const
    throw error
  })
  const { proved: base, seen, moments, hidden } = strategy
  return { decision, base, seen, moments, hidden, requests: list.requests - before }
}
