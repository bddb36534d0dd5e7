/** Holds the lease of a resource: nothing is written without it, and it is renewed while a task waits. */
import { type Lease, renewLease } from '../../state/runs/leases.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { ResourceTask } from './context.ts'

/** Writes ledger rows outside a load: they commit only while the lease is valid. */
export function fenced<Result>(
  { sync, lease }: Pick<ResourceTask, 'sync' | 'lease'>,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  return sync.engine.transaction(async engine => {
    const result = await work(engine)
    await renewLease(engine, lease)
    return result
  })
}

/**
 * Renews the lease between loads, which renew it themselves: while a scan waits for its budget, or a large batch is
 * staged. Returns a function that stops it.
 */
export function keepRenewing(engine: Engine, lease: Lease): () => Promise<void> {
  let renewing: Promise<void> | undefined
  const timer = setInterval(() => {
    renewing ??= renewLease(engine, lease)
      // The next write renews the lease too: it fails for the same reason, and reports it.
      .catch(() => undefined)
      .finally(() => {
        renewing = undefined
      })
  }, lease.ms / 3)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await renewing
  }
}
