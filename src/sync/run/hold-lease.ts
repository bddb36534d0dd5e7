/** Holding on to the lease of a resource: renewed while a task waits, and asked for by whatever it writes. */

import { type Lease, renewLease } from '../../state/runs/leases.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { ResourceTask } from './context.ts'

/** Ledger rows beside a load: they commit only while the lease holds. */
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
 * Every load renews the lease; this does so in between, for a walk that waits for its budget or a batch that stages for
 * long. Returns how to end it. What goes wrong here goes wrong again, and is told, when the task next writes.
 */
export function keepRenewing(engine: Engine, lease: Lease): () => Promise<void> {
  let renewing: Promise<void> | undefined
  const timer = setInterval(() => {
    renewing ??= renewLease(engine, lease)
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
