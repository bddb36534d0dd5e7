/** Loads batches in the order in which they arrive, and stages one batch while the previous one is merged. */
import { OutOfMemory } from '../lib/errors.ts'
import { collectAfter } from '../lib/garbage.ts'
import { undeclaredPaths } from '../state/evidence/drift.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type BatchTurn, type Commit, loadBatch, type PageBatch } from './load-batch.ts'
import { EmptyTables } from './merge/empty-tables.ts'
import type { SearchBounds } from './page/record-findings.ts'
import { defaultLimits, type RecordLimits, SeenPaths } from './page/record-limits.ts'
import type { StagePlan } from './read/plan.ts'
import { loadWithoutFaults } from './repair.ts'

/** Uncommitted batches when `load` returns: one being merged, one being staged. */
const maxWaiting = 2

export interface PipelineOptions {
  readonly engine: Engine
  readonly plan: StagePlan
  /** Limits of a record. */
  readonly limits?: RecordLimits | undefined
}

const alone = { earlier: Promise.resolve(true), release: () => undefined }

interface HandedBatch {
  readonly batch: PageBatch
  readonly commit: Commit
}

/** Loads one resource. */
export class Pipeline {
  readonly #options: PipelineOptions
  /** Batches under way, oldest first; each resolves to whether it is committed. */
  readonly #underWay: Promise<boolean>[] = []
  /** Uncommitted batches, oldest first. */
  readonly #open: HandedBatch[] = []
  #failure: { readonly error: unknown } | undefined
  #recovering: Promise<void> | undefined
  #bounds: SearchBounds | undefined
  readonly #emptyTables: EmptyTables

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#emptyTables = new EmptyTables(options.plan)
  }

  /** Whether a batch has failed and no caller has seen the error yet: reading further pages may be wasted. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Resolves when there is room for the next batch, which may be before this one is committed. Throws an earlier
   * batch's error as soon as nothing is under way; this batch is then not written. A batch that does not fit into
   * memory is staged and committed in parts.
   */
  async load(batch: PageBatch, commit: Commit): Promise<void> {
    if (this.hasFailed) await this.drained()
    this.#begin({ batch, commit })
    while (this.#underWay.length > maxWaiting) await this.#underWay[0]
    if (this.hasFailed) await this.drained()
  }

  /**
   * Resolves when every batch is committed, or throws the first error; after that the pipeline can be used again. If
   * records cause the failure, they go to quarantine, and later batches are loaded again.
   */
  async drained(): Promise<void> {
    for (;;) {
      await this.#underWay.at(-1)
      if (this.#failure) this.#recovering ??= this.#recover(this.#failure.error)
      if (!this.#recovering) return
      await this.#recovering.finally(() => {
        this.#recovering = undefined
      })
    }
  }

  async #recover(failure: unknown): Promise<void> {
    this.#failure = undefined
    const [handed, ...later] = this.#open.splice(0)
    if (!handed) throw failure
    const { batch, commit } = handed
    const { engine, plan } = this.#options
    await engine.staging(async connection =>
      loadWithoutFaults(
        connection,
        { ...batch, plan, bounds: await this.#boundsOf(connection) },
        { failure, load: left => this.#fitting(connection, left, { ...alone, commit }) },
      ),
    )
    for (const next of later) this.#begin(next)
  }

  #begin(handed: HandedBatch): void {
    this.#open.push(handed)
    const earlier = this.#underWay.at(-1) ?? Promise.resolve(true)
    const isCommitted = this.#load(handed, earlier)
    this.#underWay.push(isCommitted)
    void isCommitted.then(() => this.#underWay.splice(this.#underWay.indexOf(isCommitted), 1))
  }

  /** Resolves to whether the batch is committed. The first error is kept for the caller of `load` or `drained`. */
  async #load(handed: HandedBatch, earlier: Promise<boolean>): Promise<boolean> {
    const { batch, commit } = handed
    const { engine } = this.#options
    try {
      const isWritten = await engine.staging((connection, release) =>
        this.#fitting(connection, batch, { earlier, release, commit }),
      )
      if (!isWritten) return false
      this.#open.splice(this.#open.indexOf(handed), 1)
      collectAfter(batch.pages.reduce((bytes, page) => bytes + page.bytes, 0))
      return true
    } catch (error) {
      // Report the earlier batch's error.
      await earlier
      this.#failure ??= { error }
      return false
    }
  }

  /** Loads fewer records at a time when they are larger than expected, on the connection where the batch did not fit. */
  async #fitting(engine: Engine, batch: PageBatch, turn: BatchTurn): Promise<boolean> {
    const { plan } = this.#options
    try {
      const bounds = await this.#boundsOf(engine)
      return await loadBatch(engine, { ...batch, plan, bounds, emptyTables: this.#emptyTables }, turn)
    } catch (error) {
      // A snapshot is never split: rows absent from one half may be in the other.
      const isParted = error instanceof OutOfMemory && !batch.snapshot && batch.pages.length > 1
      if (!isParted) throw error
      // The previous batch may have used up the memory: more is free once it is committed.
      return (await turn.earlier) && this.#inHalves(engine, batch, turn)
    }
  }

  /** If the process dies in between, the pages of the first half are loaded again and change nothing. */
  async #inHalves(engine: Engine, batch: PageBatch, turn: BatchTurn): Promise<boolean> {
    const half = Math.ceil(batch.pages.length / 2)
    const commit: Commit = (connection, staged) => turn.commit(connection, { ...staged, isLast: false })
    const first = { ...batch, pages: batch.pages.slice(0, half) }
    if (!(await this.#fitting(engine, first, { ...alone, commit }))) return false
    return this.#fitting(engine, { ...batch, pages: batch.pages.slice(half) }, turn)
  }

  /** Paths that one batch adds count for the next, even if it is not committed. */
  async #boundsOf(engine: Engine): Promise<SearchBounds> {
    const { plan, limits = defaultLimits } = this.#options
    if (this.#bounds) return this.#bounds
    const known = await undeclaredPaths(engine, plan.resource.name)
    this.#bounds ??= { limits, seen: new SeenPaths(limits.paths, known) }
    return this.#bounds
  }
}
