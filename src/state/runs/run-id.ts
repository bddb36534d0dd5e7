/** Names of runs: sortable by their start, and different for two of one millisecond. */
import type { Clock } from '../../lib/clock.ts'
import type { Rng } from '../../lib/rng.ts'

export function newRunId(clock: Clock, rng: Rng): string {
  const letters = Math.floor(rng() * 36 ** 4)
    .toString(36)
    .padStart(4, '0')
  return `${new Date(clock.now()).toISOString().replace(/[-:.]/g, '')}-${letters}`
}
