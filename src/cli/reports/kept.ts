/** How long personal data is kept, and whether landed pages are encrypted, as `muster status` tells it. */
import { fileKey } from '../../app/connection/file-key.ts'
import { landingKeyId } from '../../app/connection/landing-keys.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'

interface Kept {
  /** Days; null for ever. */
  readonly days: Readonly<Record<'landing' | 'piiHistory' | 'inbox' | 'quarantine', number | null>>
  /** The id of the key of landed pages; null where none are encrypted. */
  readonly landingKey: string | null
  /** Whether the warehouse file is encrypted with warehouseKey. */
  readonly warehouseKey: boolean
}

export const kept = async (connection: StoredConnection): Promise<Kept> => ({
  days: {
    landing: connection.retentionDays,
    piiHistory: connection.piiHistoryDays ?? null,
    inbox: connection.inboxDays,
    quarantine: connection.quarantineDays,
  },
  landingKey: (await landingKeyId(connection)) ?? null,
  warehouseKey: fileKey(connection) !== undefined,
})

const period = (days: number | null): string => (days === null ? 'for ever' : counted(days, 'day'))

export async function keptLines(connection: StoredConnection): Promise<string[]> {
  const { days, landingKey, warehouseKey } = await kept(connection)
  const key = landingKey === null ? 'not encrypted by muster' : `encrypted with the key ${landingKey}`
  const file =
    connection.warehouse.kind === 'file'
      ? [`warehouse file: ${warehouseKey ? 'encrypted with warehouseKey' : 'not encrypted by muster'}`]
      : []
  return [
    `kept: landed pages ${period(days.landing)} (${key}); superseded personal data ${period(days.piiHistory)}; settled events ${period(days.inbox)}; resolved quarantine ${period(days.quarantine)}`,
    ...file,
  ]
}
