/** How long personal data is kept, and whether landed pages are encrypted, as `muster status` and `muster doctor` tell it. */
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

const daysOf = (connection: StoredConnection): Kept['days'] => ({
  landing: connection.retentionDays,
  piiHistory: connection.piiHistoryDays ?? null,
  inbox: connection.inboxDays,
  quarantine: connection.quarantineDays,
})

export const kept = async (connection: StoredConnection): Promise<Kept> => ({
  days: daysOf(connection),
  landingKey: (await landingKeyId(connection)) ?? null,
  warehouseKey: fileKey(connection) !== undefined,
})

const words = {
  landing: 'landed pages',
  piiHistory: 'superseded personal data',
  inbox: 'settled events',
  quarantine: 'resolved quarantine',
} as const

const period = (days: number | null): string => (days === null ? 'for ever' : counted(days, 'day'))

type Days = Kept['days']

/** What each class is kept for; `after` follows that of landed pages. */
const classes = (days: Days, after = ''): string =>
  Object.entries(words)
    .map(([name, word]) => {
      const held = period(days[name as keyof Days])
      return name === 'landing' ? `${word} ${held}${after}` : `${word} ${held}`
    })
    .join('; ')

export const keptText = (connection: StoredConnection): string => classes(daysOf(connection))

export async function keptLines(connection: StoredConnection): Promise<string[]> {
  const { days, landingKey, warehouseKey } = await kept(connection)
  const key = landingKey === null ? 'not encrypted by muster' : `encrypted with the key ${landingKey}`
  const file =
    connection.warehouse.kind === 'file'
      ? [`warehouse file: ${warehouseKey ? 'encrypted with warehouseKey' : 'not encrypted by muster'}`]
      : []
  return [`kept: ${classes(days, ` (${key})`)}`, ...file]
}
