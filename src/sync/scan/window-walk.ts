/** One walk through a window: pages land, batches load, and the window's row tells how far that is proved. */
import { lastPage, PAGE_LIMIT } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { countIds, forgetIds, updateWindow } from '../../state/scans/windows.ts'
import type { WindowTable } from '../../state/schema.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { isFullBatch } from '../run/full-batch.ts'
import { loadPages } from '../run/load-pages.ts'
import { answerOf, type Content, orUnreadable, readLanded } from './page-answer.ts'
import { advance, claimedTotal, isComplete, type Known, type WalkState, walkAgain } from './walk.ts'
import { type Progress, resumed } from './walk-progress.ts'

/** The last few pages of a walk are no batch of their own, which would take as many statements as a full one. */
const fewPages = 0.2

const isFull = (pages: readonly LandedPage[], left: number): boolean =>
  isFullBatch(pages) && (left === 0 || left > pages.length * fewPages)

/** A window that never settles is left for the next night; what it read is loaded. */
const mostAttempts = 6

export interface WindowJob {
  readonly window: WindowTable
  readonly query: Readonly<Record<string, string>>
  /** Page to begin with when nothing is known of the walk yet. */
  readonly beginAt: number
  /** Where a walk over changes ends; absent when the whole window is read. */
  readonly known?: Known
  /** Called once, when the last page of the walk is fetched; its batch may still be loading. */
  readonly onFetched?: (state: WalkState) => Promise<void>
  /** Ledger rows that belong to the end of the walk, written in the transaction of its last batch. */
  readonly finish: (state: WalkState) => Promise<void>
}

export class WindowWalk {
  readonly #task: ResourceTask
  readonly #job: WindowJob
  #progress: Progress
  #batch: LandedPage[] = []
  #loading: Promise<void> = Promise.resolve()
  #isFailed = false
  #accepted = false
  #told = false

  constructor(task: ResourceTask, job: WindowJob) {
    this.#task = task
    this.#job = job
    this.#progress = resumed(job.window, job.beginAt)
  }

  async run(): Promise<void> {
    await this.#takeLanded()
    while (!this.#accepted) {
      // What cannot be loaded is not to be asked for.
      if (this.#isFailed) await this.#flush()
      if (this.#progress.state.nextPage === 0) await this.#end()
      else await this.#fetch()
    }
  }

  /** The last batch is staged while the caller waits for its turn at the warehouse. */
  async #end(): Promise<void> {
    const { state } = this.#progress
    const isFirst = !this.#told
    this.#told = true
    if (this.#batch.length > 0) this.#loadInBackground()
    try {
      if (isFirst) await this.#job.onFetched?.(state)
    } finally {
      await this.#flush()
    }
  }

  /** Pages that an earlier run landed and did not load: they cost no request. */
  async #takeLanded(): Promise<void> {
    const { sync, resource } = this.#task
    const walk = this.#job.window.window_id
    // The run that opened the window may have landed its pages on another machine.
    sync.landing.begin(walk, { resource: resource.name, scope: {} })
    const landed = sync.landing.pages(walk)
    for (const page of landed.filter(({ sequence }) => sequence > this.#progress.sequence)) {
      if (page.page !== this.#progress.state.nextPage) {
        sync.landing.forget(page)
        continue
      }
      const content = await readLanded(page)
      await this.#take(page, {
        meta: content.meta ?? { total: 0 },
        empty: content.empty,
        records: content.records,
      })
    }
  }

  async #fetch(): Promise<void> {
    const { sync, resource, tally } = this.#task
    const number = this.#progress.state.nextPage
    try {
      const answer = await sync.client.getPage(resource.path, {
        ...this.#job.query,
        page: number,
        limit: PAGE_LIMIT,
      })
      tally.requests += 1
      const sequence = this.#progress.sequence + 1
      const arrived = {
        sequence,
        page: number,
        fetchedAt: answer.fetchedAt,
        runId: sync.runId,
        bytes: answer.bytes,
      }
      const landed = await sync.landing.land(this.#job.window.window_id, arrived)
      await this.#take(landed, answer)
    } catch (error) {
      // What was read is loaded before the reason to stop goes on its way.
      await this.#flush()
      throw error
    }
  }

