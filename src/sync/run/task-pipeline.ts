/** Loads a task's landed pages: rows, scan, watermark and the run's counters commit together. */
import { dirname } from 'node:path'
import type { Resource } from '../../contract/fields/resource.ts'
import type { LandedPage, Landing } from '../../landing/landing.ts'
import type { LoadCounts, PageBatch, StagedBatch } from '../../load/load-batch.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { Pipeline } from '../../load/pipeline.ts'
import type { PageFile } from '../../load/read/pages.ts'
import type { StagePlan } from '../../load/read/plan.ts'
import type { FetchedPages } from '../../state/by-id/discovered.ts'
import { recordSent } from '../../state/requests/key-state.ts'
import { type Lease, renewLease } from '../../state/runs/leases.ts'
import { addToRun, type RunFigures } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'

export interface TaskBatch
  extends Pick<PageBatch, 'rows' | 'scan' | 'snapshot' | 'isUnconfirmed' | 'allowsLoss'> {
  readonly pages: readonly (LandedPage & Pick<PageFile, 'pass' | 'isFront'>)[]
  /** Scope columns of a page; none if absent. */
  readonly scope?: (page: LandedPage) => Readonly<Record<string, string>>
  /** Saves the progress of the scan, on the connection of the transaction that merges the rows of these pages. */
  readonly writeScan: (connection: Engine) => Promise<void>
}

interface LoadingProgress {
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
    /** Requests by the second in which they were sent. */
    readonly sent: Map<number, number>
    readonly loaded: FetchedPages
    readonly landing: Pick<Landing, 'noteLoaded'>
    readonly emit: (event: LoadingProgress) => void
  }
  readonly resource: Resource
  readonly plan: StagePlan
  readonly lease: Lease
  readonly counters: { -readonly [Name in keyof RunFigures]: RunFigures[Name] }
}

/** Pages loaded at once: memory stays flat, and a statement has enough rows to be worth it. */
const fullPages = 82
/**
 * With records of 5 kB a batch has 8,400, a little over a row group: smaller ones would be written to DuckDB's log
 * first, and then to the file.
 */
const fullBytes = 45_000_000

/** Responses with one record each are small: several hundred are read from one file. */
const fullAnswers = 1_000

export function isFullBatch(pages: readonly LandedPage[], ofOneRecord = false): boolean {
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0)
  return bytes >= fullBytes || pages.length >= (ofOneRecord ? fullAnswers : fullPages)
}

const nothingLoaded: LoadCounts = {
  records: 0,
  inserted: 0,
  changed: 0,
  touched: 0,
  removed: 0,
  unchanged: 0,
  quarantined: 0,
}

function figuresOf(loaded: LoadCounts): Partial<RunFigures> {
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

type PageKey = Pick<LandedPage, 'file' | 'page'>

/** Pages that could not be loaded and were fetched again: the next response is the last one. */
class RepeatedPages {
  readonly #places = new Set<string>()

  /** Returns whether any of the pages is new. */
  add(pages: readonly { readonly file: string; readonly page?: number }[]): boolean {
    const before = this.#places.size
    for (const { file, page } of pages) this.#places.add(`${dirname(file)} ${page}`)
    return this.#places.size > before
  }

  has({ file, page }: PageKey): boolean {
    return this.#places.has(`${dirname(file)} ${page}`)
  }
}

export class TaskPipeline {
  readonly #task: LoadingTask
  readonly readAgain = new RepeatedPages()
  readonly #pipeline: Pipeline
  /** Last second whose requests the current commit has written. */
  #lastSent = 0

  constructor(task: LoadingTask) {
    this.#task = task
    this.#pipeline = new Pipeline({
      engine: task.sync.engine,
      plan: task.plan,
      limits: task.sync.recordLimits,
    })
  }

  get hasFailed(): boolean {
    return this.#pipeline.hasFailed
  }

  /** See Pipeline.load. */
  async load(batch: TaskBatch): Promise<void> {
    const { pages, scope, writeScan: _, ...rest } = batch
    const files = pages.map(
      (page): PageFile => ({ ...page, scope: scope?.(page) ?? {}, wasReadAgain: this.readAgain.has(page) }),
    )
    for (const page of pages) this.#task.sync.loaded.add(page)
    await this.#pipeline.load({ ...rest, pages: files }, (engine, staged) =>
      this.#commit(engine, staged, batch),
    )
  }

  /**
   * The counters include each part as it commits. The scan advances, and the landing notes the pages, with the last
   * part.
   */
  async #commit(engine: Engine, { merge, isLast }: StagedBatch, batch: TaskBatch): Promise<void> {
    const { sync, lease } = this.#task
    const loaded = await engine.merge(async connection => {
      const part = await merge(connection)
      if (isLast) await batch.writeScan(connection)
      await this.#record(connection, part)
      await renewLease(connection, lease)
      // A process that lost its lease must not overwrite the manifest of the new holder.
      if (isLast) await sync.landing.noteLoaded(batch.pages)
      return part
    })
    this.#count(loaded)
  }

  /**
   * Records unchanged records without a load. `writeScan` writes, unless it finds that they have to be loaded after
   * all; returns whether it did.
   */
  async loadNothing(records: number, writeScan: (connection: Engine) => Promise<boolean>): Promise<boolean> {
    const { sync, lease } = this.#task
    const loaded = { ...nothingLoaded, records, unchanged: records }
    const isWritten = await sync.engine.transaction(async connection => {
      if (!(await writeScan(connection))) return false
      await this.#record(connection, loaded)
      await renewLease(connection, lease)
      return true
    })
    if (isWritten) this.#count(loaded)
    return isWritten
  }

  /** See Pipeline.drained. */
  drained(): Promise<void> {
    return this.#pipeline.drained()
  }

  async #record(engine: Engine, loaded: LoadCounts): Promise<void> {
    const { runId, sent } = this.#task.sync
    await addToRun(engine, runId, figuresOf(loaded))
    this.#lastSent = Math.max(0, ...sent.keys())
    await recordSent(engine, sent)
  }

  /** Called after the commit, so that the counters never include uncommitted rows. */
  #count(loaded: LoadCounts): void {
    const { sync, resource, counters } = this.#task
    for (const [name, value] of Object.entries(figuresOf(loaded))) counters[name as keyof RunFigures] += value
    // Of the seconds written, only the last may still grow.
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
