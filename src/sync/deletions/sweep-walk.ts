/** One walk through a window of a sweep: ids go to the ledger with how far the walk is, so that it can be resumed. */
import { Retriable } from '../../api/client/errors.ts'
import { lastPage, PAGE_LIMIT } from '../../api/client/paging.ts'
import type { SweepIdTable, SweepWindowTable } from '../../state/evidence/deletion-tables.ts'
import { addSweepIds, countSweepIds, forgetSweepIds, updateSweepWindow } from '../../state/scans/sweeps.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { beginWalk, type WalkState } from '../scan/walk.ts'
import { type RawPage, walkOnce } from './sweep-course.ts'
import { isSwept, mostWalks, type SweptRow } from './swept-page.ts'

/** Ids are written so often: a killed run asks for at most so many pages again. */
const pagesPerCommit = 20

export interface SweepJob {
  readonly window: SweepWindowTable
  readonly query: Readonly<Record<string, string>>
  /** Page to begin with when nothing is known of the walk yet. */
  readonly beginAt: number
}

function stateOf({ window, beginAt }: SweepJob): WalkState {
  if (Number(window.pages) === 0 && Number(window.attempt) === 1) return beginWalk(beginAt)
  return {
    nextPage: Number(window.next_page),
    pages: Number(window.pages),
    greatestTotal: Number(window.greatest_total),
    firstTotal: Number(window.first_total),
    firstMark: null,
    lastTotal: Number(window.last_total),
  }
}

async function ask(task: ResourceTask, query: SweepJob['query'], page: number): Promise<RawPage> {
  const { sync, resource, tally } = task
  const asked = { ...query, page, limit: PAGE_LIMIT }
  const answer = await sync.client.getPage(resource.path, asked, { purpose: 'reconcile' })
  tally.requests += 1
  return { total: answer.meta.total, records: recordsOf(answer) }
}

/** A body that is not what its edges promised reads as one without ids, and is asked for again. */
function recordsOf(answer: { records(): unknown[] }): readonly unknown[] {
  try {
    return answer.records()
  } catch (error) {
    if (error instanceof Retriable) return [undefined]
    throw error
  }
}

class SweepWalk {
  readonly #task: ResourceTask
  readonly #job: SweepJob
  #state: WalkState
  #attempt: number
  #waiting: SweepIdTable[] = []
  #uncommitted = 0

  constructor(task: ResourceTask, job: SweepJob) {
    this.#task = task
    this.#job = job
    this.#state = stateOf(job)
    this.#attempt = Number(job.window.attempt)
  }

  async run(): Promise<number | undefined> {
    for (; this.#attempt <= mostWalks; await this.#again()) {
      await this.#walk()
      const { firstTotal, greatestTotal, pages } = this.#state
      const distinct = await countSweepIds(this.#task.sync.engine, this.#job.window)
      if (isSwept({ attempt: this.#attempt, distinct, firstTotal, greatestTotal })) {
        await this.#save({ state: 'accepted', distinct_ids: distinct })
        return pages
      }
    }
    return undefined
  }

  async #walk(): Promise<void> {
    const { query } = this.#job
    try {
      this.#state = await walkOnce(this.#state, {
        where: `GET ${this.#task.resource.path}`,
        ask: page => ask(this.#task, query, page),
        took: async ({ rows }, state) => {
          this.#take(rows)
          this.#state = state
          this.#show()
          if (this.#uncommitted >= pagesPerCommit) await this.#save()
        },
      })
    } finally {
      // Whatever ended the walk, the next run goes on from here.
      await this.#save()
    }
  }

  #take(rows: readonly SweptRow[]): void {
    const { sweep_id, number } = this.#job.window
    for (const { id, createdAt, updatedAt } of rows)
      this.#waiting.push({ sweep_id, number, record_id: id, created_at: createdAt, updated_at: updatedAt })
    this.#uncommitted += 1
    this.#task.tally.records_read += rows.length
  }

  #show(): void {
    const { sync, resource, tally } = this.#task
    sync.emit({
      resource: resource.name,
      state: 'walking',
      pagesDone: this.#state.pages,
      pagesTotal: lastPage(this.#state.greatestTotal),
      rows: tally.records_read,
      requests: tally.requests,
    })
  }

  async #save(change: Partial<SweepWindowTable> = {}): Promise<void> {
    const { engine } = this.#task.sync
    const rows = this.#waiting.splice(0)
    this.#uncommitted = 0
    await fenced(this.#task, async () => {
      await addSweepIds(engine, rows)
      await updateSweepWindow(engine, this.#job.window, {
        attempt: this.#attempt,
        next_page: this.#state.nextPage,
        pages: this.#state.pages,
        greatest_total: this.#state.greatestTotal,
        first_total: this.#state.firstTotal,
        last_total: this.#state.lastTotal,
        ...change,
      })
    })
  }

  /** Each walk stands by itself: an id of an earlier one may be gone since, and would make up for one not seen. */
  async #again(): Promise<void> {
    const { engine } = this.#task.sync
    const { window } = this.#job
    this.#attempt += 1
    this.#state = beginWalk(lastPage(this.#state.lastTotal))
    await fenced(this.#task, async () => {
      await forgetSweepIds(engine, window.sweep_id, Number(window.number))
      const fresh = { attempt: this.#attempt, next_page: this.#state.nextPage, pages: 0, greatest_total: 0 }
      await updateSweepWindow(engine, window, { ...fresh, first_total: 0, last_total: 0 })
    })
  }
}

/** Pages of the window when it was seen whole; undefined when it never settled. */
export function sweepWindow(task: ResourceTask, job: SweepJob): Promise<number | undefined> {
  return new SweepWalk(task, job).run()
}
