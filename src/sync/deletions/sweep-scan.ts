/** The scan of a window of a sweep: ids go to the ledger with how far the scan is, and nothing is loaded. */
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, pageLimit as mostRows } from '../../api/client/paging.ts'
import { addIds, keepSeenSince } from '../../state/scans/scan-ids.ts'
import { updateScan } from '../../state/scans/scans.ts'
import type { ScanIdRow, ScanRow } from '../../state/scans/tables.ts'
import { forgetPageSize } from '../../state/scans/watermarks.ts'
import { figuresOf } from '../paging/figures.ts'
import { limitOf, planOf, sizeOf } from '../paging/pass-plan.ts'
import { type PassRules, type PassState, seenIn } from '../paging/pass-state.ts'
import { PastPasses } from '../paging/past-passes.ts'
import { type Decision, judge, provedBase, seenAndExpected } from '../paging/proof.ts'
import { anotherPass, type Progress, type Strategy, scan } from '../paging/scan.ts'
import { changeOf, resumed, saveBases } from '../paging/scan-row.ts'
import { mostHollow, rowsAgreed } from '../paging/shown.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { askAgreeing, type RawPage, type SweptPage, type SweptRow } from './swept-page.ts'

/** Ids are written so often: a killed run asks for at most so many pages again. */
const pagesPerCommit = 20

export interface SweepJob {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
  /** What earlier scans have learnt of the list. */
  readonly pageSize?: number
  readonly pageLimit?: number
  readonly hiddenRows?: number
}

const wholeList = { isPart: false, total: undefined }

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

/** A body that differs from what its edges promised counts as one without ids, and is asked for again. */
function recordsOf(answer: { records(): unknown[] }): readonly unknown[] {
  try {
    return answer.records()
  } catch (error) {
    if (error instanceof Retriable) return [undefined]
    throw error
  }
}

function seenBy(pass: PassState): Pick<ScanIdRow, 'first_pass' | 'last_pass' | 'front_pass'> {
  const { pass: number, isFront } = seenIn(pass)
  return { first_pass: number, last_pass: number, front_pass: isFront ? number : null }
}

class SweepScan implements Strategy<SweptPage> {
  /** One answer alone has no other to contradict it, such as that of a copy of the service that lags behind. */
  readonly asksTwice = true
  readonly #task: ResourceTask
  readonly #job: SweepJob
  #ids: ScanIdRow[] = []
  #uncommitted = 0
  readonly #past = new PastPasses()

  constructor(task: ResourceTask, job: SweepJob) {
    this.#task = task
    this.#job = job
  }

  rules(progress: Progress): PassRules & { readonly size: number } {
    const { clock, lookbackMs } = this.#task.sync
    const plan = planOf(progress.attempt, wholeList)
    const hidesRows = this.#job.hiddenRows !== undefined
    const size = sizeOf(limitOf(plan, progress.pass), progress.pass)
    return { lookbackMs, isShort: plan.isShort, hidesRows, now: clock.service(), size }
  }

  ask(page: number, progress: Progress): Promise<SweptPage> {
    const { resource, sync } = this.#task
    const now = sync.clock.now()
    const asked = { where: `GET ${resource.path}`, page, size: progress.pass.size, now }
    return askAgreeing(asked, () => this.#fetch(page, progress))
  }

  async #fetch(page: number, { attempt, pass }: Progress): Promise<RawPage> {
    const { sync, resource, counters } = this.#task
    const plan = planOf(attempt, wholeList)
    const query = { ...this.#job.query, sortBy: plan.sortBy, page, limit: limitOf(plan, pass) }
    const mayBeHollow = pass.hollow < mostHollow
    const options = { purpose: 'reconcile', mayBeHollow, rows: rowsAgreed(pass) } as const
    const answer = await sync.client.getPage(resource.path, query, options)
    counters.requests += 1
    const { total, limit } = answer.meta
    return { total, limit, records: recordsOf(answer) }
  }

  async keep({ swept }: SweptPage, progress: Progress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { scan_id } = this.#job.row
    const { pass } = progress
    for (const row of swept) this.#ids.push({ scan_id, ...idRow(row), ...seenBy(pass) })
    counters.records_read += swept.length
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone: pass.pages,
      pagesTotal: lastPage(pass.greatestTotal, pass.size),
      rows: counters.records_read,
      requests: counters.requests,
    })
    this.#uncommitted += 1
    if (this.#uncommitted >= pagesPerCommit) await this.save(progress)
  }

  async save(progress: Progress): Promise<void> {
    const ids = this.#ids.splice(0)
    this.#uncommitted = 0
    const { scan_id } = this.#job.row
    await fenced(this.#task, async engine => {
      await addIds(engine, ids)
      await updateScan(engine, scan_id, changeOf(progress))
      await saveBases(engine, scan_id, progress.bases)
    })
  }

  /** Scans ask for no more rows than short pages once had: only a sweep, which asks for more, sees that they have grown. */
  #hasLongerPages({ pass }: Progress): boolean {
    const { pageSize, pageLimit } = this.#job
    return pageLimit !== undefined && pageSize !== undefined && pass.longest > pageSize
  }

  async decide(progress: Progress): Promise<Decision> {
    const { scan_id } = this.#job.row
    const past = this.#past
    const counting = { scanId: scan_id, hidesRows: this.#job.hiddenRows, past }
    const figures = await figuresOf(this.#task.sync.engine, progress, counting)
    const { seen, expected } = seenAndExpected(figures)
    past.add(figures, progress.pass)
    const proved = provedBase(figures)
    const decision = judge(figures, proved, past.lacks)
    const isAgain = decision === 'scan again'
    await fenced(this.#task, async engine => {
      // A record that was seen before the proved moment only was deleted by then.
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

/** False when the window never settled. */
export async function sweepWindow(task: ResourceTask, job: SweepJob): Promise<boolean> {
  const { row, pageSize = mostRows, pageLimit } = job
  const size = pageLimit === undefined ? pageSize : mostRows
  const beginning = { page: Number(row.next_page), size, limit: mostRows, isPart: false }
  const start = await resumed(task.sync.engine, job.row, beginning)
  return (await scan(new SweepScan(task, job), start)) === 'accepted'
}
