/** Asks for records one by one, some at a time, and lands what the service answers. */
import type { Purpose } from '../../api/budget/day.ts'
import { AccessDenied, BadRequest, NotFound, Retriable } from '../../api/client/errors.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { singleRead } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import type { MusterError } from '../../lib/errors.ts'
import type { DueId, Expected } from '../../state/by-id/due.ts'
import type { Miss } from '../../state/by-id/fetched.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { retryAfter } from './back-off.ts'

/** An answer, and for which id it was given. */
export interface LandedRecord {
  readonly page: LandedPage
  readonly asked: string
  readonly recordId: string
  readonly askedAt: string
  readonly expected?: Expected
}

export interface Answers {
  readonly records: readonly LandedRecord[]
  readonly misses: readonly Miss[]
  /** Ids of which nothing was learnt, because the service failed. */
  readonly postponed: readonly string[]
  /** Why the others were not asked. */
  readonly stopped?: { readonly error: unknown } | undefined
}

/** What a task has met so far; lives as long as the task. */
export interface Course {
  readonly windowId: string
  readonly purpose: Purpose
  /** Of the last landed page. */
  sequence: number
  hasRead: boolean
  deniedInARow: number
  failedInARow: number
}

/** Of one resource; as many again may wait for the minute of the key. */
const atOnce = 6

/** So many refusals, and nothing else, say that the key may not read the resource at all. */
const mostDenied = 3
/** One record that the service fails on is passed over; so many in a row are the service itself. */
const mostFailed = 5

class Round {
  readonly #task: ResourceTask
  readonly #course: Course
  readonly #left: DueId[]
  readonly records: LandedRecord[] = []
  readonly misses: Miss[] = []
  readonly postponed: string[] = []
  stopped: { readonly error: unknown } | undefined

  constructor(task: ResourceTask, course: Course, due: readonly DueId[]) {
    this.#task = task
    this.#course = course
    this.#left = [...due]
  }

  async run(): Promise<Answers> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#work()))
    return this
  }

  async #work(): Promise<void> {
    for (let due = this.#left.shift(); due && !this.stopped; due = this.#left.shift()) {
      try {
        await this.#ask(due)
      } catch (error) {
        this.stopped ??= { error }
      }
    }
  }

  async #ask(due: DueId): Promise<void> {
    const askedAt = now(this.#task.sync)
    try {
      await this.#land(due, askedAt)
      this.#course.hasRead = true
      this.#course.deniedInARow = 0
      this.#course.failedInARow = 0
    } catch (error) {
      this.#take(error, due, askedAt)
    }
  }

  async #land({ record_id: asked, expected }: DueId, askedAt: string): Promise<void> {
    const { sync, resource, tally } = this.#task
    const single = singleRead(resource)
    if (!single || !isSafeId(asked)) throw new Error(`${resource.name} ${asked} can not be read by id`)
    const path = single.path.replace('{id}', encodeURIComponent(asked))
    const { bytes, record, fetchedAt } = await sync.client.getRecord(path, single.query, this.#course)
    tally.requests += 1
    const recordId = typeof record?.id === 'string' && isSafeId(record.id) ? record.id : asked
    this.#course.sequence += 1
    const { sequence, windowId } = this.#course
    const arrived = { sequence, page: 1, fetchedAt, runId: sync.runId, bytes }
    const page = await sync.landing.land(windowId, arrived)
    this.records.push({ page, asked, recordId, askedAt, ...(expected && { expected }) })
  }

  /** What concerns one record is remembered; what concerns all of them is thrown. */
  #take(error: unknown, due: DueId, askedAt: string): void {
    const isAnswer = error instanceof NotFound || error instanceof AccessDenied || error instanceof BadRequest
    if (!isAnswer && !(error instanceof Retriable)) throw error
    this.#task.tally.requests += 1
    if (!isAnswer) {
      this.postponed.push(due.record_id)
      this.#course.failedInARow += 1
      if (this.#course.failedInARow >= mostFailed) throw error
      return
    }
    this.#course.failedInARow = 0
    this.misses.push(this.#missed(error, due, askedAt))
    this.#course.deniedInARow = error instanceof AccessDenied ? this.#course.deniedInARow + 1 : 0
    if (!this.#course.hasRead && this.#course.deniedInARow >= mostDenied) throw error
  }

  #missed(error: MusterError & { status: number | undefined }, due: DueId, askedAt: string): Miss {
    const { clock } = this.#task.sync
    return {
      recordId: due.record_id,
      askedAt,
      state: error instanceof NotFound ? 'missing' : 'refused',
      reason: `${error.report.what}${error.status === undefined ? '' : ` (${error.status})`}`,
      checkedAt: now(this.#task.sync),
      retryAfter: retryAfter(due.misses + 1, clock.now()),
    }
  }
}

/** Never throws: what ended it early stands beside what was read until then. */
export function askForRecords(task: ResourceTask, course: Course, due: readonly DueId[]): Promise<Answers> {
  return new Round(task, course, due).run()
}
