/** A warehouse as a map beside a vanishing list, swept by the scan and the decisions of the product. */
import { lastPage, pageLimit } from '../../src/api/client/paging.ts'
import type { Rng } from '../../src/lib/rng.ts'
import {
  type DeletionCandidate,
  type DeletionEvidence,
  decide,
  isProved,
  maxAtOnce,
  worthOf,
} from '../../src/sync/deletions/decision.ts'
import { askAgreeing, type SweptPage } from '../../src/sync/deletions/swept-page.ts'
import { figuresOfSeen, PreviousPasses } from '../../src/sync/paging/figures.ts'
import { beginPass, seenIn } from '../../src/sync/paging/pass.ts'
import { planOf, sizeOf } from '../../src/sync/paging/pass-plan.ts'
import { judge, type PassStart, provedStart, type ScanDecision } from '../../src/sync/paging/proof.ts'
import { type ScanProgress, type Strategy, scan } from '../../src/sync/paging/scan.ts'
import { SeenRows } from '../../src/sync/paging/seen-rows.ts'
import { Refused, type VanishingList } from './vanishing-list.ts'

interface Held {
  loadedAt: number
  run: number
  isDeleted: boolean
  evidence: (DeletionEvidence & { readonly time: number })[]
}

/** Mistakes to plant, one at a time. */
export interface Mistakes {
  readonly oneObservation?: boolean
  readonly noBreaker?: boolean
  /** Any list of twenty may vanish whole. */
  readonly fromTwenty?: boolean
  readonly anyScope?: boolean
  readonly acceptsAnything?: boolean
  readonly noControlAfter?: boolean
}

const time = (at: number): string => new Date(at * 1000).toISOString()

const whole = { isPart: false, total: undefined }

/** The scan of a sweep, with its ids in memory. */
class ModelledSweep implements Strategy<SweptPage> {
  readonly asksTwice = true
  readonly #list: VanishingList
  readonly #mistakes: Mistakes
  readonly #rows = new SeenRows()
  readonly #lastPasses = new Map<string, number>()
  readonly #previous = new PreviousPasses()
  seen = new Set<string>()

  constructor(list: VanishingList, mistakes: Mistakes) {
    this.#list = list
    this.#mistakes = mistakes
  }

  rules({ attempt, pageSize }: ScanProgress) {
    const plan = planOf(attempt, whole)
    return { isShort: plan.isShort, lookbackMs: 0, now: now(), size: sizeOf(plan, pageSize) }
  }

  ask(page: number, { pass }: ScanProgress): Promise<SweptPage> {
    const asked = { where: 'the model', page, size: pass.size, now: now() }
    return askAgreeing(asked, async () => this.#list.ask(page, pass.size))
  }

  async keep({ swept }: SweptPage, { pass }: ScanProgress): Promise<void> {
    const seen = seenIn(pass)
    for (const { id, updatedAt } of swept) {
      this.#rows.add(id, seen, updatedAt === null ? null : Date.parse(updatedAt))
      this.#lastPasses.set(id, seen.pass)
    }
  }

  async drop(): Promise<void> {}

  async save(): Promise<void> {}

  async decide(progress: ScanProgress): Promise<ScanDecision> {
    const previous = this.#previous
    const figures = figuresOfSeen(this.#rows, progress, { hidesRows: undefined, previous })
    const proved = this.#mistakes.acceptsAnything ? progress.starts.at(-1) : provedStart(figures)
    this.#keepSince(proved)
    previous.add(figures, progress.pass)
    return judge(figures, proved, previous.shortfalls)
  }

  #keepSince(proved: PassStart | undefined): void {
    const since = [...this.#lastPasses].filter(([, pass]) => pass >= (proved?.pass ?? 0))
    this.seen = new Set(since.map(([id]) => id))
  }
}

/** Later than any time of the list, which begins in 1970. */
const now = (): number => Date.UTC(2020, 0, 1)

export class ModelledWarehouse {
  readonly #list: VanishingList
  readonly #mistakes: Mistakes
  readonly #hasSingleRead: boolean
  readonly held = new Map<string, Held>()
  /** Live rows that were tombstoned: must stay empty. */
  readonly false: string[] = []
  tombstones = 0
  readonly counts = { evidence: 0, baseline: 0, implausible: 0, unsettled: 0, refused: 0, changed: 0 }
  readonly #scopes = new Map<number, string>()
  readonly #outOfSight = new Map<string, Set<string>>()
  readonly #baselines = new Map<string, number>()
  #most: number | undefined
  #lastSeen = 0
  #clock = 0
  #run = 0

  constructor(
    list: VanishingList,
    { mistakes, hasSingleRead }: { mistakes: Mistakes; hasSingleRead: boolean },
  ) {
    this.#list = list
    this.#mistakes = mistakes
    this.#hasSingleRead = hasSingleRead
  }

  #tick(): number {
    this.#clock += 1
    return this.#clock
  }

  /** As recordKeyScope: what the run before was shown counts for nothing when the scope is another one now. */
  #beginRun(): string {
    this.#list.begin()
    const scope = this.#mistakes.anyScope ? 'any' : this.#list.me()
    if (this.#scopes.get(this.#run) !== scope) this.#scopes.set(this.#run, 'unsettled')
    this.#run += 1
    this.#scopes.set(this.#run, scope)
    return scope
  }

  #sighted(held: Held): void {
    const at = this.#tick()
    if (held.isDeleted) held.isDeleted = false
    held.evidence = held.evidence.filter(word => word.time >= at)
  }

