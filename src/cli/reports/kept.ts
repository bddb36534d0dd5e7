/** How long personal data is kept, as `muster status` and `muster doctor` tell it. */
import type { StoredConnection } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'

type Days = Readonly<Record<'landing' | 'piiHistory' | 'inbox' | 'quarantine', number | null>>

/** Days; null for ever. */
export const daysKept = (connection: StoredConnection): Days => ({
  landing: connection.retentionDays,
  piiHistory: connection.piiHistoryDays ?? null,
  inbox: connection.inboxDays,
  quarantine: connection.quarantineDays,
})

const words = {
  landing: 'landed pages',
  piiHistory: 'superseded personal data',
  inbox: 'settled events',
  quarantine: 'resolved quarantine',
} as const

const period = (days: number | null): string => (days === null ? 'for ever' : counted(days, 'day'))

/** What each class is kept for. */
export function classesKept(connection: StoredConnection): string {
  const days = daysKept(connection)
  return Object.entries(words)
    .map(([name, word]) => `${word} ${period(days[name as keyof Days])}`)
    .join('; ')
}
