/** Fetches records by id, several at a time, and lands the responses. */
import type { Purpose } from '../../api/budget/day.ts'
import {
  AccessDenied,
  AnswerTooLarge,
  BadRequest,
  NotFound,
  OtherRecord,
  RetriableError,
} from '../../api/client/errors.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { singleRead } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/landing.ts'
import { dayMs } from '../../lib/dates.ts'
import { BudgetSpent, type MusterError } from '../../lib/errors.ts'
import type { DueId, RefreshExpectation } from '../../state/by-id/due.ts'
import type { FailedFetch } from '../../state/by-id/fetched.ts'
import { controlIds } from '../../state/evidence/evidence.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { currentScope } from '../run/key.ts'

/** A landed response, and the id it was requested by. */
export interface LandedRecord {
  readonly page: LandedPage
  readonly asked: string
  readonly recordId: string
  readonly askedAt: string
  readonly expected?: RefreshExpectation
}

export interface FetchResult {
  readonly records: readonly LandedRecord[]
  readonly failed: readonly FailedFetch[]
  /** Ids to retry later: the service failed, which says nothing about the record. */
  readonly retryLater: readonly string[]
  /** Why the rest was not requested. */
  readonly stopped?: { readonly error: unknown } | undefined
}

/** Counts of all fetches of one task. */
export interface FetchState {
  readonly scanId: string
  readonly purpose: Purpose
  /** Sequence number of the last landed page. */
  sequence: number
  hasRead: boolean
  deniedInARow: number
  failedInARow: number
}

/** Concurrent requests for one resource; as many again may wait for the key's limit per minute. */
const atOnce = 6

/** This many refusals without a single record mean that the key may not read the resource. */
const maxDenied = 3
/** One failure of the service skips the record; this many in a row mean that the service is down. */
const maxFailed = 5

/** The refresh policy wants every record fetched at least this often. */
const maxBackOffDays = 30

/**
 * Days to wait after this many failed fetches in a row: 1, 2, 4 and so on, at most 30. A signal, or another scope of
 * the key, fetches at once.
 */
export function backOffDays(failures: number): number {
  return Math.min(maxBackOffDays, 2 ** Math.min(10, Math.max(0, failures - 1)))
}

/** The service responded, though not with the record. */
const isAboutOne = (error: unknown): error is AccessDenied | NotFound | OtherRecord | AnswerTooLarge =>
  [AccessDenied, NotFound, OtherRecord, AnswerTooLarge].some(kind => error instanceof kind)

class IdFetch {
  readonly #task: ResourceTask
  readonly #state: FetchState
  readonly #left: DueId[]
  readonly records: LandedRecord[] = []
  readonly failed: FailedFetch[] = []
  readonly retryLater: string[] = []
  stopped: { readonly error: unknown } | undefined

  constructor(task: ResourceTask, state: FetchState, due: readonly DueId[]) {
    this.#task = task
    this.#state = state
    this.#left = [...due]
  }

