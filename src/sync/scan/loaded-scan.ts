/** The scan whose pages are landed and loaded: backfill windows, incremental scans, and days that are read again. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Envelope, readEnvelope } from '../../api/client/envelope.ts'
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { unbrokenRecords } from '../../load/page/stand-ins.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { forgetSeen } from '../../state/scans/scan-ids.ts'
import { readScan, updateScan } from '../../state/scans/scans.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { figuresOf } from '../paging/figures.ts'
import { factsOf } from '../paging/page-facts.ts'
import { limitOf, type PassPlan, planOf, sizeOf } from '../paging/pass-plan.ts'
import { type Known, type PassRules, seenIn } from '../paging/pass-state.ts'
import { type Decision, judge, type PassFigures, provedBase, seenAndExpected } from '../paging/proof.ts'
import { anotherPass, type Progress, type ScannedPage, type Strategy } from '../paging/scan.ts'
import { changeOf, resumed, saveBases } from '../paging/scan-row.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { isFullBatch } from '../run/task-pipeline.ts'
import { learnPaging } from './collection-window.ts'

export interface LoadedScanJob {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
  /** Page to begin with when nothing of the scan is read yet. */
  readonly beginAt: number
  /** Where an incremental scan ends; absent when the list is read to its first page. */
  readonly known?: Known
  /** The list is filtered by updatedAt. */
  readonly isFiltered?: boolean
  /** What earlier scans have learnt of the list: rows a page, and how many rows it hides. */
  readonly pageSize?: number
  readonly hiddenRows?: number
  /** Ledger rows that belong to the end of the scan, on the connection of the transaction of its last batch. */
  readonly accepted?: (engine: Engine, end: ScanEnd) => Promise<void>
}

export interface ScanEnd {
  /** The watermark that the scan has proved, as the service wrote it. */
  readonly watermark: string | null
  /** Records of the list when it was read. */
  readonly total: number
}

interface LoadedPage extends ScannedPage {
  readonly landed: LandedPage
}

type SeenPage = LandedPage & Pick<PageFile, 'pass' | 'isFront'>

/** The last few pages of a pass are no batch of their own, which would take as many statements as a full one. */
const fewPages = 0.2

const isFull = (pages: readonly LandedPage[], left: number): boolean =>
  isFullBatch(pages) && (left === 0 || left > pages.length * fewPages)

/** A body that differs from what its edges promised is asked for again, and never met a second time in the landing. */
function orUnreadable<Result>(page: LandedPage, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Retriable)) throw error
    throw new PageUnreadable([{ ...page, scope: {} }], error)
  }
}

type Content = Pick<Envelope, 'empty' | 'records' | 'meta'>

export class LoadedScan implements Strategy<LoadedPage> {
  readonly #task: ResourceTask
  readonly #job: LoadedScanJob
  /** Where the scan goes on. */
  readonly start: Progress
  /** Pages that an earlier run landed and did not load: they cost no request. */
  readonly #landed: LandedPage[]
  #batch: SeenPage[] = []
  /** Records that the passes of this run lacked. */
  readonly #lacks: number[] = []

  private constructor(task: ResourceTask, job: LoadedScanJob, start: Progress) {
    const { row } = job
    this.#task = task
    this.#job = job
    this.start = start
    // The run that opened the scan may have landed its pages on another machine.
    task.sync.landing.begin(row.scan_id, { resource: task.resource.name, scope: {} })
    const pages = task.sync.landing.pages(row.scan_id)
    this.#landed = pages.filter(({ sequence }) => sequence > start.sequence)
  }

  static async open(task: ResourceTask, job: LoadedScanJob): Promise<LoadedScan> {
    const { row, known, beginAt, pageSize = pageLimit } = job
    const beginning = { page: beginAt, size: pageSize, isPart: known !== undefined }
    return new LoadedScan(task, job, await resumed(task.sync.engine, row, beginning))
  }

  rules(progress: Progress): PassRules & { readonly size: number } {
    const { known, hiddenRows: hidden } = this.#job
    const { clock, lookbackMs } = this.#task.sync
    const plan = this.#plan(progress)
    return {
      ...(plan.sortBy === 'updatedAt' && { known }),
      lookbackMs,
      isShort: plan.isShort,
      hidesRows: hidden !== undefined,
      now: clock.now(),
      size: sizeOf(limitOf(plan, progress.pass), progress.pass),
    }
  }

