/** Loads batches in the order in which they are handed over, and stages one batch while the one before it is merged. */
import { OutOfMemory } from '../lib/errors.ts'
import { collectAfter } from '../lib/garbage.ts'
import { undeclaredPaths } from '../state/evidence/drift.ts'
import { type Lease, renewLease } from '../state/runs/leases.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type BatchTurn, type Loaded, loadBatch, type PageBatch } from './load-batch.ts'
import { EmptyTables } from './merge/empty-tables.ts'
import type { Bounds } from './page/record-findings.ts'
import { type RecordLimits, SeenPaths, usualLimits } from './page/record-limits.ts'
import type { StagePlan } from './read/plan.ts'
import { loadWithoutFaults } from './repair.ts'

/** Batches handed over and not committed yet when `load` returns: one is merged, one staged. */
const mostWaiting = 2

export interface PipelineOptions {
  readonly engine: Engine
  readonly plan: StagePlan
  /** Of a record; the usual ones when left out. */
  readonly limits?: RecordLimits | undefined
  /** Every commit renews it, and nothing is written without it. A replay into a warehouse of its own needs none. */
  readonly lease?: Lease
  /** Called after each commit. */
  readonly committed?: (loaded: Loaded) => void
}

const addLoaded = (first: Loaded, second: Loaded): Loaded => ({
  records: first.records + second.records,
  inserted: first.inserted + second.inserted,
  changed: first.changed + second.changed,
  touched: first.touched + second.touched,
  removed: first.removed + second.removed,
  unchanged: first.unchanged + second.unchanged,
  quarantined: first.quarantined + second.quarantined,
  readAsJson: first.readAsJson + second.readAsJson,
})

/** For one resource. */
export class Pipeline {
  readonly #options: PipelineOptions
  /** Batches under way, oldest first: whether each is committed. */
  readonly #underWay: Promise<boolean>[] = []
  /** Batches that are not committed, oldest first. */
  readonly #open: PageBatch[] = []
  #failure: { readonly error: unknown } | undefined
  #recovering: Promise<void> | undefined
  #bounds: Bounds | undefined
  readonly #emptyTables: EmptyTables

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#emptyTables = new EmptyTables(options.plan)
  }

  /** Whether a batch has failed and nobody has been told: reading further pages may be wasted. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Resolves when there is room for the next batch, which may be before this one is committed. Throws the failure of an
   * earlier batch, as soon as nothing is under way any more; this one is not written then.
   */
  async load(batch: PageBatch): Promise<void> {
    if (this.hasFailed) await this.drained()
    this.#open.push(batch)
    this.#begin(batch)
    while (this.#underWay.length > mostWaiting) await this.#underWay[0]
    if (this.hasFailed) await this.drained()
  }

  /**
   * Resolves when everything handed over is committed, or throws the first failure. The pipeline can be used again then.
   * A failure for which records are to blame sends them to quarantine; what came after their batch is loaded again.
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
    const [batch, ...later] = this.#open.splice(0)
    if (!batch) throw failure
    const { engine, plan } = this.#options
    const whole = { earlier: Promise.resolve(true), release: () => undefined }
    const loaded = await engine.staging(async connection =>
      loadWithoutFaults(
        connection,
        { ...batch, plan, bounds: await this.#boundsOf(connection) },
        { failure, load: parts => this.#fitting(connection, parts, whole) },
      ),
    )
    if (loaded) this.#options.committed?.(loaded)
    for (const next of later) {
      this.#open.push(next)
      this.#begin(next)
    }
  }

  #begin(batch: PageBatch): void {
    const earlier = this.#underWay.at(-1) ?? Promise.resolve(true)
    const isCommitted = this.#load(batch, earlier)
    this.#underWay.push(isCommitted)
    void isCommitted.then(() => this.#underWay.splice(this.#underWay.indexOf(isCommitted), 1))
  }

  /** Whether the batch is committed; its failure, if it is the first, is kept for the caller of `load` or `drained`. */
  async #load(batch: PageBatch, earlier: Promise<boolean>): Promise<boolean> {
    const { engine, committed } = this.#options
    try {
      const loaded = await engine.staging((connection, release) =>
        this.#fitting(connection, batch, { earlier, release }),
      )
      if (!loaded) return false
      this.#open.splice(this.#open.indexOf(batch), 1)
      committed?.(loaded)
      collectAfter(batch.pages.reduce((bytes, page) => bytes + page.bytes, 0))
      return true
    } catch (error) {
      // Of two batches that fail the earlier one tells why.
      await earlier
      this.#failure ??= { error }
      return false
    }
  }

  /** Records larger than expected are loaded fewer at a time, on the connection where the whole batch did not fit. */
  async #fitting(engine: Engine, batch: PageBatch, turn: BatchTurn): Promise<Loaded | undefined> {
    try {
      return await this.#fenced(engine, batch, turn)
    } catch (error) {
      // A snapshot stays whole: rows absent from half of it are not removed at the source.
      const isParted = error instanceof OutOfMemory && !batch.snapshot && batch.pages.length > 1
      if (!isParted) throw error
      // The batch before it may have taken the memory: there is more when that one is committed.
      return (await turn.earlier) ? this.#inHalves(engine, batch, turn) : undefined
    }
  }

  /**
   * The ledger rows commit with the second half, with the counts of both. Should the process die in between, the pages of the
   * first half are loaded again and change nothing.
   */
  async #inHalves(engine: Engine, batch: PageBatch, turn: BatchTurn): Promise<Loaded | undefined> {
    const half = Math.ceil(batch.pages.length / 2)
    const { ledger, ...bare } = batch
    const keep = { earlier: turn.earlier, release: () => undefined }
    const first = await this.#fitting(engine, { ...bare, pages: batch.pages.slice(0, half) }, keep)
    if (!first) return undefined
    const rest = {
      ...bare,
      pages: batch.pages.slice(half),
      ledger: async (connection: Engine, loaded: Loaded) => ledger?.(connection, addLoaded(first, loaded)),
    }
    const second = await this.#fitting(engine, rest, turn)
    return second && addLoaded(first, second)
  }

  /** Paths that one batch admits count for the next, whether or not it is committed. */
  async #boundsOf(engine: Engine): Promise<Bounds> {
    const { plan, limits = usualLimits } = this.#options
    if (this.#bounds) return this.#bounds
    const known = await undeclaredPaths(engine, plan.resource.name)
    this.#bounds ??= { limits, seen: new SeenPaths(limits.paths, known) }
    return this.#bounds
  }

  async #fenced(engine: Engine, batch: PageBatch, turn: BatchTurn): Promise<Loaded | undefined> {
    const { plan, lease } = this.#options
    const bounds = await this.#boundsOf(engine)
    const ledger = async (connection: Engine, loaded: Loaded): Promise<void> => {
      await batch.ledger?.(connection, loaded)
      if (lease) await renewLease(connection, lease)
    }
    return loadBatch(engine, { ...batch, plan, bounds, emptyTables: this.#emptyTables, ledger }, turn)
  }
}
