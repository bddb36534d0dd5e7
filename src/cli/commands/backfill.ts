/** `muster backfill`: read records again by the day they were created. */
import { UsageError } from '../../lib/errors.ts'
import { collections } from '../../resources/catalogue.ts'
import { type CommandModule, calendarDay, textOption } from '../command.ts'
import { limitsOf, resourceNames, runAndPrint } from '../run-command.ts'
import { runOptions } from './sync.ts'

const walked = collections.filter(({ read }) => read.strategy === 'walk').map(({ name }) => name)

export const command: CommandModule = {
  name: 'backfill',
  summary: 'read records created between two days again, whatever is held of them',
  arguments: [{ name: '[resources...]', summary: 'only these, such as timesheets invoices' }],
  options: [
    { flags: '--from <day>', summary: 'first created day, YYYY-MM-DD', parse: calendarDay },
    { flags: '--to <day>', summary: 'last created day, YYYY-MM-DD', parse: calendarDay },
    ...runOptions,
  ],
  examples: [
    'muster backfill --from 2026-01-01 --to 2026-03-31',
    'muster backfill --from 2026-06-01 --to 2026-06-30 timesheets',
  ],
  async run(context, args, options) {
    const from = textOption(options, 'from')
    const to = textOption(options, 'to')
    if (from === undefined || to === undefined)
      throw new UsageError({ what: 'backfill needs --from and --to', next: 'give both as YYYY-MM-DD' })
    if (from > to) throw new UsageError({ what: `--from ${from} is after --to ${to}`, next: 'swap them' })
    const resources = args.length === 0 ? walked : resourceNames(args, 'lists')
    return runAndPrint(context, {
      command: 'backfill',
      arguments: [`--from ${from} --to ${to}`, ...args].join(' '),
      resources,
      between: { from, to },
      limits: limitsOf(context, options),
    })
  },
}
