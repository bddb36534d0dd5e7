/** One connection shared by many: statements in turn, exclusive blocks, and transactions that never commit by halves. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import PQueue from 'p-queue'

/** What takes long lets everybody who waits go first: what holds up the reading of pages waits for one merge, not for all. */
export type Haste = 'short' | 'long'

const priorities: Readonly<Record<Haste, number>> = { short: 1, long: 0 }

export interface Turns {
  /** Waits for its turn; inside an exclusive block it runs at once. */
  exclusive<Result>(work: () => Promise<Result>, haste?: Haste): Promise<Result>
  /** One statement; a failure inside a transaction is remembered, so that the transaction cannot commit. */
  statement<Result>(work: () => Promise<Result>): Promise<Result>
  transaction<Result>(work: () => Promise<Result>, haste?: Haste): Promise<Result>
  /** Whether the caller is in an exclusive block. */
  isInside(): boolean
  onIdle(): Promise<void>
}

interface Control {
  begin(): Promise<unknown>
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
}

/** What an exclusive block knows of the transaction that it is in. */
interface Block {
  failure?: { readonly error: unknown } | undefined
}

export function createTurns({ begin, commit, rollback }: Control): Turns {
  const queue = new PQueue({ concurrency: 1 })
  // A statement inside an exclusive block must not wait for the block's own turn.
  const inside = new AsyncLocalStorage<Block>()
  const exclusive = <Result>(work: () => Promise<Result>, haste: Haste = 'short'): Promise<Result> =>
    inside.getStore()
      ? work()
      : // Whoever ends before would otherwise lend its own context, and with it its place in other queues.
        queue.add(
          AsyncResource.bind(() => inside.run({}, work)),
          { priority: priorities[haste] },
        )

  const statement = <Result>(work: () => Promise<Result>): Promise<Result> =>
    exclusive(async () => {
      try {
        return await work()
      } catch (error) {
        const block = inside.getStore()
        if (block) block.failure ??= { error }
        throw error
      }
    })

  const transaction = <Result>(work: () => Promise<Result>, haste?: Haste): Promise<Result> =>
    exclusive(async () => {
      const block = inside.getStore() as Block
      block.failure = undefined
      await begin()
      try {
        const result = await work()
        // Both engines answer COMMIT after a failed statement with a silent rollback.
        if (block.failure) throw (block.failure as { error: unknown }).error
        await commit()
        return result
      } catch (error) {
        // A failed COMMIT has already ended the transaction; the first error is the one to report.
        await rollback().catch(() => undefined)
        throw error
      } finally {
        block.failure = undefined
      }
    }, haste)
  return {
    exclusive,
    statement,
    transaction,
    isInside: () => inside.getStore() !== undefined,
    onIdle: () => queue.onIdle(),
  }
}
