/**
 * Reads records that have no list. Reads all such resources together, because their records refer to each other: first
 * the records never fetched, then the stored ones that are worth another fetch. At the end it reports what is left, and
 * why.
 */
import { type Purpose, readLimit } from '../../api/budget/day.ts'
import type { Client } from '../../api/client/client.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import {
  countDue,
  countSignalled,
  countUnanswered,
  type DueId,
  type DueQuery,
  type DueTerms,
  dueIds,
  refusedIds,
} from '../../state/by-id/due.ts'
import { nextRecordLook, recordLook } from '../../state/evidence/quarantine-looks.ts'
import { chunks } from '../../state/ledger.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { SyncContext } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { currentScope } from '../run/key.ts'
import { endsRun, type LockedTask, lockTask, type ResourceResult } from '../run/task.ts'
import { type Allowance, allowance } from './allowance.ts'
import { Announcement } from './announcement.ts'
import { chooseStored, type StoredChoice } from './choose-stored.ts'
import { minSample, perTurn } from './expected-ids.ts'
import { RecordReader } from './record-reader.ts'
import { refetchPauseMs } from './refresh-worth.ts'

/** Throws Incomplete for ids for which no run has got a response. */
export async function requireAnswers(engine: Engine, query: DueQuery): Promise<void> {
  const { unanswered, known } = await countUnanswered(engine, query)
  if (unanswered === 0) return
  throw new Incomplete({
    resource: query.resource,
    seen: known - unanswered,
    expected: known,
    reason: `the service failed to return ${formatNumber(unanswered)} of them`,
    next: 'they are fetched again after an hour; report it to the service if it persists',
  })
}

interface RemainingWork {
  /** Empty when nothing is left. */
  readonly words: string
  /** Whether records are left that are not stored, or are stored as they were before an event. */
  readonly isWaiting: boolean
  /** Ids that only events refer to, and that may not exist. */
  readonly ofEvents: number
}

/** Describes what a run leaves undone in one resource. */
export async function restOf(
  engine: Engine,
  query: DueQuery,
  choice: StoredChoice | undefined,
): Promise<RemainingWork> {
  const { resource, onlySignalled = false } = query
  const { neverFetched, again: due } = await countDue(engine, query)
  const signalled = onlySignalled ? 0 : await countSignalled(engine, query)
  const ofEvents = onlySignalled ? 0 : (await countDue(engine, { ...query, isFromEvents: true })).neverFetched
  const again = due + (choice?.worth.get(resource) ?? 0) - (choice?.chosen.get(resource)?.length ?? 0)
  const refused = onlySignalled ? [] : await refusedIds(engine, resource)
  const parts = [
    neverFetched > 0 && `${formatNumber(neverFetched)} never fetched`,
    again > 0 && `${formatNumber(again)} to fetch again`,
    signalled > 0 && `${formatNumber(signalled)} changed by events`,
    ofEvents > 0 && `${formatNumber(ofEvents)} named by events only, which have a share of the day`,
    ...refused.map(({ ids, reason }) => `${formatNumber(ids)} refused: ${reason}`),
  ]
  const words = parts.filter(part => part !== false).join(', ')
  return { words, isWaiting: signalled + neverFetched > 0, ofEvents }
}

/**
 * `rest` describes what is left; `reason` is the budget, the deadline, the quota or a backoff, if one of them ended the
 * run.
 */
export function outOfRequests(client: Client, rest: string, reason: BudgetSpent | undefined): BudgetSpent {
  if (reason)
    return new BudgetSpent({ ...reason.report, what: `${rest}, as ${reason.report.what}`, cause: reason })
  const { spendable, resetsAt } = client.usage()
  return new BudgetSpent({
    what: `${rest}, as the other ${counted(spendable, 'request')} of today are reserved for the lists of later runs`,
    next: `everything read so far is loaded; the next run continues, after ${clockTime(resetsAt)} at the latest`,
  })
}

export interface ByIdRequest {
  /** Only records with a change signal: their purpose has its own budget. */
  readonly onlySignalled?: boolean
  readonly purpose?: Purpose
}

/** One resource. Its failure does not affect the others; the end of the budget ends all. */
export interface OpenResource {
  readonly locked: LockedTask
  readonly reader: Pick<RecordReader, 'resume' | 'read' | 'close'>
  /** Ids that this run has requested. */
  readonly asked: Set<string>
  failure?: { readonly error: unknown }
}

