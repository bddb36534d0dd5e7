/** Keeps the data of a connection as its settings say: what is too old goes, and archives are encrypted with today's key. */
import type { StoredConnection } from '../../config/connection.ts'
import { encryptArchives } from '../../landing/archive.ts'
import { applyRetention, type Keeping, type Removed } from '../../privacy/retention.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withLanding } from '../connection/landing-keys.ts'
import type { Surroundings } from '../surroundings.ts'

export interface Kept {
  readonly keeping: Keeping
  readonly removed: Removed
  /** Archives that were not encrypted, or with an earlier key. */
  readonly encrypted: number
}

const keepingOf = ({
  retentionDays,
  piiHistoryDays,
  inboxDays,
  quarantineDays,
}: StoredConnection): Keeping => ({
  landing: retentionDays,
  ...(piiHistoryDays !== undefined && { piiHistory: piiHistoryDays }),
  inbox: inboxDays,
  quarantine: quarantineDays,
})

export async function keep(
  engine: Engine,
  connection: StoredConnection,
  { clock, signal }: Surroundings,
): Promise<Kept> {
  const keeping = keepingOf(connection)
  return withLanding(connection, signal, async landing => {
    const removed = await applyRetention({ engine, landing, now: clock.now() }, keeping)
    return { keeping, removed, encrypted: await encryptArchives(landing, signal) }
  })
}