  #plan({ attempt, bases }: Progress): PassPlan {
    return planOf(attempt, { isPart: this.#job.known !== undefined, total: bases[0]?.total })
  }

  async ask(page: number, progress: Progress): Promise<LoadedPage> {
    const { pipeline } = this.#task
    if (pipeline.hasFailed) await pipeline.drained()
    const landed = this.#nextLanded(page)
    if (!landed) return this.#fetch(page, progress)
    const bytes = await readFile(landed.file)
    const content = orUnreadable(landed, () => readEnvelope(bytes, { page, limit: pageLimit }))
    return this.#look(landed, content, progress)
  }

  async keep({ landed }: LoadedPage, progress: Progress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { pages, greatestTotal, nextPage, size } = progress.pass
    this.#batch.push({ ...landed, ...seenIn(progress.pass) })
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone: pages,
      pagesTotal: lastPage(greatestTotal, size),
      rows: counters.records_read,
      requests: counters.requests,
    })
    if (isFull(this.#batch, nextPage)) await this.handOver(progress)
  }

  /** Gives the pages read so far to the pipeline; the next scan can be read while they load. */
  async handOver(progress: Progress): Promise<void> {
    if (this.#batch.length === 0) return
    const pages = this.#batch
    this.#batch = []
    await this.#task.pipeline.load({
      pages,
      rows: 'data',
      scan: { scanId: this.#job.row.scan_id, isFiltered: this.#job.isFiltered ?? false },
      ledger: engine => this.#commit(engine, progress),
    })
  }

  async save(progress: Progress): Promise<void> {
    await this.handOver(progress)
    await this.#task.pipeline.drained()
  }

  /** The transaction of the last batch has decided. */
  async decide(): Promise<Decision> {
    const row = await readScan(this.#task.sync.engine, this.#job.row.scan_id)
    if (row?.state === 'accepted') return 'accepted'
    return row?.state === 'refused' ? 'refused' : 'scan again'
  }

  #nextLanded(page: number): LandedPage | undefined {
    for (let landed = this.#landed.shift(); landed; landed = this.#landed.shift()) {
      if (landed.page === page) return landed
      this.#task.sync.landing.forget(landed)
    }
    return undefined
  }

  async #fetch(page: number, progress: Progress): Promise<LoadedPage> {
    const { sync, resource, counters } = this.#task
    const plan = this.#plan(progress)
    const query = { ...this.#job.query, sortBy: plan.sortBy, page, limit: limitOf(plan, progress.pass) }
    const answer = await sync.client.getPage(resource.path, query)
    counters.requests += 1
    const { fetchedAt, bytes } = answer
    const arrived = { sequence: progress.sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(this.#job.row.scan_id, arrived)
    return this.#look(landed, answer, progress)
  }

  /** Looks into the records only where the scan needs it: parsing a page costs more than fetching it. */
  #look(landed: LandedPage, { empty, meta, records }: Content, { pass, attempt }: Progress): LoadedPage {
    const { resource, sync } = this.#task
    const { known, hiddenRows: hidden } = this.#job
    const { page, sequence } = landed
    const base = {
      landed,
      sequence,
      page,
      empty,
      total: meta?.total ?? 0,
      ...(meta && { limit: meta.limit }),
    }
    const isNeeded = known !== undefined || hidden !== undefined || pass.pages < 2 || attempt > 1
    if (!isNeeded) return base
    const rows = this.#task.pipeline.readAgain.has(landed)
      ? unbrokenRecords(readFileSync(landed.file))
      : orUnreadable(landed, () => records() as unknown[])
    return { ...base, ...factsOf(rows, { updatedAt: resource.updatedAt, known, now: sync.clock.now() }) }
  }

  /** Tells in the transaction of a batch how far its pages are loaded, and decides when they were the last of a pass. */
  async #commit(engine: Engine, progress: Progress): Promise<void> {
    const id = this.#job.row.scan_id
    const { known, hiddenRows: hidden } = this.#job
    const counting = { scanId: id, hidesRows: hidden, known, allowsSteady: true }
    const figures = await figuresOf(engine, progress, counting)
    const { seen, expected } = seenAndExpected(figures)
    const isOver = progress.pass.nextPage === 0
    const decision = isOver
      ? judge(figures, provedBase(figures), [...this.#lacks, expected - seen])
      : undefined
    if (isOver) this.#lacks.push(expected - seen)
    const isAgain = decision === 'scan again'
    await updateScan(engine, id, {
      ...changeOf(isAgain ? anotherPass(progress, this) : progress),
      state: decision === undefined || isAgain ? 'scanning' : decision,
      distinct_ids: seen,
      expected_ids: decision === undefined ? 0 : expected,
      ...(decision === 'accepted' && { accepted_at: now(this.#task.sync) }),
    })
    if (decision === 'accepted') await this.#accept(engine, progress, figures)
    if (decision === undefined || isAgain) await saveBases(engine, id, progress.bases)
    else await forgetSeen(engine, id)
  }

  get #isWholeList(): boolean {
    const { row, known, isFiltered } = this.#job
    return known === undefined && !isFiltered && row.from_day === null && row.to_day === null
  }

  async #accept(engine: Engine, { pass }: Progress, figures: PassFigures): Promise<void> {
    const { accepted, pageSize, hiddenRows: hidden = 0 } = this.#job
    // A part of the list shows a part of the rows that it hides.
    const hides = this.#isWholeList ? figures.hidden : Math.max(hidden, figures.hidden)
    const learnt = { pageSize: pass.usual, hiddenRows: hides }
    const watermark = provedBase(figures)?.watermark ?? null
    await accepted?.(engine, { watermark, total: pass.lastTotal })
    const before = { pageSize: pageSize ?? pageLimit, hiddenRows: hidden }
    await learnPaging(engine, this.#task, { learnt, before })
  }
}
