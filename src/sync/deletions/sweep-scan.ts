/** Scans one window of a sweep: writes ids and progress to the ledger, and loads nothing. */
import { RetriableError } from '../../api/client/errors.ts'
import { lastPage, pageLimit as maxRows } from '../../api/client/paging.ts'
import { addIds, keepSeenSince } from '../../state/scans/scan-ids.ts'
import { updateScan } from '../../state/scans/scans.ts'
import type { ScanIdRow, ScanRow } from '../../state/scans/tables.ts'
import { forgetPageSize } from '../../state/scans/watermarks.ts'
import { figuresOf, PreviousPasses } from '../paging/figures.ts'
import { type Pass, type PassRules, rowsAgreed, seenIn } from '../paging/pass.ts'
import { planOf, sizeOf } from '../paging/pass-plan.ts'
import { judge, provedStart, type ScanDecision, seenAndExpected } from '../paging/proof.ts'
import { anotherPass, type ScanProgress, type Strategy, scan } from '../paging/scan.ts'
import { changeOf, resumed, saveStarts } from '../paging/scan-row.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/renew-lease.ts'
import { askAgreeing, type RawPage, type SweptPage, type SweptRow } from './swept-page.ts'

/** Pages between commits: a killed run repeats at most this many. */
const pagesPerCommit = 20

export interface SweepJob {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
  /** Rows of a full page, as found by an earlier window of the sweep. */
  readonly beginSize?: number | undefined
  /** What earlier scans have learnt about the list. */
  readonly pageSize?: number | undefined
  readonly hiddenRows?: number | undefined
}

const fullList = { isPart: false, total: undefined }

const millis = (time: string | null): number | null => (time === null ? null : Date.parse(time))

function idRow({ id, createdAt, updatedAt }: SweptRow) {
  const [created, changed] = [millis(createdAt), millis(updatedAt)]
  const times = [created, changed].filter(time => time !== null)
  return {
    record_id: id,
    existed_at: times.length === 0 ? null : Math.min(...times),
    changed_at: changed,
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

/** Treats a malformed body like a page without ids, which is requested again. */
function recordsOf(answer: { records(): unknown[] }): readonly unknown[] {
  try {
    return answer.records()
  } catch (error) {
    if (error instanceof RetriableError) return [undefined]
    throw error
  }
}

function seenBy(pass: Pass): Pick<ScanIdRow, 'first_pass' | 'last_pass' | 'front_pass'> {
  const { pass: number, isFront } = seenIn(pass)
  return { first_pass: number, last_pass: number, front_pass: isFront ? number : null }
}

class SweepScan implements Strategy<SweptPage> {
  /** Nothing else would contradict a single response, such as one from a copy of the service that lags behind. */
  readonly asksTwice = true
  readonly #task: ResourceTask
  readonly #job: SweepJob
  #ids: ScanIdRow[] = []
  #uncommitted = 0
  contradiction: string | undefined
  readonly #previous = new PreviousPasses()

  constructor(task: ResourceTask, job: SweepJob) {
    this.#task = task
    this.#job = job
  }

  rules(progress: ScanProgress): PassRules & { readonly size: number } {
    const { clock, lookbackMs } = this.#task.sync
    const plan = planOf(progress.attempt, fullList)
    const hidesRows = this.#job.hiddenRows !== undefined
    const size = sizeOf(plan, progress.pageSize)
    return { lookbackMs, isShort: plan.isShort, hidesRows, now: clock.service(), size }
  }

  ask(page: number, progress: ScanProgress): Promise<SweptPage> {
    const { resource, sync } = this.#task
    const now = sync.clock.now()
    const asked = { where: `GET ${resource.path}`, page, size: progress.pass.size, now }
    return askAgreeing(asked, () => this.#fetch(page, progress))
  }

  async #fetch(page: number, { attempt, pass }: ScanProgress): Promise<RawPage> {
    const { sync, resource, counters } = this.#task
    const plan = planOf(attempt, fullList)
    const query = { ...this.#job.query, sortBy: plan.sortBy, page, limit: pass.size }
    const options = { purpose: 'reconcile', mayBeHollow: true, rows: rowsAgreed(pass) } as const
    const answer = await sync.client.getPage(resource.path, query, options)
    counters.requests += 1
    const { total, limit } = answer.meta
    return { total, limit, records: recordsOf(answer) }
  }

  /** Nothing of a page is stored before it counts. */
  async drop(): Promise<void> {}

  async keep({ swept }: SweptPage, progress: ScanProgress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { scan_id } = this.#job.row
    const { pass } = progress
    for (const row of swept) this.#ids.push({ scan_id, ...idRow(row), ...seenBy(pass) })
    counters.records_read += swept.length
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone: pass.pages,
      pagesTotal: lastPage(pass.lastTotal, pass.size),
      rows: counters.records_read,
      requests: counters.requests,
    })
    this.#uncommitted += 1
    if (this.#uncommitted >= pagesPerCommit) await this.save(progress)
  }

  async save(progress: ScanProgress): Promise<void> {
    const ids = this.#ids.splice(0)
    this.#uncommitted = 0
    const { scan_id } = this.#job.row
    await fenced(this.#task, async engine => {
      await addIds(engine, ids)
      // A contradiction is decided next; if the run is killed before, the next one requests these pages again.
      if (progress.pass.contradiction !== undefined) return
      await updateScan(engine, scan_id, changeOf(progress))
      await saveStarts(engine, scan_id, progress.starts)
    })
  }

  /**
   * Scans request no more rows than earlier pages had. Only a sweep, which requests more, notices that pages have
   * grown.
   */
  #hasLongerPages({ pageSize }: ScanProgress): boolean {
    return this.#job.pageSize !== undefined && pageSize > this.#job.pageSize
  }

  async decide(progress: ScanProgress): Promise<ScanDecision> {
    const { scan_id } = this.#job.row
    const previous = this.#previous
    const counting = { scanId: scan_id, hidesRows: this.#job.hiddenRows, previous }
    const figures = await figuresOf(this.#task.sync.engine, progress, counting)
    const { seen, expected } = seenAndExpected(figures)
    this.contradiction = figures.contradiction
    previous.add(figures, progress.pass)
    const proved = provedStart(figures)
    const decision = judge(figures, proved, previous.shortfalls)
    const isAgain = decision === 'scan again'
    await fenced(this.#task, async engine => {
      // A record last seen before the proved pass start was deleted by then.
      if (proved) await keepSeenSince(engine, scan_id, proved.pass)
      await updateScan(engine, scan_id, {
        ...changeOf(isAgain ? anotherPass(progress, this) : progress),
        state: isAgain ? 'scanning' : decision,
        distinct_ids: seen,
        expected_ids: expected,
        ...(proved && { accepted_at: now(this.#task.sync) }),
      })
      if (proved && this.#hasLongerPages(progress)) await forgetPageSize(engine, this.#task.resource.name)
    })
    return decision
  }
}

/** Returns undefined when the window is read; otherwise the contradiction, if there was one. */
export async function sweepWindow(
  task: ResourceTask,
  job: SweepJob,
): Promise<{ readonly contradiction: string | undefined } | undefined> {
  const { row, beginSize: size = maxRows } = job
  const beginning = { page: Number(row.next_page), size, isPart: false }
  const start = await resumed(task.sync.engine, job.row, beginning)
  const strategy = new SweepScan(task, job)
  return (await scan(strategy, start)) === 'accepted' ? undefined : { contradiction: strategy.contradiction }
}
