/** The end of a run: its last ledger rows, and pages put away. */
import pRetry from 'p-retry'
import { compact, expire } from '../../landing/archive.ts'
import { MusterError } from '../../lib/errors.ts'
import { ledger } from '../../state/ledger.ts'
import { forgetSent, recordSent } from '../../state/requests/access.ts'
import { releaseLease, takeLease } from '../../state/runs/leases.ts'
import { updateRun } from '../../state/runs/runs.ts'
import type { RunRow } from '../../state/runs/tables.ts'
import { openScanIds } from '../../state/scans/scans.ts'
import { now, type SyncContext, usualLeaseMs } from './context.ts'

type Ending = Pick<SyncContext, 'engine' | 'clock' | 'landing' | 'runId' | 'sent'>

interface RunEnd {
  readonly change: Partial<RunRow>
  /** Archives older than this, in milliseconds since the epoch, go. */
  readonly keepAfter: number
}

/**
 * Pages of finished walks become archives. Those of this run wait for the next one: compressing them costs as much as
 * a third of loading them, and nothing reads them meanwhile. A walk under way keeps its files, so that it can resume;
 * and so does a run under way, which may be loading pages of a walk that the ledger does not know yet.
 */
async function finishedWalks({ engine, landing, runId }: Ending): Promise<string[]> {
  const open = await openScanIds(engine)
  const others = await ledger(engine)
    .selectFrom('ops.run')
    .select('run_id')
    .where('state', '=', 'running')
    .execute()
  const runs = [runId, ...others.map(row => row.run_id)]
  return landing.scans().filter(walk => !open.has(walk) && !runs.some(run => walk.startsWith(run)))
}

/** One process at a time; who finds another at it leaves it to that one. */
async function putAway(ending: Ending, keepAfter: number): Promise<void> {
  const { engine, landing, runId } = ending
  const lease = await takeLease(engine, { resource: 'landing', holder: runId, ms: usualLeaseMs }).catch(
    error => {
      if (!(error instanceof MusterError)) throw error
    },
  )
  if (!lease) return
  try {
    await compact(landing, await finishedWalks(ending))
    expire(landing, keepAfter)
  } finally {
    await releaseLease(engine, lease)
  }
}

/** A server that restarts is back within seconds: four more attempts, one a second. */
const serverRestarts = { retries: 4, minTimeout: 1000, factor: 1 }

/** Returns why the end could not be recorded: the next run then finds this one gone, and says so. */
export async function recordEnd(
  sync: Ending,
  { change, keepAfter }: RunEnd,
): Promise<MusterError | undefined> {
  const { engine, clock } = sync
  const last = async (): Promise<void> => {
    await recordSent(engine, sync.sent)
    await forgetSent(engine, clock.now())
    await updateRun(engine, sync.runId, { ...change, finished_at: now(sync) })
  }
  try {
    await (engine.reconnects ? pRetry(last, serverRestarts) : last())
    await putAway(sync, keepAfter)
    return undefined
  } catch (error) {
    return error as MusterError
  }
}