  async #take(page: LandedPage, content: Content): Promise<void> {
    const { state } = this.#progress
    const answer = orUnreadable(page, () =>
      answerOf(this.#task, this.#job.known, { page: page.page, state, content }),
    )
    this.#progress = {
      ...this.#progress,
      state: advance(state, answer, this.#job.known),
      sequence: page.sequence,
    }
    this.#batch.push(page)
    this.#task.sync.emit({
      resource: this.#task.resource.name,
      state: 'walking',
      pagesDone: this.#progress.state.pages,
      pagesTotal: lastPage(this.#progress.state.greatestTotal),
      rows: this.#task.tally.records_read,
      requests: this.#task.tally.requests,
    })
    if (isFull(this.#batch, this.#progress.state.nextPage)) this.#loadInBackground()
  }

  /**
   * Batches load while the next is fetched, one after the other: a later one may be staged before an earlier one is
   * committed, but is written only then, so that the window's row always tells how far its pages are loaded.
   */
  #loadInBackground(): void {
    const pages = this.#batch
    const at = { ...this.#progress }
    this.#batch = []
    this.#loading = this.#load(pages, at, this.#loading)
    this.#loading.catch(() => {
      this.#isFailed = true
    })
  }

  async #flush(): Promise<void> {
    if (this.#batch.length > 0) this.#loadInBackground()
    await this.#loading
  }

  async #load(pages: readonly LandedPage[], at: Progress, before: Promise<void>): Promise<void> {
    const { window } = this.#job
    await loadPages(
      this.#task,
      {
        pages,
        rows: 'data',
        scope: () => ({}),
        windowId: window.window_id,
        commit: async () => this.#commit(at),
      },
      before,
    )
  }

  async #commit(at: Progress): Promise<void> {
    const { engine } = this.#task.sync
    const { window } = this.#job
    const distinct = await countIds(engine, window.window_id)
    const ended = at.state.nextPage === 0
    const whole = this.#job.known === undefined
    const claimed = claimedTotal(at.state, at.attempt)
    const accepted = ended && (!whole || isComplete(distinct, claimed))
    await updateWindow(engine, window.window_id, {
      attempt: at.attempt,
      next_page: at.state.nextPage,
      loaded_sequence: at.sequence,
      pages: at.state.pages,
      greatest_total: claimed,
      distinct_ids: distinct,
      first_mark: at.state.firstMark,
      ...(accepted && { state: 'accepted' as const, accepted_at: now(this.#task.sync) }),
    })
    if (accepted) await this.#job.finish(at.state)
    if (accepted) await forgetIds(engine, window.window_id)
    this.#accepted = accepted
    if (ended && !accepted) await this.#again(at, { distinct, claimed })
  }

  /**
   * Fewer ids than the service counts: rows moved past the walk, so the window is walked again. The ids seen so far
   * stay, and so does the mark: what changes after the first page of the first walk is newer than that mark.
   */
  async #again(
    at: Progress,
    { distinct, claimed }: { readonly distinct: number; readonly claimed: number },
  ): Promise<void> {
    const { engine } = this.#task.sync
    const { window } = this.#job
    if (at.attempt >= mostAttempts) {
      await updateWindow(engine, window.window_id, { state: 'refused' })
      await forgetIds(engine, window.window_id)
      this.#task.tally.note = `saw ${distinct} of ${claimed} ids in ${at.attempt} walks`
      this.#accepted = true
      return
    }
    const state = walkAgain(at.state)
    this.#progress = { state, attempt: at.attempt + 1, sequence: at.sequence }
    await updateWindow(engine, window.window_id, {
      attempt: at.attempt + 1,
      next_page: state.nextPage,
      pages: 0,
      greatest_total: 0,
    })
  }
}
