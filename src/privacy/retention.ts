/** Deletes personal data past its retention period, one class after another. */
import type { Landing } from '../landing/landing.ts'
import { expire } from '../landing/retention.ts'
import { dayMs, minuteMs } from '../lib/dates.ts'
import { Busy } from '../lib/errors.ts'
import { expireInbox } from '../state/inbox/settle.ts'
import { removeResolvedQuarantine } from '../state/privacy.ts'
import { landingLease, releaseLease, takeLease } from '../state/runs/leases.ts'
import { finishedAmong } from '../state/scans/scans.ts'
import type { Engine } from '../warehouse/engine.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteText } from '../warehouse/sql-text.ts'

/** Days to keep each class; undefined keeps it for ever. */
export interface Keeping {
  readonly landing: number
  readonly piiHistory?: number
  readonly inbox: number
  readonly quarantine: number
}

/** Longer than a removal takes: after this time the process is presumed dead. */
const leaseMs = 10 * minuteMs

export type RemovedCounts = Readonly<Record<keyof Keeping, number>>

const isPiiHistory = ({ schema, name }: { schema: string; name: string }): boolean =>
  schema === 'pii' && name.endsWith('_history')

/** Deletes versions superseded before this time; runs inside a transaction. */
async function removeVersions(engine: Engine, before: string): Promise<number> {
  let removed = 0
  for (const table of physicalTables.filter(isPiiHistory))
    removed += await engine.run(`delete from ${qualified(table)} where valid_to < ${quoteText(before)}`)
  return removed
}

interface RetentionContext {
  readonly engine: Engine
  readonly landing: Landing
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The id of this run. */
  readonly holder: string
}

/** Skips pages while another process has the lease to archive or read them. */
async function removePages({ engine, landing, holder }: RetentionContext, before: number): Promise<number> {
  const lease = await takeLease(engine, { resource: landingLease, holder, ms: leaseMs }).catch(error => {
    if (!(error instanceof Busy)) throw error
  })
  if (!lease) return 0
  try {
    return await expire(landing, await finishedAmong(engine, await landing.scans(), []), before)
  } finally {
    await releaseLease(engine, lease)
  }
}

const isAnyRow = ({ piiHistory, inbox, quarantine }: Omit<RemovedCounts, 'landing'>): boolean =>
  piiHistory + inbox + quarantine > 0

/** Calls `onRows` in the transaction that deletes rows, if there were any. */
export async function applyRetention(
  place: RetentionContext,
  keep: Keeping,
  onRows: (engine: Engine) => Promise<void>,
): Promise<RemovedCounts> {
  const { engine, now, holder } = place
  await engine.announce(holder)
  const before = (days: number): string => new Date(now - days * dayMs).toISOString()
  const { piiHistory } = keep
  const rows = await engine.merge(async engine => {
    const removed = {
      piiHistory: piiHistory === undefined ? 0 : await removeVersions(engine, before(piiHistory)),
      inbox: await expireInbox(engine, before(keep.inbox)),
      quarantine: await removeResolvedQuarantine(engine, before(keep.quarantine)),
    }
    if (isAnyRow(removed)) await onRows(engine)
    return removed
  })
  return { landing: await removePages(place, now - keep.landing * dayMs), ...rows }
}
