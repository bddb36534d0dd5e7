/** `muster retention`: removes personal data that is older than the settings keep it. */
import { keep } from '../../app/privacy/apply-retention.ts'
import { counted } from '../../lib/counted.ts'
import type { Keeping } from '../../privacy/retention.ts'
import type { CommandModule } from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'

const words = {
  landing: 'landed scan',
  piiHistory: 'superseded version',
  inbox: 'event',
  quarantine: 'quarantined value',
} as const

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

export const command: CommandModule = {
  notes: [
    'retentionDays applies to landed pages, piiHistoryDays to superseded versions in pii, inboxDays to settled events,',
    'quarantineDays to resolved quarantine.',
  ],
  lineage: 'none',
  examples: ['muster retention', 'muster retention --json'],
  async run(context) {
    const { keeping, removed, file } = await keep(context.stored(), context)
    if (context.json) {
      printJson(context, {
        removed,
        file: file ?? null,
        days: { ...keeping, piiHistory: keeping.piiHistory ?? null },
      })
      return 0
    }
    const lines = Object.entries(words).map(([name, word]) => {
      const days = keeping[name as keyof Keeping]
      const periodText = days === undefined ? 'kept for ever' : `kept for ${counted(days, 'day')}`
      return `${counted(removed[name as keyof Keeping], word)} removed, ${periodText}`
    })
    if (file) lines.push(`the file was rewritten: from ${megabytes(file.before)} to ${megabytes(file.after)}`)
    for (const line of lines) printLine(context, line)
    return 0
  },
}
