/** `muster audit-pii`: looks for values of the PII tables in everything that is published. */
import { type Audit, auditPii } from '../../app/privacy/audit-pii.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { CheckFailed } from '../../lib/errors.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  options: [
    { flags: '--left-out', summary: 'list the columns of pii that are not searched for, with the reason' },
  ],
  notes: [
    'It searches for e-mail addresses, for telephone and account numbers of eight digits or more, and for texts of six',
    'letters or more with two words or a digit, unless they name an organisation, a place or a thing.',
    'Case, accents, spacing and punctuation make no difference. --left-out lists what it does not search for.',
  ],
  lineage: 'none',
  examples: ['muster audit-pii', 'muster audit-pii --left-out', 'muster audit-pii --json'],
  async run(context, _args, options) {
    const audit = await auditPii(context.stored(), context)
    if (context.json) printJson(context, audit)
    else print(context, audit, flagOption(options, 'leftOut'))
    if (audit.hits.length === 0) return 0
    throw new CheckFailed({
      what: `personal data is in ${[...new Set(audit.hits.map(({ place }) => place))].join(', ')}`,
      next: 'do not publish; the output names the columns it comes from',
    })
  },
}

function print(context: CommandContext, audit: Audit, showsLeftOut: boolean): void {
  if (audit.hits.length > 0)
    printTable(
      context,
      ['column', 'cells', 'place'],
      audit.hits.map(({ column, cells, place }) => [column, cells, place]),
    )
  if (showsLeftOut)
    printTable(
      context,
      ['left out', 'values', { title: 'why', breaks: true }],
      audit.leftOut.map(({ column, values, why }) => [column, values, why]),
    )
  const shown = `${formatNumber(audit.values)} values looked for in ${counted(audit.columns, 'column')}, ${counted(audit.cells, 'distinct cell')}`
  const result =
    audit.hits.length === 0
      ? 'none found'
      : `found in ${counted(audit.hits.length, 'column')}: do not publish`
  printLine(context, `${shown}, ${counted(audit.searched.length, 'place')}: ${result}`)
}
