/** The scan whose pages are landed and loaded: backfill windows, incremental scans, and days that are read again. */
import { lastPage, pageLimit as mostRows } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { forgetSeen } from '../../state/scans/scan-ids.ts'
import { readScan, updateScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Counting, figuresOf, figuresOfSeen } from '../paging/figures.ts'
import { limitOf, sizeOf } from '../paging/pass-plan.ts'
import { type PassRules, seenIn } from '../paging/pass-state.ts'
import { PastPasses } from '../paging/past-passes.ts'
import { type Decision, type PassFigures, provedBase, seenAndExpected } from '../paging/proof.ts'
import { anotherPass, type Progress, type Strategy } from '../paging/scan.ts'
import { changeOf, resumed, saveBases } from '../paging/scan-row.ts'
import { now, type ResourceTask, serviceTime } from '../run/context.ts'
import { isFullBatch } from '../run/task-pipeline.ts'
import { learnPaging } from './collection-window.ts'
import { requireRows } from './empty-list.ts'
import { ListPages, type LoadedPage } from './list-pages.ts'
import {
  endOf,
  isDoubtful,
  isFirstReading,
  isHiddenByFilter,
  judgeLoaded,
  type LoadedScanJob,
  learntOf,
} from './loaded-scan-job.ts'
import { areStored, isWholeScan, type Row, seenOf } from './same-rows.ts'

interface SeenPage extends LandedPage, Required<Pick<PageFile, 'pass' | 'isFront'>> {
  readonly same?: readonly Row[] | undefined
}

/** The last few pages of a pass are no batch of their own, which would take as many statements as a full one. */
const fewPages = 0.2

const isFull = (pages: readonly LandedPage[], left: number): boolean =>
  isFullBatch(pages) && (left === 0 || left > pages.length * fewPages)

export class LoadedScan implements Strategy<LoadedPage> {
  readonly #task: ResourceTask
  readonly #job: LoadedScanJob
  /** Where the scan goes on. */
  readonly start: Progress
  readonly #pages: ListPages
  readonly #digests: (string | undefined)[] = []
  #batch: SeenPage[] = []
  readonly #past = new PastPasses()
  /** What the transaction of the last batch has decided. */
  #decided: Decision | undefined
  #hidesByFilter = false

  private constructor(
    task: ResourceTask,
    job: LoadedScanJob,
    { start, landed }: { readonly start: Progress; readonly landed: readonly LandedPage[] },
  ) {
    this.#task = task
    this.#job = job
    this.start = start
    const left = landed.filter(({ sequence }) => sequence > start.sequence)
    this.#pages = new ListPages(task, job, left)
  }

  static async open(task: ResourceTask, job: LoadedScanJob): Promise<LoadedScan> {
    const { row, known, beginAt, pageSize: size = mostRows, pageLimit: limit = mostRows } = job
    const beginning = { page: beginAt, size, limit, isPart: known !== undefined }
    const start = await resumed(task.sync.engine, row, beginning)
    // The run that opened the scan may have landed its pages in a folder of another machine.
    await task.sync.landing.begin(row.scan_id, { resource: task.resource.name, scope: {} })
    return new LoadedScan(task, job, { start, landed: await task.sync.landing.pages(row.scan_id) })
  }

  rules(progress: Progress): PassRules & { readonly size: number } {
    const { known, hiddenRows: hidden } = this.#job
    const { clock, lookbackMs } = this.#task.sync
    const plan = this.#pages.planOf(progress)
    return {
      ...(plan.sortBy === 'updatedAt' && { known }),
      lookbackMs,
      isShort: plan.isShort,
      hidesRows: hidden !== undefined,
      now: clock.service(),
      size: sizeOf(limitOf(plan, progress.pass), progress.pass),
    }
  }

