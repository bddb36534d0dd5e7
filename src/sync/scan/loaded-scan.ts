/**
 * Runs scans whose pages are landed and loaded: backfill windows, incremental scans, and days that are read again. The
 * job says what to read. The transaction of a pass's last batch decides what was proved.
 */
import { lastPage, pageLimit as maxRows } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/landing.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { forgetSeen } from '../../state/scans/scan-ids.ts'
import { readScan, updateScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type CountContext, figuresOf, figuresOfSeen, PreviousPasses } from '../paging/figures.ts'
import { type PassRules, seenIn } from '../paging/pass.ts'
import { sizeOf } from '../paging/pass-plan.ts'
import { judge, type PassFigures, provedStart, type ScanDecision, seenAndExpected } from '../paging/proof.ts'
import { anotherPass, type ScanProgress, type Strategy } from '../paging/scan.ts'
import { changeOf, resumed, saveStarts } from '../paging/scan-row.ts'
import { now, type ResourceTask, serviceTime } from '../run/context.ts'
import { isFullBatch } from '../run/task-pipeline.ts'
import { learnPaging } from './collection-window.ts'
import { requireRows } from './empty-list.ts'
import { ListPages, type ListRequest, type LoadedPage } from './list-pages.ts'
import { areStored, digestsText, isCompleteScan, type ScanRowTimes, seenOf } from './same-rows.ts'
import { moveWatermarkBy, type ScanEnd } from './scan-end.ts'

export interface LoadedScanJob extends ListRequest {
  /** Page to begin with when the scan has not read anything yet. */
  readonly beginAt: number
  /** Whether the list is filtered by updatedAt. */
  readonly isFiltered?: boolean
  /** For a list read in windows: pages of the earlier windows, and of all, as far as known. */
  readonly pagesBefore?: number
  readonly pagesInAll?: number
  /** Whether an earlier response showed that the list has rows. */
  readonly hasRows?: boolean
  /** Rows of a full page, as learnt from earlier scans. */
  readonly pageSize?: number
}

type JobPart = Pick<LoadedScanJob, 'row' | 'known' | 'isFiltered'>

/** Whether the scan reads every record of the list. */
export const isFullList = ({ row, known, isFiltered }: JobPart): boolean =>
  known === undefined && !isFiltered && row.from_day === null && row.to_day === null

/**
 * Whether the scan reads the list for the first time. An empty list is read in full until it has rows, so nothing is
 * lost if it only seems empty.
 */
export const isFirstReading = (job: JobPart): boolean => isFullList(job) && job.row.scope === null

interface FirstAnswer {
  readonly page: number
  readonly total: number
  readonly empty: boolean
}

/**
 * Whether to request the first page again: days without records, a full list that had some, or changes without the
 * watermark's own record.
 */
export function isDoubtful(
  { page, total, empty }: FirstAnswer,
  { starts, pass }: ScanProgress,
  job: JobPart & Pick<LoadedScanJob, 'hasRows'>,
): boolean {
  const isFirst = page === 1 && starts.length === 0 && pass.pages === 0
  return isFirst && empty && total === 0 && (!isFirstReading(job) || job.hasRows === true)
}

/** Whether a filtered list counts rows that it does not show: the full list may show them. */
export const isHiddenByFilter = ({ hidden }: Pick<PassFigures, 'hidden'>, job: JobPart): boolean =>
  job.isFiltered === true && hidden > 0

/** Decides on a scan at the end of a pass. */
export function judgeLoaded(figures: PassFigures, job: JobPart, shortfalls: readonly number[]): ScanDecision {
  return isHiddenByFilter(figures, job) ? 'refused' : judge(figures, provedStart(figures), shortfalls)
}

/** What an accepted scan passes on to the next one; the watermark is always that of the proved pass start. */
export function endOf(figures: PassFigures, digests: readonly (string | undefined)[]): ScanEnd {
  return {
    watermark: provedStart(figures)?.watermark ?? null,
    total: figures.total,
    digests: digestsText(digests),
  }
}

interface SeenPage extends LandedPage, Required<Pick<PageFile, 'pass' | 'isFront'>> {
  readonly same?: readonly ScanRowTimes[] | undefined
}

/** The last few pages of a pass join the batch before them: alone they would need as many statements as a full batch. */
const fewPages = 0.2

const isFull = (pages: readonly LandedPage[], left: number): boolean =>
  isFullBatch(pages) && (left === 0 || left > pages.length * fewPages)

export class LoadedScan implements Strategy<LoadedPage> {
  readonly #task: ResourceTask
  readonly #job: LoadedScanJob
  /** Progress at which the scan continues. */
  readonly start: ScanProgress
  readonly #pages: ListPages
  readonly #digests: (string | undefined)[] = []
  #batch: SeenPage[] = []
  readonly #previous = new PreviousPasses()
  /** Decision of the last batch's transaction. */
  #decided: ScanDecision | undefined
  /** Refused because a filtered list counts rows that it does not show: the full list may show them. */
  hidesByFilter = false
  /** If the scan was refused for a contradiction: what the service reported and what it returned instead. */
  contradiction: string | undefined

  private constructor(
    task: ResourceTask,
    job: LoadedScanJob,
    { start, landed }: { readonly start: ScanProgress; readonly landed: readonly LandedPage[] },
  ) {
    this.#task = task
    this.#job = job
    this.start = start
    const left = landed.filter(({ sequence }) => sequence > start.sequence)
    this.#pages = new ListPages(task, job, left)
  }

