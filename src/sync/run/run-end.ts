/** The end of a run: its last ledger rows, and the pages of finished scans are archived. */
import pRetry from 'p-retry'
import { compact } from '../../landing/archive.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { expire, expirePages, isAnyExpired } from '../../landing/kept.ts'
import { removeLeftPages } from '../../landing/tidy.ts'
import { dayMs } from '../../lib/dates.ts'
import { MusterError } from '../../lib/errors.ts'
import { forgetSent, recordSent } from '../../state/requests/key-state.ts'
import { releaseLease, takeLease } from '../../state/runs/leases.ts'
import { isReclaimDue } from '../../state/runs/reclaim.ts'
import { type RunFigures, updateRun } from '../../state/runs/runs.ts'
import type { RunRow } from '../../state/runs/tables.ts'
import { landingLease } from '../../state/runs/whole-lease.ts'
import { finishedAmong } from '../../state/scans/scans.ts'
import { now, type SyncContext, usualLeaseMs } from './context.ts'

type Ending = Pick<SyncContext, 'engine' | 'clock' | 'landing' | 'runId' | 'sent' | 'events' | 'signal'>

interface RunEnd {
  readonly change: Partial<RunRow>
  /** Landed pages older than this, in milliseconds since the epoch, go. */
  readonly keepAfter: number
  /** Whether it wrote nothing but ledger rows. */
  readonly isQuiet?: boolean
}

/**
 * Scans whose pages become archives: compressing pages costs a third of loading them, so this run leaves its own to the next
 * one.
 */
const finishedScans = async ({ engine, landing, runId }: Ending): Promise<string[]> =>
  finishedAmong(engine, await landing.scans(), [runId])

/**
 * After a quiet sync pages of so many scans, or so many bytes of them, are worth archives: those of one cost as much as those
 * of many. None waits for longer than a day, as retention counts from its archive.
 */
const fullScans = 20
const fullBytes = 16_000_000

async function isWorthArchives({ landing, clock }: Ending, scans: readonly string[]): Promise<boolean> {
  if (scans.length >= fullScans) return true
  const pages: LandedPage[] = []
  for (const scan of scans) pages.push(...(await landing.pages(scan)))
  const isOld = pages.some(({ fetchedAt }) => Date.parse(fetchedAt) < clock.now() - dayMs)
  return isOld || pages.reduce((sum, page) => sum + page.bytes, 0) >= fullBytes
}

/** One process at a time: where another holds the lease it does the work. */
async function archivePages(ending: Ending, { keepAfter, isQuiet = false }: RunEnd): Promise<void> {
  const { engine, landing, runId, signal } = ending
  if (signal.aborted) return
  const isWorthIt = !isQuiet || (await isWorthArchives(ending, await finishedScans(ending)))
  if (!isWorthIt && !(await isAnyExpired(landing, keepAfter))) return
  const lease = await takeLease(engine, { resource: landingLease, holder: runId, ms: usualLeaseMs }).catch(
    error => {
      // Another process holds it.
      if (!(error instanceof MusterError)) throw error
    },
  )
  if (!lease) return
  try {
    // Another process may have archived them before this one got the lease.
    if (isWorthIt) await removeLeftPages(landing)
    // An archive would keep them for as long again.
    if (isWorthIt) await expirePages(landing, await finishedScans(ending), keepAfter)
    if (isWorthIt) await compact(landing, await finishedScans(ending), signal)
    await expire(landing, keepAfter)
  } finally {
    await releaseLease(engine, lease)
  }
}

/** A run that wrote nothing but its own ledger rows leaves them to the closing of the warehouse. */
export const isUnchanged = (outcomes: readonly RunFigures[]): boolean =>
  outcomes.every(
    one =>
      one.rows_inserted + one.rows_changed + one.records_touched + one.rows_removed + one.quarantined === 0,
  )

/** Why the rows of a run are not sure to stay: then it has not succeeded. */
export async function notLasting({ engine, clock, runId }: Ending): Promise<MusterError | undefined> {
  try {
    const reclaims = await isReclaimDue(engine, clock.now())
    await engine.makeLasting({ reclaims })
    if (reclaims) await updateRun(engine, runId, { reclaimed_at: now({ clock }) })
    return undefined
  } catch (error) {
    return error as MusterError
  }
}

/** A server that restarts is back within seconds: four more attempts, one a second. */
const serverRestarts = { retries: 4, minTimeout: 1000, factor: 1 }

/** Returns why the end could not be recorded: the next run then records that this one died without finishing. */
export async function recordEnd(sync: Ending, end: RunEnd): Promise<MusterError | undefined> {
  const { engine, clock } = sync
  const last = async (): Promise<void> => {
    await recordSent(engine, sync.sent)
    await forgetSent(engine, clock.machine.now())
    await sync.events.settle(engine)
    await updateRun(engine, sync.runId, { ...end.change, finished_at: now(sync) })
  }
  try {
    await (engine.reconnects ? pRetry(last, serverRestarts) : last())
    await archivePages(sync, end)
    return undefined
  } catch (error) {
    return error as MusterError
  }
}