  sync(share: number, isChanged: Rng): void {
    this.#beginRun()
    for (const { id } of this.#list.synced(share)) {
      const held = this.held.get(id)
      // What did not change is read and not written: its row keeps the run that wrote it.
      if (held) this.#sighted(held)
      if (held && isChanged() < 0.7) continue
      this.held.set(id, {
        loadedAt: this.#tick(),
        run: this.#run,
        isDeleted: false,
        evidence: held?.evidence ?? [],
      })
    }
  }

  hear(): void {
    const at = this.#tick()
    for (const id of this.#list.events.splice(0))
      this.held
        .get(id)
        ?.evidence.push({ kind: 'event', source: `event ${id}`, seenAt: time(at), scopeId: null, time: at })
  }

  /** `most` is what somebody allows to be gone at once. */
  async sweep(maxDeletions?: number): Promise<void> {
    const { noBreaker, fromTwenty } = this.#mistakes
    this.#most = noBreaker ? Number.POSITIVE_INFINITY : fromTwenty ? (maxDeletions ?? 20) : maxDeletions
    const scope = this.#beginRun()
    const startedAt = this.#tick()
    try {
      const seen = await this.#scan()
      if (!seen) this.counts.unsettled += 1
      else if (!this.#mistakes.anyScope && this.#list.me() !== scope) this.counts.changed += 1
      else if (this.#judge(seen, scope, startedAt)) this.#settle(scope)
    } catch (error) {
      if (!(error instanceof Refused) && !/contradict/.test(String(error))) throw error
      this.counts.refused += 1
    }
  }

  async #scan(): Promise<Set<string> | undefined> {
    const strategy = new ModelledSweep(this.#list, this.#mistakes)
    const live = [...this.held.values()].filter(({ isDeleted }) => !isDeleted).length
    const pass = beginPass(lastPage(live))
    const from = { pass, attempt: 1, starts: [], sequence: 0, pageSize: pageLimit }
    return (await scan(strategy, from)) === 'accepted' ? strategy.seen : undefined
  }

  #isJudged(id: string, held: Held, scope: string): boolean {
    if (this.#scopes.get(held.run) === scope) return true
    const baseline = this.#baselines.get(scope)
    return baseline !== undefined && held.loadedAt < baseline && !this.#outOfSight.get(scope)?.has(id)
  }

  /** Whether what two evidence saw may go now. */
  #judge(seen: ReadonlySet<string>, scope: string, startedAt: number): boolean {
    const before = [...this.held].filter(([, held]) => !held.isDeleted && held.loadedAt < startedAt)
    const judged = before.filter(([id, held]) => this.#isJudged(id, held, scope))
    const missing = judged.filter(([id]) => !seen.has(id))
    const isJudged = new Set(judged.map(([id]) => id))
    const notSeen = before.filter(([id]) => !isJudged.has(id) && !seen.has(id))
    const isNewScope = !this.#baselines.has(scope) && (this.#baselines.size > 0 || notSeen.length > 0)
    const maxDeletions = this.#most === undefined ? {} : { maxDeletions: this.#most }
    const worth = worthOf({ judged: judged.length, missing: missing.length, isNewScope, ...maxDeletions })
    this.counts[worth] += 1
    const outOfSight = this.#outOfSight.get(scope) ?? new Set()
    if (worth !== 'implausible') {
      for (const [id] of notSeen) outOfSight.add(id)
      this.#baselines.set(scope, startedAt)
    }
    if (worth === 'evidence')
      for (const [, held] of missing)
        held.evidence.push({
          kind: 'sweep',
          source: `${this.#run}`,
          seenAt: time(startedAt),
          scopeId: scope,
          time: startedAt,
        })
    for (const id of seen) {
      outOfSight.delete(id)
      const held = this.held.get(id)
      if (held) held.evidence = held.evidence.filter(word => word.time >= startedAt)
      if (held?.isDeleted) held.isDeleted = false
    }
    this.#outOfSight.set(scope, outOfSight)
    this.#lastSeen = seen.size
    return worth === 'evidence'
  }

  #candidates(scope: string): DeletionCandidate[] {
    return [...this.held]
      .filter(([, held]) => !held.isDeleted && held.evidence.some(word => word.time >= held.loadedAt))
      .map(([id, held]) => ({
        id,
        isFetchedWithScope: this.#scopes.get(held.run) === scope,
        evidence: held.evidence.filter(word => word.time >= held.loadedAt),
      }))
  }

  #settle(scope: string): void {
    const live = [...this.held.values()].filter(({ isDeleted }) => !isDeleted).length
    const maxDeletions = this.#most
    if (this.#hasSingleRead && !this.#confirm(scope, maxAtOnce(live, maxDeletions))) return
    const candidates = this.#candidates(scope)
    const { deleted } = this.#mistakes.oneObservation
      ? { deleted: candidates.map(candidate => ({ candidate })) }
      : decide(candidates, { scopeId: scope, live, ...(maxDeletions !== undefined && { maxDeletions }) })
    const alive = new Set(this.#list.rows.map(({ id }) => id))
    for (const { candidate } of deleted) {
      if (alive.has(candidate.id)) this.false.push(candidate.id)
      const held = this.held.get(candidate.id)
      if (held) held.isDeleted = true
      this.tombstones += 1
    }
  }

  /** Whether one of the records that should be there is. */
  #answersById(scope: string): boolean {
    const isFetched = ({ run }: Held): number => (this.#scopes.get(run) === scope ? 1 : 0)
    const controls = [...this.held]
      .filter(([id, held]) => !held.isDeleted && !this.#outOfSight.get(scope)?.has(id))
      .filter(([, held]) => held.evidence.every(word => word.time < held.loadedAt))
      .sort(([, one], [, two]) => isFetched(two) - isFetched(one) || two.loadedAt - one.loadedAt)
    return controls.slice(0, 3).some(([id]) => this.#list.find(id))
  }

  /** False when the scope changed meanwhile. */
  #confirm(scope: string, maxDeletions: number): boolean {
    const open = this.#candidates(scope).filter(candidate => !isProved(candidate, scope))
    if (open.length === 0 || open.length > maxDeletions) return true
    if (!this.#answersById(scope)) return true
    const answers = new Map(open.map(({ id }) => [id, this.#list.find(id)]))
    if (!this.#mistakes.anyScope && this.#list.me() !== scope) return false
    const isGone = [...answers.values()].includes(false)
    if (isGone && !this.#mistakes.noControlAfter && !this.#answersById(scope)) return true
    const isLandslide = this.#list.ask(1).total < this.#lastSeen - maxDeletions
    for (const [id, isThere] of isLandslide ? [] : answers) {
      const at = this.#tick()
      const held = this.held.get(id)
      const word = {
        kind: 'by-id 404' as const,
        source: `${this.#run}`,
        seenAt: time(at),
        scopeId: scope,
        time: at,
      }
      if (held) held.evidence = isThere ? [] : [...held.evidence, word]
    }
    return true
  }
}
