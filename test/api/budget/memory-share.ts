/** What several processes share of a key, in memory: notes what it is asked and told. */
import type { SharedFigures, SharedRequests, Slot } from '../../../src/api/budget/shared-requests.ts'

export const atOnce: Slot = { waitMs: 0, lateMs: 1_000 }

export interface MemoryShare extends SharedRequests {
  readonly calls: readonly (readonly unknown[])[]
}

/** The slots in order, then slots that start at once. */
export function memoryShare({
  slots = [],
  figures = {},
}: {
  readonly slots?: readonly (Slot | undefined)[]
  readonly figures?: Partial<SharedFigures>
} = {}): MemoryShare {
  const calls: unknown[][] = []
  const left = [...slots]
  return {
    calls,
    figures: { perDay: 1_000, remaining: 400, spendable: 150, forEvents: 30, ...figures },
    take: async (purpose, asksLimits) => {
      calls.push(['take', purpose, asksLimits])
      return left.length > 0 ? left.shift() : atOnce
    },
    giveBack: async purpose => void calls.push(['giveBack', purpose]),
    learnLimits: async me => void calls.push(['told', me]),
    pause: async ms => void calls.push(['pause', ms]),
  }
}