  async run(): Promise<FetchResult> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#work()))
    return this
  }

  async #work(): Promise<void> {
    for (let due = this.#left.shift(); due && !this.stopped; due = this.#left.shift()) {
      try {
        await this.#fetch(due)
      } catch (error) {
        this.stopped ??= { error }
      }
    }
  }

  async #fetch(due: DueId): Promise<void> {
    await this.#fetchOrNote(due)
    const { sync, resource, counters } = this.#task
    sync.emit({ resource: resource.name, state: 'scanning', requests: counters.requests })
  }

  async #fetchOrNote(due: DueId): Promise<void> {
    const askedAt = now(this.#task.sync)
    try {
      await this.#land(due, askedAt)
      this.#state.hasRead = true
      this.#state.deniedInARow = 0
      this.#state.failedInARow = 0
    } catch (error) {
      if (due.isForEvents && error instanceof BudgetSpent && this.#isOnlyShareSpent) return
      this.#handle(error, due, askedAt)
      if (error instanceof AccessDenied) await this.#requireAccess(error)
    }
  }

  /** Only requests for events are refused, so the others continue. A spent day, deadline or minute ends them all. */
  get #isOnlyShareSpent(): boolean {
    const { client } = this.#task.sync
    return client.refusal('webhook') !== undefined && client.refusal(this.#state.purpose) === undefined
  }

  /**
   * Three refusals may concern just three records, so fetches stored ones as a control. Throws when none of these is
   * returned.
   */
  async #requireAccess(error: AccessDenied): Promise<void> {
    if (this.#state.hasRead || this.#state.deniedInARow < maxDenied) return
    const { sync, resource } = this.#task
    for (const id of await controlIds(sync.engine, resource, currentScope(this.#task)))
      if (await this.#answers(id)) {
        this.#state.hasRead = true
        return
      }
    throw error
  }

  async #answers(id: string): Promise<boolean> {
    const { sync, resource, counters } = this.#task
    const single = singleRead(resource)
    if (!single || !isSafeId(id)) return false
    counters.requests += 1
    try {
      await sync.client.getRecord(
        single.path.replace('{id}', () => encodeURIComponent(id)),
        single.query,
        this.#state,
      )
      return true
    } catch (error) {
      if (isAboutOne(error)) return false
      throw error
    }
  }

  async #land({ record_id: asked, expected, isForEvents }: DueId, askedAt: string): Promise<void> {
    const { sync, resource, counters } = this.#task
    const single = singleRead(resource)
    if (!single || !isSafeId(asked)) throw new Error(`${resource.name} ${asked} cannot be read by id`)
    const path = single.path.replace('{id}', () => encodeURIComponent(asked))
    const options = isForEvents ? { purpose: 'webhook' as const } : this.#state
    const { bytes, record, fetchedAt } = await sync.client.getRecord(path, single.query, options)
    counters.requests += 1
    const recordId = typeof record.id === 'string' && isSafeId(record.id) ? record.id : asked
    this.#state.sequence += 1
    const { sequence, scanId } = this.#state
    const arrived = { sequence, page: 1, fetchedAt, runId: sync.runId, bytes }
    const page = await sync.landing.land(scanId, arrived)
    this.records.push({ page, asked, recordId, askedAt, ...(expected && { expected }) })
  }

  /** Stores an error about one record; throws an error that affects all of them. */
  #handle(error: unknown, due: DueId, askedAt: string): void {
    const isAnswer = isAboutOne(error) || error instanceof BadRequest
    if (!isAnswer && !(error instanceof RetriableError)) throw error
    this.#task.counters.requests += 1
    if (!isAnswer) {
      this.retryLater.push(due.record_id)
      this.#state.failedInARow += 1
      if (this.#state.failedInARow >= maxFailed) throw error
      return
    }
    this.#state.failedInARow = 0
    this.failed.push(this.#failedFetch(error, due, askedAt))
    this.#state.deniedInARow = error instanceof AccessDenied ? this.#state.deniedInARow + 1 : 0
  }

  #failedFetch(
    error: MusterError & { status: number | undefined },
    due: DueId,
    askedAt: string,
  ): FailedFetch {
    const nowMs = this.#task.sync.clock.now()
    return {
      recordId: due.record_id,
      askedAt,
      state: error instanceof NotFound ? 'missing' : 'refused',
      reason: `${error.report.what}${error.status === undefined ? '' : ` (${error.status})`}`,
      checkedAt: new Date(nowMs).toISOString(),
      retryAfter: new Date(nowMs + backOffDays(due.failures + 1) * dayMs).toISOString(),
    }
  }
}

/** Never throws: `stopped` has the error that ended it early, next to the records read until then. */
export function fetchRecords(
  task: ResourceTask,
  state: FetchState,
  due: readonly DueId[],
): Promise<FetchResult> {
  return new IdFetch(task, state, due).run()
}
