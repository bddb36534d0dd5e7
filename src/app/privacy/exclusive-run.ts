/** Runs a command that rewrites stored data: recorded, and with no other writer beside it. */
import { programVersion } from '../../lib/package.ts'
import { leaseWarehouse } from '../../state/runs/leases.ts'
import { newRunId, startRun, updateRun } from '../../state/runs/runs.ts'
import { defaultLeaseMs } from '../../sync/run/context.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { RuntimeContext } from '../runtime-context.ts'

interface RewritingWork<Result> {
  readonly command: 'forget' | 'clean'
  readonly work: () => Promise<Result>
}

/** Records a run; its row does not say what was removed. */
export async function asRun<Result>(
  engine: Engine,
  { clock, rng }: RuntimeContext,
  { command, work }: RewritingWork<Result>,
): Promise<Result> {
  const runId = newRunId(clock, rng)
  const now = (): string => new Date(clock.now()).toISOString()
  await startRun(engine, { runId, command, arguments: '', startedAt: now(), version: programVersion })
  try {
    const done = await work()
    await updateRun(engine, runId, { state: 'done', finished_at: now() })
    return done
  } catch (error) {
    await updateRun(engine, runId, { state: 'failed', finished_at: now(), message: 'run it again to finish' })
    throw error
  }
}

/**
 * Keeps other writers of a server away: a replay, or a run that began earlier, would bring back rows from pages that it has
 * read. A file has its own lock.
 */
export async function alone<Result>(
  engine: Engine,
  { clock, rng }: RuntimeContext,
  { command, work }: RewritingWork<Result>,
): Promise<Result> {
  if (!engine.isShared) return work()
  const holder = `${command}-${newRunId(clock, rng)}`
  const leases = await leaseWarehouse(engine, { holder, ms: defaultLeaseMs, work: 'written' })
  try {
    return await work()
  } finally {
    await leases.release()
  }
}
