/** Removes personal data that is older than the settings keep it, one class after the other. */
import type { Landing } from '../landing/folder.ts'
import { expire, expirePages } from '../landing/kept.ts'
import { dayMs, minuteMs } from '../lib/dates.ts'
import { Busy } from '../lib/errors.ts'
import { expireInbox } from '../state/inbox/settle.ts'
import { removeResolvedQuarantine } from '../state/privacy/retention.ts'
import { releaseLease, takeLease } from '../state/runs/leases.ts'
import { landingLease } from '../state/runs/whole-lease.ts'
import { finishedAmong } from '../state/scans/scans.ts'
import type { Engine } from '../warehouse/engine.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteText } from '../warehouse/sql-text.ts'

/** Days; a class without any is kept for ever. */
export interface Keeping {
  readonly landing: number
  readonly piiHistory?: number
  readonly inbox: number
  readonly quarantine: number
}

/** Longer than removing takes: a process that is stopped for so long is taken for dead. */
const leaseMs = 10 * minuteMs

export type Removed = Readonly<Record<keyof Keeping, number>>

const isPiiHistory = ({ schema, name }: { schema: string; name: string }): boolean =>
  schema === 'pii' && name.endsWith('_history')

/** Versions that were superseded before; runs inside a transaction. */
async function removeVersions(engine: Engine, before: string): Promise<number> {
  let removed = 0
  for (const table of physicalTables.filter(isPiiHistory))
    removed += await engine.run(`delete from ${qualified(table)} where valid_to < ${quoteText(before)}`)
  return removed
}

interface Place {
  readonly engine: Engine
  readonly landing: Landing
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The id of this run. */
  readonly holder: string
}

/** Pages that no sync has archived since. A process that has the lease archives them, or is reading them. */
async function removePages({ engine, landing, holder }: Place, before: number): Promise<number> {
  const scans = await landing.scans()
  if (scans.length === 0) return 0
  const lease = await takeLease(engine, { resource: landingLease, holder, ms: leaseMs }).catch(error => {
    if (!(error instanceof Busy)) throw error
  })
  if (!lease) return 0
  try {
    return await expirePages(landing, await finishedAmong(engine, scans, []), before)
  } finally {
    await releaseLease(engine, lease)
  }
}

const isAnyRow = ({ piiHistory, inbox, quarantine }: Omit<Removed, 'landing'>): boolean =>
  piiHistory + inbox + quarantine > 0

/** `onRows` is called in the transaction that removes rows, if any were there. */
export async function applyRetention(
  place: Place,
  keep: Keeping,
  onRows: (engine: Engine) => Promise<void>,
): Promise<Removed> {
  const { engine, landing, now, holder } = place
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
  const oldest = now - keep.landing * dayMs
  return { landing: (await removePages(place, oldest)) + (await expire(landing, oldest)), ...rows }
}
