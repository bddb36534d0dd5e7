/** The turns in which records are read by id: first what was never read, then what is worth reading again. */
import { formatNumber } from '../../lib/counted.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { countDue, type DueId, type DueQuestion, dueIds } from '../../state/by-id/due.ts'
import type { SyncContext } from '../run/context.ts'
import { endsRun } from '../run/ends-run.ts'
import { currentScope } from '../run/same-scope.ts'
import type { HeldTask } from '../run/task.ts'
import { chooseHeld, type HeldChoice } from './choose-held.ts'
import type { ReadById } from './read-by-id.ts'
import { ceilingMs } from './refresh.ts'
import type { Allowance } from './refresh-allowance.ts'

/** One resource. What goes wrong with it leaves the others alone; the end of the budget ends all. */
export interface Lane {
  readonly held: HeldTask
  readonly reader: ReadById
  /** Ids that this run asked for. */
  readonly asked: Set<string>
  failure?: { readonly error: unknown }
}

export interface HydrationPlan {
  readonly allowance: Allowance
  readonly onlySignalled: boolean
}

/** Of one resource in one turn: enough for a load to be worth it, few enough that none waits long for the others. */
const perTurn = 200

export class Hydration {
  readonly #sync: SyncContext
  readonly #lanes: readonly Lane[]
  readonly #plan: HydrationPlan
  /** Requests of this run before the first of these. */
  readonly #before: number
  #spent = false
  #choice: HeldChoice | undefined

  constructor(sync: SyncContext, lanes: readonly Lane[], plan: HydrationPlan) {
    this.#sync = sync
    this.#lanes = lanes
    this.#plan = plan
    this.#before = sync.client.usage().requestsThisRun
  }

  async run(): Promise<void> {
    for (const lane of this.#lanes) await this.#guard(lane, () => lane.reader.resume())
    await this.#readUnseen()
    if (!this.#plan.onlySignalled && !this.#isOver) {
      await this.#readAgain()
      // What changed may name others.
      await this.#readUnseen()
    }
    for (const lane of this.#lanes) await this.#guard(lane, () => lane.reader.close())
    for (const lane of this.#open) {
      await this.#tellLeft(lane).catch(error => {
        lane.failure = { error }
      })
    }
  }

  get #open(): readonly Lane[] {
    return this.#lanes.filter(({ failure }) => failure === undefined)
  }

  get #isOver(): boolean {
    const isEnded = this.#lanes.some(({ failure }) => endsRun(failure?.error))
    return isEnded || this.#sync.signal.aborted || this.#left <= 0
  }

  /** Requests that this run may still spend on records. */
  get #left(): number {
    if (this.#spent) return 0
    const { spendable, requestsThisRun } = this.#sync.client.usage()
    const { unseen } = this.#plan.allowance
    return Math.min(unseen - (requestsThisRun - this.#before), unseen === Infinity ? Infinity : spendable)
  }

  /** In turns: what one resource brings names ids of others. */
  async #readUnseen(): Promise<void> {
    for (let isBusy = true; isBusy && !this.#isOver; ) {
      isBusy = false
      for (const lane of this.#open) {
        const due = await this.#dueOf(lane)
        await this.#read(lane, due)
        isBusy ||= due.length > 0
      }
    }
  }

  async #dueOf(lane: Lane): Promise<readonly DueId[]> {
    let due: readonly DueId[] = []
    await this.#guard(lane, async () => {
      due = await dueIds(this.#sync.engine, this.#questionOf(lane), perTurn)
    })
    // One that the service fails on stays due: the next run asks for it again, not this one.
    return due.filter(({ record_id: id }) => !lane.asked.has(id))
  }

  async #readAgain(): Promise<void> {
    const budget = { requests: this.#left, paced: this.#plan.allowance.refresh }
    const resources = this.#open.map(({ held }) => held.task.resource)
    const nowMs = this.#sync.clock.now()
    this.#choice = await chooseHeld(this.#sync.engine, resources, { nowMs, budget })
    for (const lane of this.#open) {
      const due = this.#choice.chosen.get(lane.held.task.resource.name) ?? []
      for (let from = 0; from < due.length; from += perTurn)
        await this.#read(lane, due.slice(from, from + perTurn))
    }
  }

  async #read(lane: Lane, due: readonly DueId[]): Promise<void> {
    if (due.length === 0 || lane.failure || this.#isOver) return
    const turn = due.slice(0, this.#left)
    for (const { record_id: id } of turn) lane.asked.add(id)
    await this.#guard(lane, () => lane.reader.read(turn))
  }

  async #guard(lane: Lane, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // What is left of the budget is for all of them.
      if (error instanceof BudgetSpent) this.#spent = true
      else lane.failure ??= { error }
    }
  }

  #questionOf({ held }: Lane): DueQuestion {
    const now = this.#sync.clock.now()
    return {
      resource: held.task.resource.name,
      keyScope: currentScope({ sync: this.#sync }),
      at: new Date(now).toISOString(),
      fetchedBefore: new Date(now - ceilingMs).toISOString(),
      onlySignalled: this.#plan.onlySignalled,
    }
  }

  /** What was never read is a reason to run again; what is only to be read again is not. */
  async #tellLeft(lane: Lane): Promise<void> {
    const { task } = lane.held
    const { unseen, again: due } = await countDue(this.#sync.engine, this.#questionOf(lane))
    const { worth, chosen } = this.#choice ?? {}
    const { name } = task.resource
    const again = due + (worth?.get(name) ?? 0) - (chosen?.get(name)?.length ?? 0)
    const words = [
      unseen > 0 && `${formatNumber(unseen)} not read yet`,
      again > 0 && `${formatNumber(again)} to read again`,
    ]
    const left = words.filter(word => word !== false).join(', ')
    if (left !== '') task.tally.note = left
    if (unseen > 0 && this.#left <= 0)
      throw new BudgetSpent({
        what: `the budget ends with ${left}`,
        next: 'everything read so far is loaded; run again to go on',
      })
  }
}
