/** Removes personal data that is older than the settings keep it, one class after the other. */
import type { Landing } from '../landing/folder.ts'
import { expire } from '../landing/kept.ts'
import { dayMs } from '../lib/dates.ts'
import { expireInbox } from '../state/inbox/settle.ts'
import { removeResolvedQuarantine } from '../state/privacy/retention.ts'
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

export async function applyRetention(
  { engine, landing, now }: { engine: Engine; landing: Landing; now: number },
  keep: Keeping,
): Promise<Removed> {
  const before = (days: number): string => new Date(now - days * dayMs).toISOString()
  const { piiHistory } = keep
  const rows = await engine.merge(async engine => ({
    piiHistory: piiHistory === undefined ? 0 : await removeVersions(engine, before(piiHistory)),
    inbox: await expireInbox(engine, before(keep.inbox)),
    quarantine: await removeResolvedQuarantine(engine, before(keep.quarantine)),
  }))
  return { landing: await expire(landing, now - keep.landing * dayMs), ...rows }
}
