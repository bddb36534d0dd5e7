/** `muster clean --fields`: makes what is stored already follow the field policy. */
import { requireRoom } from '../../app/connection/storage.ts'
import { fieldSettings } from '../../app/connection/warehouse.ts'
import { type CleanedFields, cleanFields } from '../../app/privacy/clean-fields.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { everyFewSeconds } from '../terminal/scan-progress.ts'

interface CleaningRequest {
  readonly isDry: boolean
  readonly hasPolicy: boolean
}

function print(context: CommandContext, cleaned: CleanedFields, { isDry, hasPolicy }: CleaningRequest): void {
  const { rows, pages, outputs, unreached, unreachable, damaged, removedMarts } = cleaned
  if (context.json) {
    printJson(context, { changed: !isDry, ...cleaned })
    return
  }
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  if (total > 0) printTable(context, ['table', 'changes'], Object.entries(rows))
  printLine(
    context,
    `${isDry ? 'would be cleaned' : 'cleaned'}: ${counted(total, 'change')} in tables, ${counted(pages, 'landed page')}`,
  )
  for (const place of outputs) printLine(context, `${isDry ? 'would be rewritten' : 'rewritten'}: ${place}`)
  for (const place of unreached)
    printLine(context, `not reached, because a query wrote it: check or remove it: ${place}`)
  for (const scan of damaged)
    printLine(context, `${isDry ? 'cannot be read' : 'removed, because it could not be read'}: ${scan}`)
  for (const name of removedMarts)
    printLine(
      context,
      `removed, because it could not be built from cleaned tables: mart.${name}; muster build says why`,
    )
  if (hasPolicy)
    printTable(
      context,
      ['not reached', 'what to do'],
      unreachable.map(({ place, next }) => [place, next]),
    )
  else printLine(context, 'the settings have no field policy: every field is stored')
}

export const command: CommandModule = {
  options: [
    { flags: '--fields', summary: 'remove or hash stored fields as `fields` of the settings says' },
    { flags: '--dry-run', summary: 'only count what would change' },
    { flags: '--yes', summary: 'do it; without this, only count what would change, and exit with 2' },
    { flags: '--accept-loss', summary: 'remove landed pages that cannot be read and so cannot be cleaned' },
  ],
  notes: [
    'Run it after every change of the field policy: until then sync, serve and replay read nothing. Blocked values cannot be brought back but by reading the records again. If the command is killed, run it again to finish.',
  ],
  examples: ['muster clean --fields --dry-run', 'muster clean --fields --yes'],
  async run(context, _, options) {
    if (!flagOption(options, 'fields'))
      throw new UsageError({ what: 'nothing says what to clean', next: 'muster clean --fields --dry-run' })
    const connection = context.connection()
    const isDry = flagOption(options, 'dryRun') || !flagOption(options, 'yes')
    if (!isDry) requireRoom(connection)
    const cleaned = await cleanFields(
      connection,
      { isDry, acceptLoss: flagOption(options, 'acceptLoss') },
      { ...context, onScan: everyFewSeconds(context), onStep: context.notice },
    )
    print(context, cleaned, { isDry, hasPolicy: fieldSettings(connection).rules.length > 0 })
    if (!isDry || flagOption(options, 'dryRun')) return 0
    throw new UsageError({
      what: 'nothing was changed',
      next: 'what is cleaned cannot be brought back: pass --yes to do it',
    })
  },
}
