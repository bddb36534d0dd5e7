/** `muster sync`: brings the warehouse up to date. */
import { type CommandModule, flagOption, numberOption, timeSpan, wholeNumber } from '../command.ts'
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
  arguments: [
    { name: '[resources...]', summary: 'only these, such as timesheets invoices', completes: 'resource' },
  ],
  options: [
    ...runOptions,
    {
      flags: '--most <number>',
      summary: 'rows that a list without change times may lose at once, when they are known to be deleted',
      parse: wholeNumber(1),
    },
    {
      flags: '--accept-refused',
      summary: 'skip from now on what the key could read before and may no longer read',
    },
  ],
  takesAll: true,
  lineage: 'records',
  examples: [
    'muster sync',
    'muster sync timesheets expenses --max-requests 500',
    'muster sync --deadline 2h --json',
    'muster sync users --accept-refused',
  ],
  async run(context, args, options) {
    const resources = resourceNames(args)
    const most = numberOption(options, 'most')
    return runAndPrint(context, {
      command: 'sync',
      arguments: args.join(' '),
      resources,
      limits: limitsOf(context, options),
      ...(most !== undefined && { most }),
      acceptsRefused: flagOption(options, 'acceptRefused'),
    })
  },
}