interface ByIdPlan {
  readonly allowance: Allowance
  readonly onlySignalled: boolean
  readonly purpose: Purpose
}

export class ByIdRun {
  readonly #sync: SyncContext
  readonly #resources: readonly OpenResource[]
  readonly #allowance: Allowance
  readonly #onlySignalled: boolean
  readonly #purpose: Purpose
  /** Requests that this run had sent before. */
  readonly #before: number
  #spent: BudgetSpent | undefined
  #choice: StoredChoice | undefined
  #choiceToCome: StoredChoice | undefined
  readonly #announcement: Announcement

  constructor(sync: SyncContext, opened: readonly OpenResource[], plan: ByIdPlan) {
    this.#sync = sync
    this.#resources = opened
    this.#allowance = plan.allowance
    this.#onlySignalled = plan.onlySignalled
    this.#purpose = plan.purpose
    this.#before = sync.client.usage().requestsThisRun
    this.#announcement = new Announcement(sync)
  }

  async run(): Promise<void> {
    for (const one of this.#resources) await this.#guard(one, () => one.reader.resume())
    if (!this.#onlySignalled) for (const one of this.#open) await this.#lookAgain(one)
    await this.#fetchNew()
    if (!this.#onlySignalled) await this.#fetchOthers()
    for (const one of this.#resources) await this.#guard(one, () => one.reader.close())
    for (const one of this.#open) await this.#guard(one, () => this.#reportRest(one))
  }

  get #open(): readonly OpenResource[] {
    return this.#resources.filter(({ failure }) => failure === undefined)
  }

  get #isOver(): boolean {
    const isEnded = this.#resources.some(({ failure }) => endsRun(failure?.error))
    return isEnded || this.#sync.signal.aborted || this.#left <= 0
  }

  /** Requests that this run may still spend on records. */
  get #left(): number {
    if (this.#spent) return 0
    const { spendable, requestsThisRun } = this.#sync.client.usage()
    const { inAll } = this.#allowance
    return Math.min(inAll - (requestsThisRun - this.#before), inAll === Infinity ? Infinity : spendable)
  }

  /** After the records that are due. */
  async #fetchOthers(): Promise<void> {
    await this.#fetchForEvents()
    if (this.#isOver) return
    await this.#refresh()
    // A changed record may refer to new ids.
    await this.#fetchNew()
  }

  /** Takes turns until no resource has a new id left. */
  async #fetchNew(): Promise<void> {
    let turn = minSample
    for (let isBusy = true; isBusy && !this.#isOver; turn = perTurn) {
      isBusy = false
      if (!this.#onlySignalled) await this.#announce()
      for (const one of this.#open)
        await this.#guard(one, async () => {
          const due = await this.#dueOf(one, turn)
          await this.#read(one, due)
          isBusy ||= due.length > 0
        })
    }
  }

  /**
   * Requests for events that this part of the run may send: a burst of events cannot cost more than their share of the
   * day.
   */
  get #leftForEvents(): number {
    return readLimit(Math.min(this.#left, this.#sync.client.usage().leftForEvents), 0)
  }

  /** Fetches ids that only events refer to: most may not exist. */
  async #fetchForEvents(): Promise<void> {
    let left = this.#leftForEvents
    for (const one of this.#open)
      await this.#guard(one, async () => {
        const due = await this.#dueOf(one, left, { isFromEvents: true })
        left -= due.length
        const paid = due.map(id => ({ ...id, isForEvents: true }))
        await this.#read(one, paid)
      })
  }

  async #announce(): Promise<void> {
    const open = this.#open
    const counts = await this.#guard(open, () => this.#announcement.count(open, this.#terms))
    if (!counts) return
    const due = [...counts.values()].reduce((sum, one) => sum + one.due, 0)
    // Stored records are chosen only after the due ones are fetched; until then, estimate how many.
    if (due > 0 && !this.#choice) this.#choiceToCome ??= await this.#choose(this.#left - due)
    this.#announcement.emitCounts(counts, (this.#choice ?? this.#choiceToCome)?.chosen)
  }

  #choose(requests: number): Promise<StoredChoice> {
    const resources = this.#open.map(({ locked }) => locked.task.resource)
    const budget = { requests, paced: this.#allowance.refresh, events: this.#leftForEvents }
    return chooseStored(this.#sync.engine, resources, { nowMs: this.#sync.clock.now(), budget })
  }

  async #dueOf(one: OpenResource, max: number, terms: Partial<DueTerms> = {}): Promise<readonly DueId[]> {
    const due = await dueIds(this.#sync.engine, { ...this.#dueQueryOf(one), ...terms }, perTurn)
    // A record whose fetch failed stays due, but the next run retries it, not this one.
    return due.filter(({ record_id: id }) => !one.asked.has(id)).slice(0, max)
  }

  async #refresh(): Promise<void> {
    this.#choice = await this.#choose(this.#left)
    await this.#announce()
    const { chosen } = this.#choice
    for (const one of this.#open)
      for (const due of chunks(chosen.get(one.locked.task.resource.name) ?? [], perTurn))
        await this.#read(one, due)
  }

  /** Fetches one quarantined record a day: it may have been fixed without an event. */
  async #lookAgain(one: OpenResource): Promise<void> {
    await this.#guard(one, async () => {
      const { engine, clock, runId } = this.#sync
      const { name } = one.locked.task.resource
      const id = await nextRecordLook(engine, { resource: name, now: clock.now(), runId })
      if (id === undefined || !isSafeId(id)) return
      await this.#read(one, [{ record_id: id, state: 'stored', failures: 0 }])
      const lookedAt = new Date(clock.now()).toISOString()
      await recordLook(engine, { resource: name, looked_at: lookedAt, place: id, page: 1, total: 1 })
    })
  }

  async #read(one: OpenResource, due: readonly DueId[]): Promise<void> {
    if (due.length === 0 || one.failure || this.#isOver) return
    const turn = due.slice(0, this.#left)
    for (const { record_id: id } of turn) one.asked.add(id)
    await this.#guard(one, () => one.reader.read(turn))
  }

  /** Undefined after a failure. */
  async #guard<Result>(
    by: OpenResource | readonly OpenResource[],
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      // The budget is shared, so its end is not a failure of this resource.
      if (error instanceof BudgetSpent) this.#spent = error
      else for (const one of [by].flat()) one.failure ??= { error }
      return undefined
    }
  }

