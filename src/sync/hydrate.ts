/** Records that are read by id, in turns: what one brings names others. */
import type { Purpose } from '../api/day.ts'
import { KeyRefused } from '../api/errors.ts'
import { BudgetSpent, ConfigError, DiskFull } from '../lib/errors.ts'
import type { Resource } from '../resources/resource.ts'
import { countDue, type DueId, type DueQuestion, dueIds } from '../warehouse/ledger/due.ts'
import type { SyncContext } from './context.ts'
import { keyScope } from './key-scope.ts'
import { ReadById } from './read-by-id.ts'
import { type HeldTask, holdTask, type ResourceOutcome } from './task.ts'

export interface HydrateRequest {
  readonly onlySignalled?: boolean
  readonly purpose?: Purpose
}

/** Of one resource in one turn: enough for a load to be worth it, few enough that none waits long for the others. */
const perTurn = 200

/** Few and telling first: a trade brings its rates, and orders and credit notes are known from events only. */
const turns = ['trades', 'purchase-orders', 'credit-notes', 'requisitions', 'assignments', 'rates']

/** Milliseconds between two requests for one record at least, whatever is signalled. */
const ceilingMs = 60_000

/** What concerns every other request as well. */
const endsRun = (error: unknown): boolean =>
  [KeyRefused, ConfigError, DiskFull].some(reason => error instanceof reason)

/** Ends of one resource leave the others alone; the end of the budget ends all. */
interface Lane {
  readonly held: HeldTask
  readonly reader: ReadById
  failure?: { readonly error: unknown }
}

class Hydration {
  readonly #sync: SyncContext
  readonly #lanes: readonly Lane[]
  #spent: BudgetSpent | undefined

  constructor(sync: SyncContext, lanes: readonly Lane[]) {
    this.#sync = sync
    this.#lanes = lanes
  }

  async run(): Promise<void> {
    for (const lane of this.#lanes) await this.#guard(lane, () => lane.reader.resume())
    let isBusy = true
    while (isBusy && !this.#isOver) {
      isBusy = false
      for (const lane of this.#open) isBusy = (await this.#turn(lane)) || isBusy
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
    return this.#spent ? 0 : this.#sync.client.usage().spendable
  }

  /** Returns whether anything was asked. */
  async #turn(lane: Lane): Promise<boolean> {
    const most = Math.min(perTurn, this.#left)
    if (lane.failure || this.#isOver || most <= 0) return false
    let due: readonly DueId[] = []
    await this.#guard(lane, async () => {
      due = await dueIds(this.#sync.engine, questionOf(this.#sync, lane), most)
      if (due.length > 0) await lane.reader.read(due)
    })
    return due.length > 0
  }

  async #guard(lane: Lane, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // What is left of the budget is for all of them.
      if (error instanceof BudgetSpent) this.#spent = error
      else lane.failure ??= { error }
    }
  }

  /** What was never read is a reason to run again; what is only to be read again is not. */
  async #tellLeft({ held: { task } }: Lane): Promise<void> {
    const { unseen, again } = await countDue(this.#sync.engine, questionOf(this.#sync, { held: { task } }))
    const words = [
      unseen > 0 && `${count(unseen)} not read yet`,
      again > 0 && `${count(again)} to read again`,
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

function questionOf(sync: SyncContext, { held }: { readonly held: Pick<HeldTask, 'task'> }): DueQuestion {
  return {
    resource: held.task.resource.name,
    keyScope: keyScope(sync),
    at: new Date(sync.clock.now()).toISOString(),
    fetchedBefore: new Date(sync.clock.now() - ceilingMs).toISOString(),
  }
}

const count = (ids: number): string => ids.toLocaleString('en')

const inTurn = (resources: readonly Resource[]): Resource[] =>
  [...resources].sort((left, right) => turns.indexOf(left.name) - turns.indexOf(right.name))

/** Reads what is due of each, as far as the budget goes. */
export async function hydrateResources(
  sync: SyncContext,
  resources: readonly Resource[],
  request: HydrateRequest,
): Promise<ResourceOutcome[]> {
  const outcomes: ResourceOutcome[] = []
  const lanes: Lane[] = []
  for (const resource of inTurn(resources)) {
    const held = await holdTask(sync, resource)
    if ('task' in held) lanes.push({ held, reader: new ReadById(held.task, request.purpose ?? 'sync') })
    else outcomes.push(held)
  }
  try {
    await new Hydration(sync, lanes).run()
  } finally {
    for (const { held, failure } of lanes) outcomes.push(await held.end(failure))
  }
  return outcomes
}