  static async open(task: ResourceTask, job: LoadedScanJob): Promise<LoadedScan> {
    const { row, known, beginAt, pageSize: size = maxRows } = job
    const beginning = { page: beginAt, size, isPart: known !== undefined }
    const start = await resumed(task.sync.engine, row, beginning)
    // The run that opened the scan may have landed its pages on another machine.
    await task.sync.landing.begin(row.scan_id, { resource: task.resource.name, scope: {} })
    return new LoadedScan(task, job, { start, landed: await task.sync.landing.pages(row.scan_id) })
  }

  rules(progress: ScanProgress): PassRules & { readonly size: number } {
    const { known, hiddenRows: hidden } = this.#job
    const { clock, lookbackMs } = this.#task.sync
    const plan = this.#pages.planOf(progress)
    return {
      ...(plan.sortBy === 'updatedAt' && { known }),
      lookbackMs,
      isShort: plan.isShort,
      hidesRows: hidden !== undefined,
      now: clock.service(),
      size: sizeOf(plan, progress.pageSize),
    }
  }

  async ask(page: number, progress: ScanProgress): Promise<LoadedPage> {
    const { pipeline } = this.#task
    if (pipeline.hasFailed) await pipeline.drained()
    const answer = await this.#pages.ask(page, progress)
    if (!isDoubtful(answer, progress, this.#job)) return answer
    if (this.#job.known === undefined && !isFirstReading(this.#job)) await requireRows(this.#task)
    await this.drop(answer)
    return this.#pages.ask(page, progress)
  }

  drop({ landed }: LoadedPage): Promise<void> {
    return this.#task.sync.landing.forget(landed)
  }

  async keep({ landed, digest, same }: LoadedPage, progress: ScanProgress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { pages, lastTotal, nextPage, size } = progress.pass
    const { pagesBefore = 0, pagesInAll = 0 } = this.#job
    const pagesDone = pagesBefore + pages
    const pagesTotal = Math.max(pagesInAll, pagesBefore + lastPage(lastTotal, size))
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

  /** Passes the pages read so far to the pipeline; the next scan can be read while they load. */
  async handOver(progress: ScanProgress): Promise<void> {
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    if (await this.#isNothingNew(batch, progress)) return
    const pages = batch.map(({ same: _, ...page }) => page)
    await this.#task.pipeline.load({
      pages,
      rows: 'data',
      scan: { scanId: this.#job.row.scan_id, isFiltered: this.#job.isFiltered ?? false },
      writeScan: async engine => this.#commit(engine, progress, await this.#figures(engine, progress)),
    })
  }

  /**
   * Accepts a complete incremental scan without loading it, if all its rows are stored and equal those of the previous
   * scan.
   */
  async #isNothingNew(batch: readonly SeenPage[], progress: ScanProgress): Promise<boolean> {
    if (!isCompleteScan(progress, batch)) return false
    const figures = figuresOfSeen(seenOf(batch, progress, this.#job), progress, this.#counting)
    if (!provedStart(figures)) return false
    const rows = batch.flatMap(({ same }) => same)
    return this.#task.pipeline.loadNothing(rows.length, async engine => {
      if (!(await areStored(engine, this.#task.resource, rows))) return false
      await this.#commit(engine, progress, figures)
      return true
    })
  }

  async save(progress: ScanProgress): Promise<void> {
    await this.handOver(progress)
    await this.#task.pipeline.drained()
  }

  /** If an earlier run loaded the last pages of the scan, the decision is in its ledger row. */
  async decide(): Promise<ScanDecision> {
    if (this.#decided) return this.#decided
    const row = await readScan(this.#task.sync.engine, this.#job.row.scan_id)
    if (row?.state === 'accepted') return 'accepted'
    return row?.state === 'refused' ? 'refused' : 'scan again'
  }

  /** Saves the progress in the transaction of a batch, and decides if it was the last batch of a pass. */
  async #commit(engine: Engine, progress: ScanProgress, figures: PassFigures): Promise<void> {
    const id = this.#job.row.scan_id
    const { seen, expected } = seenAndExpected(figures)
    const decision = progress.pass.nextPage === 0 ? this.#judge(figures, progress) : undefined
    const isUndecided = decision === undefined || decision === 'scan again'
    this.#decided = decision
    this.contradiction = figures.contradiction
    this.hidesByFilter = decision !== undefined && isHiddenByFilter(figures, this.#job)
    await updateScan(engine, id, {
      ...changeOf(decision === 'scan again' ? anotherPass(progress, this) : progress),
      state: isUndecided ? 'scanning' : decision,
      distinct_ids: seen,
      expected_ids: decision === undefined ? 0 : expected,
      ...(decision === 'accepted' && {
        accepted_at: now(this.#task.sync),
        service_accepted_at: serviceTime(this.#task.sync),
      }),
    })
    if (decision === 'accepted') await this.#accept(engine, progress, figures)
    if (isUndecided) await saveStarts(engine, id, progress.starts)
    else await forgetSeen(engine, id)
  }

  #judge(figures: PassFigures, { pass }: ScanProgress): ScanDecision {
    this.#previous.add(figures, pass)
    return judgeLoaded(figures, this.#job, this.#previous.shortfalls)
  }

  get #counting(): CountContext {
    const { row, known, hiddenRows } = this.#job
    return { scanId: row.scan_id, hidesRows: hiddenRows, known, allowsSteady: true, previous: this.#previous }
  }

  #figures(engine: Engine, progress: ScanProgress): Promise<PassFigures> {
    return figuresOf(engine, progress, this.#counting)
  }

  async #accept(engine: Engine, { pageSize }: ScanProgress, figures: PassFigures): Promise<void> {
    const { row } = this.#job
    await moveWatermarkBy(engine, this.#task, { row, end: endOf(figures, this.#digests) })
    const isFullListRead = isFullList(this.#job)
    await learnPaging(engine, this.#task, {
      pageSize,
      hiddenRows: figures.hidden,
      isFullList: isFullListRead,
    })
  }
}