  #dueQueryOf({ locked }: OpenResource): DueQuery {
    return { resource: locked.task.resource.name, ...this.#terms }
  }

  get #terms(): DueTerms {
    const now = this.#sync.clock.now()
    return {
      keyScope: currentScope({ sync: this.#sync }),
      at: new Date(now).toISOString(),
      fetchedBefore: new Date(now - refetchPauseMs).toISOString(),
      ...(this.#onlySignalled ? { onlySignalled: true } : { isFromEvents: false }),
    }
  }

  /**
   * Records never fetched, and stored ones with a change signal, are a reason to run again if this run had no requests
   * left for them. Other records worth another fetch are not. Ids that only events refer to are a reason if their
   * reading was interrupted.
   */
  async #reportRest(one: OpenResource): Promise<void> {
    const { task } = one.locked
    const rest = await restOf(this.#sync.engine, this.#dueQueryOf(one), this.#choice)
    const { name } = task.resource
    if (rest.words !== '') task.counters.note = rest.words
    if (!this.#onlySignalled) await requireAnswers(this.#sync.engine, this.#dueQueryOf(one))
    const { client } = this.#sync
    const isCutOff = this.#spent !== undefined && rest.ofEvents > 0
    if (isCutOff || (rest.isWaiting && this.#left <= 0))
      one.failure = {
        error: outOfRequests(client, `${name}: ${rest.words}`, this.#spent ?? client.refusal(this.#purpose)),
      }
  }
}

/** Reads the records that are due, as far as the budget allows; resources in the order of the catalogue. */
export async function readRecords(
  sync: SyncContext,
  resources: readonly Resource[],
  { onlySignalled = false, purpose = 'sync' }: ByIdRequest,
): Promise<ResourceResult[]> {
  const results: ResourceResult[] = []
  const opened: OpenResource[] = []
  for (const resource of resources) {
    const locked = await lockTask(sync, resource)
    if ('task' in locked)
      opened.push({ locked, reader: new RecordReader(locked.task, purpose), asked: new Set() })
    else results.push(locked)
  }
  try {
    const plan = { allowance: await allowance(sync, purpose), onlySignalled, purpose }
    await new ByIdRun(sync, opened, plan).run()
  } finally {
    for (const { locked, failure } of opened) results.push(await locked.end(failure))
  }
  return results
}
