/** Makes plausible changes to a world while a client reads it, on request or continuously. */
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { EventRaiser } from '../events/audience.ts'
import type { LiveOptions } from '../server/settings.ts'
import type { World } from '../world.ts'
import { ChangeContext, type Occasion, type RecordChange } from './change.ts'
import { transitions } from './transitions.ts'

/** Maximum draws of a transition that finds a record; after them, a record is saved unchanged. */
const attempts = 20

interface Mutation extends Occasion {
  readonly count: number
  readonly deletions?: boolean
}

/** Returns the changed records in order: one change may touch two (an expense and its timesheet). */
export function mutateWorld(world: World, mutation: Mutation): readonly RecordChange[] {
  const context = new ChangeContext(world, mutation)
  const possible = transitions
    .filter(({ write }) => mutation.deletions || write !== 'remove')
    .map(transition => [transition, transition.chance] as const)
  const changeOnce = () => context.draw.weighted(possible).apply(context)
  for (let done = 0; done < mutation.count; done += 1) {
    let left = attempts
    while (left > 0 && !changeOnce()) left -= 1
    if (left === 0) touchRecord(context)
  }
  return context.changes
}

/** Any record with another time of change. */
function touchRecord(context: ChangeContext): void {
  for (const collection of ['timesheets', 'expenses', 'invoices', 'projects'] as const) {
    const record = context.world.at(collection, context.draw.fraction())
    if (!record) continue
    context.update(collection, record)
    return
  }
}

/** Changes come in bursts of this length: finer timers cost more than the changes. */
const burstMs = 50

interface LiveContext {
  readonly live: LiveOptions
  readonly clock: Clock
  readonly raise: EventRaiser
}

/** Changes the world in the background until it is stopped. */
export function keepChanging(world: World, life: LiveContext): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const running = run(world, life, stopping.signal).catch(error => {
    if (!stopping.signal.aborted) throw error
  })
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function run(world: World, { live, clock, raise }: LiveContext, signal: AbortSignal): Promise<void> {
  const rng = namedRng(live.seed ?? 1, 'live')
  let last = clock.now()
  let owed = 0
  while (!signal.aborted) {
    await clock.sleep(burstMs, signal)
    const nowMs = clock.now()
    owed += ((nowMs - last) / 1000) * live.changesPerSecond
    last = nowMs
    const count = Math.floor(owed)
    owed -= count
    if (count > 0) mutateWorld(world, { rng, nowMs, count, deletions: live.deletions ?? false, raise })
  }
}
