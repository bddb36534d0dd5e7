/** Commits in groups: items that arrive during a write go into the next one together. */
import { MusterError } from '../lib/errors.ts'

/** Maximum waiting items, so that a hanging store does not fill the memory. */
const maxWaiting = 20_000
/** Maximum items of one write, so that senders get their answers soon. */
const maxTogether = 2000

interface WaitingItem<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

export interface GroupCommit<Item> {
  /** Resolves when the item is durable; rejects when it could not be stored. */
  add(item: Item): Promise<void>
  /** Resolves when nothing waits and nothing is being written. */
  onIdle(): Promise<void>
}

/** `write` resolves when all of its items are durable. */
export function groupCommit<Item>(write: (items: readonly Item[]) => Promise<void>): GroupCommit<Item> {
  const waiting: WaitingItem<Item>[] = []
  let working: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    // Waits one turn of the event loop, so that requests read together are written together.
    await new Promise(resolve => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.splice(0, maxTogether)
      try {
        await write(group.map(({ item }) => item))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    working = undefined
  }
  return {
    add(item) {
      if (waiting.length >= maxWaiting)
        return Promise.reject(
          new MusterError({
            what: `${maxWaiting} events wait to be stored`,
            next: 'the sender delivers the event again',
          }),
        )
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        working ??= writeAll()
      })
    },
    async onIdle() {
      while (working) await working
    },
  }
}
