/** The scan of a window of a sweep: ids go to the ledger with how far the scan is, and nothing is loaded. */
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import type { SweepIdTable, SweepWindowTable } from '../../state/evidence/deletion-tables.ts'
import { addSweepIds, countSweepIds, forgetSweepIds, updateSweepWindow } from '../../state/scans/sweeps.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { beginPass, figuresOf, type PassState } from '../scan/pass.ts'
import { type Decision, judge } from '../scan/proof.ts'
import { anotherPass, type Progress, type Strategy, scan } from '../scan/scan.ts'
import { askAgreeing, type RawPage, type SweptPage } from './swept-page.ts'

/** Ids are written so often: a killed run asks for at most so many pages again. */
const pagesPerCommit = 20

export interface SweepJob {
  readonly window: SweepWindowTable
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

function passOf(window: SweepWindowTable): PassState {
  const firstTotal = Number(window.first_total)
  return {
    ...beginPass(Number(window.next_page)),
    pages: Number(window.pages),
    greatestTotal: Number(window.greatest_total),
    firstTotal,
    leastTotal: firstTotal,
    lastTotal: Number(window.last_total),
  }
}

class SweepScan implements Strategy<SweptPage> {
  /** One answer alone has no other to contradict it, such as that of a copy of the service that lags behind. */
  readonly asksTwice = true
  readonly #task: ResourceTask
  readonly #job: SweepJob
  #ids: SweepIdTable[] = []
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
    const { sync, resource, tally } = this.#task
    const query = { ...this.#job.query, page, limit: pageLimit }
    const answer = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
    tally.requests += 1
    return { total: answer.meta.total, records: recordsOf(answer) }
  }

  async keep({ swept }: SweptPage, progress: Progress): Promise<void> {
    const { sync, resource, tally } = this.#task
    const { sweep_id, number } = this.#job.window
    for (const { id, createdAt, updatedAt } of swept)
      this.#ids.push({ sweep_id, number, record_id: id, created_at: createdAt, updated_at: updatedAt })
    tally.records_read += swept.length
    sync.emit({
      resource: resource.name,
      state: 'walking',
      pagesDone: progress.pass.pages,
      pagesTotal: lastPage(progress.pass.greatestTotal),
      rows: tally.records_read,
      requests: tally.requests,
    })
    this.#uncommitted += 1
    if (this.#uncommitted >= pagesPerCommit) await this.save(progress)
  }

  async save({ pass, attempt }: Progress, change: Partial<SweepWindowTable> = {}): Promise<void> {
    const ids = this.#ids.splice(0)
    this.#uncommitted = 0
    await fenced(this.#task, async engine => {
      await addSweepIds(engine, ids)
      await updateSweepWindow(engine, this.#job.window, {
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
    const distinctIds = await countSweepIds(this.#task.sync.engine, this.#job.window)
    const decision = judge(figuresOf(pass, { kind: 'sweep', isWhole: true, attempt, distinctIds }))
    if (decision === 'accepted') await this.save(progress, { state: 'accepted', distinct_ids: distinctIds })
    if (decision === 'scan again') await this.#beginAgain(progress)
    return decision
  }

  /** Each pass stands by itself: an id of an earlier one may be deleted since, and would make up for one not seen. */
  async #beginAgain(progress: Progress): Promise<void> {
    const { window } = this.#job
    const { pass, attempt } = anotherPass(progress, {})
    await fenced(this.#task, async engine => {
      await forgetSweepIds(engine, window.sweep_id, Number(window.number))
      const fresh = { attempt, next_page: pass.nextPage, pages: 0, greatest_total: 0 }
      await updateSweepWindow(engine, window, { ...fresh, first_total: 0, last_total: 0 })
    })
  }
}

/** False when the window never settled. */
export async function sweepWindow(task: ResourceTask, job: SweepJob): Promise<boolean> {
  const { window } = job
  const from = { pass: passOf(window), attempt: Number(window.attempt), sequence: 0 }
  return (await scan(new SweepScan(task, job), from)) === 'accepted'
}
