/** Live mode: changes the world in the background until it is stopped. */
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { Raise } from '../events/audience.ts'
import type { LiveOptions } from '../server/settings.ts'
import type { World } from '../world.ts'
import { mutateWorld } from './mutate-world.ts'

/** Changes come in bursts of this length: finer timers cost more than the changes. */
const burstMs = 50

interface Life {
  readonly live: LiveOptions
  readonly clock: Clock
  readonly raise: Raise
}

export function keepChanging(world: World, life: Life): { stop(): Promise<void> } {
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

async function run(world: World, { live, clock, raise }: Life, signal: AbortSignal): Promise<void> {
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