  async ask(page: number, progress: Progress): Promise<LoadedPage> {
    const { pipeline } = this.#task
    if (pipeline.hasFailed) await pipeline.drained()
    const answer = await this.#pages.ask(page, progress)
    if (!isDoubtful(answer, progress, this.#job)) return answer
    if (this.#job.known === undefined && !isFirstReading(this.#job)) await requireRows(this.#task)
    await this.#task.sync.landing.forget(answer.landed)
    return this.#pages.ask(page, progress)
  }

  async keep({ landed, digest, same }: LoadedPage, progress: Progress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { pages, greatestTotal, nextPage, size } = progress.pass
    const { pagesBefore = 0, pagesInAll = 0 } = this.#job
    const pagesDone = pagesBefore + pages
    const pagesTotal = Math.max(pagesInAll, pagesBefore + lastPage(greatestTotal, size))
    this.#batch.push({ ...landed, ...seenIn(progress.pass), same })
    this.#digests.push(digest)
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone,
      pagesTotal,
      rows: counters.records_read,
      requests: counters.requests,
    })
    if (isFull(this.#batch, nextPage)) await this.handOver(progress)
  }

  /** Gives the pages read so far to the pipeline; the next scan can be read while they load. */
  async handOver(progress: Progress): Promise<void> {
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    if (await this.#isNothingNew(batch, progress)) return
    const pages = batch.map(({ same: _, ...page }) => page)
    await this.#task.pipeline.load({
      pages,
      rows: 'data',
      scan: { scanId: this.#job.row.scan_id, isFiltered: this.#job.isFiltered ?? false },
      ledger: async engine => this.#commit(engine, progress, await this.#figures(engine, progress)),
    })
  }

  /** A whole scan of changes whose rows are those of the scan before it, and stored: it is accepted without a load. */
  async #isNothingNew(batch: readonly SeenPage[], progress: Progress): Promise<boolean> {
    if (!isWholeScan(progress, batch)) return false
    const figures = figuresOfSeen(seenOf(batch, progress, this.#job), progress, this.#counting)
    if (!provedBase(figures)) return false
    const rows = batch.flatMap(({ same }) => same)
    return this.#task.pipeline.loadNothing(rows.length, async engine => {
      if (!(await areStored(engine, this.#task.resource, rows))) return false
      await this.#commit(engine, progress, figures)
      return true
    })
  }

  async save(progress: Progress): Promise<void> {
    await this.handOver(progress)
    await this.#task.pipeline.drained()
  }

  /** Of a scan whose last pages an earlier run has loaded, its ledger row knows. */
  async decide(): Promise<Decision> {
    if (this.#decided) return this.#decided
    const row = await readScan(this.#task.sync.engine, this.#job.row.scan_id)
    if (row?.state === 'accepted') return 'accepted'
    return row?.state === 'refused' ? 'refused' : 'scan again'
  }

  /** Tells in the transaction of a batch how far its pages are loaded, and decides when they were the last of a pass. */
  async #commit(engine: Engine, progress: Progress, figures: PassFigures): Promise<void> {
    const id = this.#job.row.scan_id
    const { seen, expected } = seenAndExpected(figures)
    const isOver = progress.pass.nextPage === 0
    if (isOver) this.#past.add(figures, progress.pass)
    const decision = isOver ? judgeLoaded(figures, this.#job, this.#past.lacks) : undefined
    this.#decided = decision
    this.#hidesByFilter = decision !== undefined && isHiddenByFilter(figures, this.#job)
    const isAgain = decision === 'scan again'
    await updateScan(engine, id, {
      ...changeOf(isAgain ? anotherPass(progress, this) : progress),
      state: decision === undefined || isAgain ? 'scanning' : decision,
      distinct_ids: seen,
      expected_ids: decision === undefined ? 0 : expected,
      ...(decision === 'accepted' && {
        accepted_at: now(this.#task.sync),
        service_accepted_at: serviceTime(this.#task.sync),
      }),
    })
    if (decision === 'accepted') await this.#accept(engine, progress, figures)
    if (decision === undefined || isAgain) await saveBases(engine, id, progress.bases)
    else await forgetSeen(engine, id)
  }

  /** It was refused for rows that a filtered list counts and does not show: the whole list may show them. */
  get hidesByFilter(): boolean {
    return this.#hidesByFilter
  }

  get #counting(): Counting {
    const { row, known, hiddenRows } = this.#job
    return { scanId: row.scan_id, hidesRows: hiddenRows, known, allowsSteady: true, past: this.#past }
  }

  #figures(engine: Engine, progress: Progress): Promise<PassFigures> {
    return figuresOf(engine, progress, this.#counting)
  }

  async #accept(engine: Engine, { pass }: Progress, figures: PassFigures): Promise<void> {
    await this.#job.accepted?.(engine, endOf(pass, figures, this.#digests))
    await learnPaging(engine, this.#task, learntOf(pass, figures, this.#job))
  }
}
