/** Loads landed pages of a task, and what the ledger records of each batch. */
import { dirname } from 'node:path'
import type { Resource } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import type { Loaded, PageBatch } from '../../load/load-batch.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { Pipeline } from '../../load/pipeline.ts'
import type { PageFile } from '../../load/read/pages.ts'
import type { StagePlan } from '../../load/read/plan.ts'
import type { FetchedPages } from '../../state/by-id/fetched-pages.ts'
import { recordSent } from '../../state/requests/key-state.ts'
import { type Lease, renewLease } from '../../state/runs/leases.ts'
import { addToRun, type RunFigures } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'

export interface TaskBatch
  extends Pick<PageBatch, 'rows' | 'scan' | 'snapshot' | 'isUnconfirmed' | 'believes'> {
  readonly pages: readonly (LandedPage & Pick<PageFile, 'pass' | 'isFront'>)[]
  /** Scope columns of a page; none when absent. */
  readonly scope?: (page: LandedPage) => Readonly<Record<string, string>>
  /** Further ledger rows of the same transaction, on its connection. */
  readonly ledger: (engine: Engine) => Promise<void>
}

interface Progress {
  readonly resource: string
  readonly state: 'loading'
  readonly rows: number
  readonly changed: number
  readonly requests: number
}

interface LoadingTask {
  readonly sync: {
    readonly engine: Engine
    readonly runId: string
    readonly recordLimits?: RecordLimits | undefined
    /** Requests by the second they were sent in. */
    readonly sent: Map<number, number>
    readonly loaded: FetchedPages
    readonly emit: (event: Progress) => void
  }
  readonly resource: Resource
  readonly plan: StagePlan
  readonly lease: Lease
  readonly counters: { -readonly [Name in keyof RunFigures]: RunFigures[Name] }
}

/** How many pages are loaded at once: memory stays flat, and a statement has enough rows to be worth it. */
const fullPages = 82
/**
 * Of records of 5 kB a batch holds 8,400, a row group and some: with less than one they would go into DuckDB's log first,
 * and then into the file.
 */
const fullBytes = 45_000_000

/** Answers of one record each are small: several hundred are read from one file. */
const fullAnswers = 1_000

export function isFullBatch(pages: readonly LandedPage[], ofOneRecord = false): boolean {
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0)
  return bytes >= fullBytes || pages.length >= (ofOneRecord ? fullAnswers : fullPages)
}

const nothingLoaded: Loaded = {
  records: 0,
  inserted: 0,
  changed: 0,
  touched: 0,
  removed: 0,
  unchanged: 0,
  quarantined: 0,
  readAsJson: 0,
}

function figuresOf(loaded: Loaded): Partial<RunFigures> {
  return {
    records_read: loaded.records,
    rows_inserted: loaded.inserted,
    rows_changed: loaded.changed,
    records_touched: loaded.touched,
    rows_removed: loaded.removed,
    records_unchanged: loaded.unchanged,
    quarantined: loaded.quarantined,
  }
}

type PagePlace = Pick<LandedPage, 'file' | 'page'>

/** Pages of scans that could not be loaded and were asked for again: the next answer is the last one. */
class ReadAgain {
  readonly #places = new Set<string>()

  /** Whether there is one that was not among them. */
  add(pages: readonly { readonly file: string; readonly page?: number }[]): boolean {
    const before = this.#places.size
    for (const { file, page } of pages) this.#places.add(`${dirname(file)} ${page}`)
    return this.#places.size > before
  }

  has({ file, page }: PagePlace): boolean {
    return this.#places.has(`${dirname(file)} ${page}`)
  }
}

export class TaskPipeline {
  readonly #task: LoadingTask
  readonly readAgain = new ReadAgain()
  readonly #pipeline: Pipeline
  /** Last second of requests that the batch being committed has written. */
  #lastSent = 0

  constructor(task: LoadingTask) {
    const { plan, lease } = task
    this.#task = task
    this.#pipeline = new Pipeline({
      engine: task.sync.engine,
      plan,
      limits: task.sync.recordLimits,
      lease,
      committed: loaded => this.#count(loaded),
    })
  }

  get hasFailed(): boolean {
    return this.#pipeline.hasFailed
  }

  /** See Pipeline.load. */
  async load({ pages, scope, ledger, ...batch }: TaskBatch): Promise<void> {
    const files = pages.map(
      (page): PageFile => ({ ...page, scope: scope?.(page) ?? {}, wasReadAgain: this.readAgain.has(page) }),
    )
    for (const page of pages) this.#task.sync.loaded.add(page)
    await this.#pipeline.load({
      ...batch,
      pages: files,
      ledger: async (engine, loaded) => {
        await ledger(engine)
        await this.#record(engine, loaded)
      },
    })
  }

  /**
   * What a load does for records that change nothing, without one: `ledger` writes its rows, unless it finds that they have to
   * be loaded after all. Whether it did.
   */
  async loadNothing(records: number, ledger: (engine: Engine) => Promise<boolean>): Promise<boolean> {
    const { sync, lease } = this.#task
    const loaded = { ...nothingLoaded, records, unchanged: records }
    const isWritten = await sync.engine.transaction(async engine => {
      if (!(await ledger(engine))) return false
      await this.#record(engine, loaded)
      await renewLease(engine, lease)
      return true
    })
    if (isWritten) this.#count(loaded)
    return isWritten
  }

  /** See Pipeline.drained. */
  drained(): Promise<void> {
    return this.#pipeline.drained()
  }

  async #record(engine: Engine, loaded: Loaded): Promise<void> {
    const { runId, sent } = this.#task.sync
    await addToRun(engine, runId, { ...figuresOf(loaded), batches_read_as_json: loaded.readAsJson })
    this.#lastSent = Math.max(0, ...sent.keys())
    await recordSent(engine, sent)
  }

  /** After the commit, so that the counters never include rows that are not there. */
  #count(loaded: Loaded): void {
    const { sync, resource, counters } = this.#task
    for (const [name, value] of Object.entries(figuresOf(loaded))) counters[name as keyof RunFigures] += value
    // Of seconds that are written only the last may still grow.
    for (const second of sync.sent.keys()) if (second < this.#lastSent) sync.sent.delete(second)
    sync.emit({
      resource: resource.name,
      state: 'loading',
      rows: counters.records_read,
      changed: counters.rows_inserted + counters.rows_changed + counters.rows_removed,
      requests: counters.requests,
    })
  }
}
