/** The scan whose pages are landed and loaded: backfill windows, incremental scans, and days that are read again. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Envelope, readEnvelope } from '../../api/client/envelope.ts'
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { MusterError } from '../../lib/errors.ts'
import { unbrokenRecords } from '../../load/page/stand-ins.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { countIds, forgetIds } from '../../state/scans/scan-ids.ts'
import { readScan, updateScan } from '../../state/scans/scans.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { isFullBatch } from '../run/task-pipeline.ts'
import { refusal } from './collection-window.ts'
import { beginPass, figuresOf, isFirstDataPage, type Known, nextPass, type PassState } from './pass.ts'
import { type Decision, expectedIds, judge } from './proof.ts'
import { type Progress, type ScannedPage, type Strategy, scan } from './scan.ts'
import { spanOf } from './times.ts'

export interface LoadedScanJob {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
  /** Page to begin with when nothing of the scan is read yet. */
  readonly beginAt: number
  /** Where an incremental scan ends; absent when the list is read to its first page. */
  readonly known?: Known
  /** Ledger rows that belong to the end of the scan, on the connection of the transaction of its last batch. */
  readonly accepted?: (engine: Engine, pass: PassState) => Promise<void>
}

interface LoadedPage extends ScannedPage {
  readonly landed: LandedPage
}

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

type Content = Pick<Envelope, 'empty' | 'records'> & { readonly meta?: { readonly total: number } }

export class LoadedScan implements Strategy<LoadedPage> {
  readonly #task: ResourceTask
  readonly #job: LoadedScanJob
  readonly known: Known | undefined
  /** Where the scan goes on. */
  readonly start: Progress
  /** Pages that an earlier run landed and did not load: they cost no request. */
  readonly #landed: LandedPage[]
  #batch: LandedPage[] = []

  constructor(task: ResourceTask, job: LoadedScanJob) {
    const { row } = job
    this.#task = task
    this.#job = job
    this.known = job.known
    this.start = resumed(row, job.beginAt)
    // The run that opened the scan may have landed its pages on another machine.
    task.sync.landing.begin(row.scan_id, { resource: task.resource.name, scope: {} })
    const pages = task.sync.landing.pages(row.scan_id)
    this.#landed = pages.filter(({ sequence }) => sequence > this.start.sequence)
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
    const { pages, greatestTotal, nextPage } = progress.pass
    this.#batch.push(landed)
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone: pages,
      pagesTotal: lastPage(greatestTotal),
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
      scanId: this.#job.row.scan_id,
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
    const answer = await sync.client.getPage(resource.path, { ...this.#job.query, page, limit: pageLimit })
    counters.requests += 1
    const { fetchedAt, bytes } = answer
    const arrived = { sequence: progress.sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(this.#job.row.scan_id, arrived)
    return this.#look(landed, answer, progress)
  }

  /** Looks into the records only where the scan needs their times: parsing a page costs more than fetching it. */
  #look(landed: LandedPage, content: Content, { pass }: Progress): LoadedPage {
    const { resource, sync } = this.#task
    const { page, sequence } = landed
    const { empty, meta } = content
    const base = { landed, sequence, page, empty, total: meta?.total ?? 0 }
    const isNeeded = this.known !== undefined || isFirstDataPage(pass, page, base.total)
    const { updatedAt } = resource
    if (!isNeeded || updatedAt === undefined) return base
    const records = this.#task.pipeline.readAgain.has(landed)
      ? unbrokenRecords(readFileSync(landed.file))
      : orUnreadable(landed, () => content.records() as unknown[])
    return { ...base, ...spanOf(records, updatedAt, sync.clock.now()) }
  }

  /**
   * Tells in the transaction of a batch how far its pages are loaded. Fewer ids than expected mean that rows moved past the
   * pass: the ids seen so far stay for the next one, and so does the watermark, as what changes after the first page of the
   * first pass is newer than it.
   */
  async #commit(engine: Engine, { pass, attempt, sequence }: Progress): Promise<void> {
    const { row, accepted } = this.#job
    const id = row.scan_id
    const distinctIds = await countIds(engine, id)
    const isWhole = this.known === undefined
    const kind = row.kind === 'incremental' ? 'incremental' : 'backfill'
    const figures = figuresOf(pass, { kind, isWhole, attempt, distinctIds })
    const decision = pass.nextPage === 0 ? judge(figures) : undefined
    const isAgain = decision === 'scan again'
    const next = isAgain ? nextPass(pass) : pass
    await updateScan(engine, id, {
      state: decision === undefined || isAgain ? 'scanning' : decision,
      attempt: isAgain ? attempt + 1 : attempt,
      next_page: next.nextPage,
      loaded_sequence: sequence,
      pages: next.pages,
      first_total: next.firstTotal,
      greatest_total: next.greatestTotal,
      last_total: next.lastTotal,
      expected_ids: isAgain ? 0 : expectedIds(figures),
      distinct_ids: distinctIds,
      first_watermark: pass.firstWatermark,
      ...(decision === 'accepted' && { accepted_at: now(this.#task.sync) }),
    })
    if (decision === 'accepted') await accepted?.(engine, pass)
    if (decision === 'accepted' || decision === 'refused') await forgetIds(engine, id)
  }
}

/** `beginAt` is the page for a scan of which nothing is read yet. */
function resumed(row: ScanRow, beginAt: number): Progress {
  const isBegun = Number(row.pages) > 0 || Number(row.loaded_sequence) > 0
  const firstTotal = Number(row.first_total)
  const pass: PassState = {
    ...beginPass(isBegun ? Number(row.next_page) : beginAt),
    pages: Number(row.pages),
    firstTotal,
    leastTotal: firstTotal,
    greatestTotal: Number(row.greatest_total),
    lastTotal: Number(row.last_total),
    firstWatermark: row.first_watermark,
  }
  return { pass, attempt: Number(row.attempt), sequence: Number(row.loaded_sequence) }
}

function hopeless({ resource }: ResourceTask, cause: PageUnreadable): MusterError {
  return new MusterError({
    what: 'the service answered a page twice of which not even the records can be told apart',
    where: `GET ${resource.path}`,
    next: 'tell the service about it, or run again later; what was read before is loaded',
    cause,
  })
}

/** Whether the page that could not be read belongs to the scan; its pages since the last commit are forgotten then. */
export function forgetUnreadable(
  { sync }: ResourceTask,
  row: ScanRow,
  { page: unreadable }: PageUnreadable,
): boolean {
  if (!sync.landing.scans().includes(row.scan_id)) return false
  const pages = sync.landing.pages(row.scan_id)
  if (!pages.some(({ file }) => file === unreadable.file)) return false
  for (const page of pages) if (page.sequence > Number(row.loaded_sequence)) sync.landing.forget(page)
  return true
}

/**
 * Ends when the scan is accepted; throws Incomplete when it is refused, or what stopped it, with everything read so far
 * loaded. A page that cannot be loaded is asked for again once; after that its broken records go to quarantine.
 */
export async function readUntilProved(task: ResourceTask, job: LoadedScanJob): Promise<void> {
  const strategy = new LoadedScan(task, job)
  try {
    if ((await scan(strategy, strategy.start)) === 'refused') throw await refusal(task, job.row)
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error
    const row = (await readScan(task.sync.engine, job.row.scan_id)) ?? job.row
    forgetUnreadable(task, row, error)
    if (!task.pipeline.readAgain.add(error.pages)) throw hopeless(task, error)
    await readUntilProved(task, { ...job, row })
  }
}
