/** The scan of a window of a sweep: ids go to the ledger with how far the scan is, and nothing is loaded. */
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { addIds, countDistinctIds, forgetIds } from '../../state/scans/scan-ids.ts'
import { updateScan } from '../../state/scans/scans.ts'
import type { ScanIdRow, ScanRow } from '../../state/scans/tables.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { beginPass, figuresOf, type PassState } from '../scan/pass.ts'
import { type Decision, expectedIds, judge } from '../scan/proof.ts'
import { anotherPass, type Progress, type Strategy, scan } from '../scan/scan.ts'
import { askAgreeing, type RawPage, type SweptPage } from './swept-page.ts'

/** Ids are written so often: a killed run asks for at most so many pages again. */
const pagesPerCommit = 20

export interface SweepJob {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
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

function passOf(row: ScanRow): PassState {
  const firstTotal = Number(row.first_total)
  return {
    ...beginPass(Number(row.next_page)),
    pages: Number(row.pages),
    greatestTotal: Number(row.greatest_total),
    firstTotal,
    leastTotal: firstTotal,
    lastTotal: Number(row.last_total),
  }
}

class SweepScan implements Strategy<SweptPage> {
  /** One answer alone has no other to contradict it, such as that of a copy of the service that lags behind. */
  readonly asksTwice = true
  readonly #task: ResourceTask
  readonly #job: SweepJob
  #ids: ScanIdRow[] = []
  #uncommitted = 0

  constructor(task: ResourceTask, job: SweepJob) {
    this.#task = task
    this.#job = job
  }

  ask(page: number): Promise<SweptPage> {
    const { resource } = this.#task
    return askAgreeing(`GET ${resource.path}`, page, () => this.#fetch(page))
  }

  async #fetch(page: number): Promise<RawPage> {
    const { sync, resource, counters } = this.#task
    const query = { ...this.#job.query, page, limit: pageLimit }
    const answer = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
    counters.requests += 1
    return { total: answer.meta.total, records: recordsOf(answer) }
  }

  async keep({ swept }: SweptPage, progress: Progress): Promise<void> {
    const { sync, resource, counters } = this.#task
    const { scan_id } = this.#job.row
    for (const { id, createdAt, updatedAt } of swept)
      this.#ids.push({ scan_id, record_id: id, created_at: createdAt, updated_at: updatedAt })
    counters.records_read += swept.length
    sync.emit({
      resource: resource.name,
      state: 'scanning',
      pagesDone: progress.pass.pages,
      pagesTotal: lastPage(progress.pass.greatestTotal),
      rows: counters.records_read,
      requests: counters.requests,
    })
    this.#uncommitted += 1
    if (this.#uncommitted >= pagesPerCommit) await this.save(progress)
  }

  async save({ pass, attempt }: Progress, change: Partial<ScanRow> = {}): Promise<void> {
    const ids = this.#ids.splice(0)
    this.#uncommitted = 0
    await fenced(this.#task, async engine => {
      await addIds(engine, ids)
      await updateScan(engine, this.#job.row.scan_id, {
        attempt,
        next_page: pass.nextPage,
        pages: pass.pages,
        greatest_total: pass.greatestTotal,
        first_total: pass.firstTotal,
        last_total: pass.lastTotal,
        ...change,
      })
    })
  }

  async decide(progress: Progress): Promise<Decision> {
    const { pass, attempt } = progress
    const { sync } = this.#task
    const distinctIds = await countDistinctIds(sync.engine, this.#job.row.scan_id)
    const figures = figuresOf(pass, { kind: 'sweep', isWhole: true, attempt, distinctIds })
    const decision = judge(figures)
    const found = { distinct_ids: distinctIds, expected_ids: expectedIds(figures) }
    if (decision === 'accepted')
      await this.save(progress, { state: 'accepted', accepted_at: now(sync), ...found })
    if (decision === 'refused') await this.save(progress, { state: 'refused', ...found })
    if (decision === 'scan again') await this.#beginAgain(progress)
    return decision
  }

  /** Each pass stands by itself: an id of an earlier one may be deleted since, and would make up for one not seen. */
  async #beginAgain(progress: Progress): Promise<void> {
    const { scan_id } = this.#job.row
    const { pass, attempt } = anotherPass(progress, {})
    await fenced(this.#task, async engine => {
      await forgetIds(engine, scan_id)
      const fresh = { attempt, next_page: pass.nextPage, pages: 0, greatest_total: 0 }
      await updateScan(engine, scan_id, { ...fresh, first_total: 0, last_total: 0 })
    })
  }
}

/** False when the window never settled. */
export async function sweepWindow(task: ResourceTask, job: SweepJob): Promise<boolean> {
  const { row } = job
  const from = { pass: passOf(row), attempt: Number(row.attempt), sequence: 0 }
  return (await scan(new SweepScan(task, job), from)) === 'accepted'
}
