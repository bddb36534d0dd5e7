/** Live mode: changes the world in the background until stopped. */
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { LiveOptions } from '../options.ts'
import type { World } from '../world.ts'
import { mutateWorld } from './mutate-world.ts'

/** Changes come in bursts of this length: finer timers cost more than the changes. */
const BURST_MS = 50

export function keepChanging(world: World, clock: Clock, live: LiveOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const running = run(world, clock, { live, signal: stopping.signal }).catch(error => {
    if (!stopping.signal.aborted) throw error
  })
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function run(
  world: World,
  clock: Clock,
  { live, signal }: { live: LiveOptions; signal: AbortSignal },
): Promise<void> {
  const rng = namedRng(live.seed ?? 1, 'live')
  let last = clock.now()
  let owed = 0
  while (!signal.aborted) {
    await clock.sleep(BURST_MS, signal)
    const nowMs = clock.now()
    owed += ((nowMs - last) / 1000) * live.changesPerSecond
    last = nowMs
    const count = Math.floor(owed)
    owed -= count
    if (count > 0) mutateWorld(world, { rng, nowMs, count, deletions: live.deletions ?? false })
  }
}
