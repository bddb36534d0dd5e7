/**
 * Reads records that have no list. Their resources are read together, because records of one name ids of another: first
 * the records never fetched, then the stored ones that are worth another fetch.
 */
import type { Purpose } from '../../api/budget/day.ts'
import { readLimit } from '../../api/budget/event-share.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { type DueId, type DueQuestion, type DueTerms, dueIds } from '../../state/by-id/due.ts'
import { nextRecordLook, recordLook } from '../../state/evidence/quarantine-looks.ts'
import type { SyncContext } from '../run/context.ts'
import { currentScope } from '../run/key.ts'
import { endsRun, type HeldTask, holdTask, type ResourceOutcome } from '../run/task.ts'
import { type Allowance, allowance } from './allowance.ts'
import { Announcement } from './announcement.ts'
import { chooseStored, type StoredChoice } from './choose-stored.ts'
import { enoughToTell, type IdCounts, perTurn } from './ids-to-follow.ts'
import { outOfRequests, restOf } from './out-of-requests.ts'
import { RecordReader } from './record-reader.ts'
import { refetchPauseMs } from './refresh-worth.ts'
import { requireAnswers } from './unanswered.ts'

export interface ByIdRequest {
  /** Only records with a change signal: the purpose that pays for them has a budget of its own. */
  readonly onlySignalled?: boolean
  readonly purpose?: Purpose
}

/** One resource. Its failure leaves the others alone; the end of the budget ends all. */
export interface OpenResource {
  readonly held: HeldTask
  readonly reader: Pick<RecordReader, 'resume' | 'read' | 'close'>
  /** Ids that this run has requested. */
  readonly asked: Set<string>
  failure?: { readonly error: unknown }
}

interface Plan {
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

  constructor(sync: SyncContext, opened: readonly OpenResource[], plan: Plan) {
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
    if (!this.#onlySignalled) await this.#fetchForEvents()
    if (!this.#onlySignalled && !this.#isOver) {
      await this.#refresh()
      // A changed record may name new ids.
      await this.#fetchNew()
    }
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

  /** In turns, until no resource has a new id left. */
  async #fetchNew(): Promise<void> {
    let turn = enoughToTell
    for (let isBusy = true; isBusy && !this.#isOver; turn = perTurn) {
      isBusy = false
      if (!this.#onlySignalled) await this.#announce()
      for (const one of this.#open) {
        const due = await this.#dueOf(one, turn)
        await this.#read(one, due)
        isBusy ||= due.length > 0
      }
    }
  }

  /** Requests for events that a part of this run may send: a burst of them costs no more than their share of the day. */
  get #leftForEvents(): number {
    return readLimit(Math.min(this.#left, this.#sync.client.usage().leftForEvents), 0)
  }

  /** Ids that nothing but events has named: most may not exist. */
  async #fetchForEvents(): Promise<void> {
    let left = this.#leftForEvents
    for (const one of this.#open) {
      const due = await this.#dueOf(one, left, { isFromEvents: true })
      left -= due.length
      const paid = due.map(id => ({ ...id, isForEvents: true }))
      await this.#read(one, paid)
    }
  }

  async #announce(): Promise<void> {
    let counts: readonly IdCounts[] = []
    await this.#guard(this.#open, async () => {
      counts = await this.#announcement.count(this.#open, this.#terms)
    })
    const due = counts.reduce((sum, one) => sum + one.due, 0)
    // None is chosen before the due ones are fetched; as many as would be chosen now are likely to be.
    if (due > 0 && !this.#choice) this.#choiceToCome ??= await this.#choose(this.#left - due)
    const chosen = (this.#choice ?? this.#choiceToCome)?.chosen
    this.#announcement.tell(counts, this.#open, chosen)
  }

  #choose(requests: number): Promise<StoredChoice> {
    const resources = this.#open.map(({ held }) => held.task.resource)
    const budget = { requests, paced: this.#allowance.refresh, events: this.#leftForEvents }
    return chooseStored(this.#sync.engine, resources, { nowMs: this.#sync.clock.now(), budget })
  }

  async #dueOf(one: OpenResource, most: number, terms: Partial<DueTerms> = {}): Promise<readonly DueId[]> {
    let due: readonly DueId[] = []
    await this.#guard(one, async () => {
      due = await dueIds(this.#sync.engine, { ...this.#questionOf(one), ...terms }, perTurn)
    })
    // A record whose fetch failed stays due, but the next run retries it, not this one.
    return due.filter(({ record_id: id }) => !one.asked.has(id)).slice(0, most)
  }

  async #refresh(): Promise<void> {
    this.#choice = await this.#choose(this.#left)
    await this.#announce()
    for (const one of this.#open) {
      const due = this.#choice.chosen.get(one.held.task.resource.name) ?? []
      for (let from = 0; from < due.length; from += perTurn)
        await this.#read(one, due.slice(from, from + perTurn))
    }
  }

  /** For one quarantined record a day: it may have been mended without an event. */
  async #lookAgain(one: OpenResource): Promise<void> {
    await this.#guard(one, async () => {
      const { engine, clock, runId } = this.#sync
      const { name } = one.held.task.resource
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

  async #guard(by: OpenResource | readonly OpenResource[], work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // The budget is shared, so its end is no failure of this resource.
      if (error instanceof BudgetSpent) this.#spent = error
      else for (const one of [by].flat()) one.failure ??= { error }
    }
  }

  #questionOf({ held }: OpenResource): DueQuestion {
    return { resource: held.task.resource.name, ...this.#terms }
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
   * Records never fetched, and stored ones that events told of, are a reason to run again, if this run had no request left for
   * them; others that are worth another fetch are not.
   */
  async #reportRest(one: OpenResource): Promise<void> {
    const { task } = one.held
    const rest = await restOf(this.#sync.engine, this.#questionOf(one), this.#choice)
    const { name } = task.resource
    if (rest.words !== '') task.counters.note = rest.words
    if (!this.#onlySignalled) await requireAnswers(this.#sync.engine, this.#questionOf(one))
    const { client } = this.#sync
    if (rest.isWaiting && this.#left <= 0)
      one.failure = {
        error: outOfRequests(client, `${name}: ${rest.words}`, this.#spent ?? client.refusal(this.#purpose)),
      }
  }
}

/** Reads the records that are due, as far as the budget goes; resources in the order of the catalogue. */
export async function readRecords(
  sync: SyncContext,
  resources: readonly Resource[],
  { onlySignalled = false, purpose = 'sync' }: ByIdRequest,
): Promise<ResourceOutcome[]> {
  const outcomes: ResourceOutcome[] = []
  const opened: OpenResource[] = []
  for (const resource of resources) {
    const held = await holdTask(sync, resource)
    if ('task' in held) opened.push({ held, reader: new RecordReader(held.task, purpose), asked: new Set() })
    else outcomes.push(held)
  }
  try {
    const plan = { allowance: await allowance(sync, purpose), onlySignalled, purpose }
    await new ByIdRun(sync, opened, plan).run()
  } finally {
    for (const { held, failure } of opened) outcomes.push(await held.end(failure))
  }
  return outcomes
}
