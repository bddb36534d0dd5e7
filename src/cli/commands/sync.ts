/** `muster sync`: brings the warehouse up to date. */
import { type CommandModule, timeSpan, wholeNumber } from '../command.ts'
import { limitsOf, resourceNames, runAndPrint } from '../run-command.ts'

export const runOptions: NonNullable<CommandModule['options']> = [
  {
    flags: '--max-requests <number>',
    summary: 'stop cleanly after this many requests',
    parse: wholeNumber(1),
  },
  { flags: '--deadline <span>', summary: 'stop cleanly after 90s, 30m or 2h', parse: timeSpan },
]

export const command: CommandModule = {
  name: 'sync',
  summary: 'read the changes since the last sync; the first time, read everything',
  arguments: [{ name: '[resources...]', summary: 'only these, such as timesheets invoices' }],
  options: runOptions,
  examples: [
    'muster sync',
    'muster sync timesheets expenses --max-requests 500',
    'muster sync --deadline 2h --json',
  ],
  async run(context, args, options) {
    const resources = resourceNames(args)
    return runAndPrint(context, {
      command: 'sync',
      arguments: args.join(' '),
      resources,
      limits: limitsOf(context, options),
    })
  },
}
