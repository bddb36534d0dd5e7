/** `muster retention`: removes personal data that is older than the settings keep it. */
import { openMade } from '../../app/connection/warehouse.ts'
import type { Connection } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'
import { applyRetention, type Keeping } from '../../privacy/retention.ts'
import { migrate } from '../../state/migrate.ts'
import type { CommandModule } from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'

const keeping = ({ retentionDays, piiHistoryDays, inboxDays, quarantineDays }: Connection): Keeping => ({
  landing: retentionDays,
  ...(piiHistoryDays !== undefined && { piiHistory: piiHistoryDays }),
  inbox: inboxDays,
  quarantine: quarantineDays,
})

const words = {
  landing: 'archived scan',
  piiHistory: 'superseded version',
  inbox: 'event',
  quarantine: 'quarantined value',
} as const

export const command: CommandModule = {
  notes: [
    'retentionDays is for landed pages, piiHistoryDays for superseded versions in pii, inboxDays for settled events,',
    'quarantineDays for resolved quarantine, temporaryHours for temporary files, which every command removes.',
  ],
  examples: ['muster retention', 'muster retention --json'],
  async run(context) {
    const connection = context.connection()
    const engine = await openMade(connection)
    try {
      const now = context.clock.now()
      await migrate(engine, new Date(now).toISOString())
      const keep = keeping(connection)
      const removed = await applyRetention({ engine, landing: connection.landing, now }, keep)
      if (context.json) {
        printJson(context, { removed, days: { ...keep, piiHistory: keep.piiHistory ?? null } })
        return 0
      }
      const lines = Object.entries(words).map(([name, word]) => {
        const days = keep[name as keyof Keeping]
        const kept = days === undefined ? 'kept for ever' : `kept for ${counted(days, 'day')}`
        return `${counted(removed[name as keyof Keeping], word)} removed, ${kept}`
      })
      for (const line of lines) printLine(context, line)
      return 0
    } finally {
      await engine.close()
    }
  },
}
