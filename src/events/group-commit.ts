/** Group commit: items that arrive during a write go together into the next one. */
import { MusterError } from '../lib/errors.ts'

/** Most items that may wait, so that a hanging store does not fill the memory. */
const mostWaiting = 20_000
/** Most items of one write, so that their senders get their answers soon. */
const mostTogether = 2000

interface Waiting<Item> {
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
  const waiting: Waiting<Item>[] = []
  let working: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    // Waits one turn of the event loop, so that requests that were read together are written together.
    await new Promise(resolve => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostTogether)
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
      if (waiting.length >= mostWaiting)
        return Promise.reject(
          new MusterError({
            what: `${mostWaiting} events wait to be stored`,
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
