/** A clock by which only the work of this process and its waits take time, not other processes of a busy machine. */
import type { Clock } from '../../src/lib/clock.ts'

/** Real time in which answers that are under way arrive before a wait is skipped. */
const settlingMs = 1_500

export function workClock(): Clock & { move(ms: number): void } {
  const startedMs = Date.now()
  let skippedMs = 0
  const now = (): number => {
    const { user, system } = process.cpuUsage()
    return Math.round(startedMs + skippedMs + (user + system) / 1_000)
  }
  return {
    now,
    sleep: async ms => {
      const until = now() + ms
      await new Promise(resolve => setTimeout(resolve, Math.min(ms, settlingMs)))
      skippedMs += Math.max(0, until - now())
    },
    move: ms => {
      skippedMs += ms
    },
  }
}
