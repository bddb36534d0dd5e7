/** The end of a run: its last ledger rows, and the pages of finished scans are archived. */
import pRetry from 'p-retry'
import { compact, expire } from '../../landing/archive.ts'
import { MusterError } from '../../lib/errors.ts'
import { forgetSent, recordSent } from '../../state/requests/key-state.ts'
import { releaseLease, takeLease } from '../../state/runs/leases.ts'
import { runningRuns, updateRun } from '../../state/runs/runs.ts'
import type { RunRow } from '../../state/runs/tables.ts'
import { landingLease } from '../../state/runs/whole-lease.ts'
import { openScanIds } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type SyncContext, usualLeaseMs } from './context.ts'

type Ending = Pick<SyncContext, 'engine' | 'clock' | 'landing' | 'runId' | 'sent' | 'signal'>

interface RunEnd {
  readonly change: Partial<RunRow>
  /** Archives older than this, in milliseconds since the epoch, go. */
  readonly keepAfter: number
}

/**
 * Scans whose pages become archives: those that are decided, and that neither this run nor another running one has landed.
 * Compressing pages costs a third of loading them, so this run leaves its own to the next one. A running process may be
 * loading pages of a scan that the ledger does not know yet.
 */
async function finishedScans({ engine, landing, runId }: Ending): Promise<string[]> {
  const open = await openScanIds(engine)
  const runs = [runId, ...(await runningRuns(engine))]
  return landing.scans().filter(scan => !open.has(scan) && !runs.some(run => scan.startsWith(run)))
}

/** One process at a time: where another holds the lease it does the work. */
async function archivePages(ending: Ending, keepAfter: number): Promise<void> {
  const { engine, landing, runId, signal } = ending
  if (signal.aborted) return
  const lease = await takeLease(engine, { resource: landingLease, holder: runId, ms: usualLeaseMs }).catch(
    error => {
      // Another process holds it.
      if (!(error instanceof MusterError)) throw error
    },
  )
  if (!lease) return
  try {
    await compact(landing, await finishedScans(ending), signal)
    expire(landing, keepAfter)
  } finally {
    await releaseLease(engine, lease)
  }
}

/** Why the rows of a run are not sure to stay: then it has not succeeded. */
export const notLasting = (engine: Engine): Promise<MusterError | undefined> =>
  engine.makeLasting().then(
    () => undefined,
    (error: MusterError) => error,
  )

/** A server that restarts is back within seconds: four more attempts, one a second. */
const serverRestarts = { retries: 4, minTimeout: 1000, factor: 1 }

/** Returns why the end could not be recorded: the next run then records that this one died without finishing. */
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
    await archivePages(sync, keepAfter)
    return undefined
  } catch (error) {
    return error as MusterError
  }
}
