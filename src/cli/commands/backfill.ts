/** `muster backfill`: reads the records created between two days again. */
import { type CommandModule, calendarDay } from '../command.ts'
import { createdBetween, scannedLists } from '../created-days.ts'
import { limitsOf, resourceNames, runAndPrint } from '../run-command.ts'
import { runOptions } from './sync.ts'

export const command: CommandModule = {
  name: 'backfill',
  summary: 'read the records created between two days again, whether they are stored or not',
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
    const between = createdBetween(options)
    const resources = args.length === 0 ? scannedLists : resourceNames(args, 'lists')
    return runAndPrint(context, {
      command: 'backfill',
      arguments: [`--from ${between.from} --to ${between.to}`, ...args].join(' '),
      resources,
      between,
      limits: limitsOf(context, options),
    })
  },
}
