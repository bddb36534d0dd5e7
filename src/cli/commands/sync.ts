/** `muster sync`: brings the warehouse up to date. */
import { UsageError } from '../../lib/errors.ts'
import { type CommandModule, flagOption, integerBetween, numberOption, timeSpan } from '../command.ts'
import { limitsOf, resourceNames, runAndPrint } from '../run-command.ts'

export const runOptions: NonNullable<CommandModule['options']> = [
  {
    flags: '--max-requests <number>',
    summary: 'stop cleanly after this many requests',
    parse: integerBetween(1),
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
      flags: '--max-deletions <number>',
      summary: 'accept this many deletions at once from a list without change times',
      parse: integerBetween(1),
    },
    {
      flags: '--hidden <number>',
      summary: 'accept this many rows that the service counts but shows on no page',
      parse: integerBetween(1),
    },
    {
      flags: '--accept-refused',
      summary: 'from now on, skip resources that the key may no longer read',
    },
  ],
  takesAll: true,
  lineage: 'records',
  notifies: true,
  examples: [
    'muster sync',
    'muster sync timesheets expenses --max-requests 500',
    'muster sync --deadline 2h --json',
    'muster sync users --accept-refused',
  ],
  async run(context, args, options) {
    const resources = resourceNames(args)
    const maxDeletions = numberOption(options, 'maxDeletions')
    const hidden = numberOption(options, 'hidden')
    if (hidden !== undefined && resources.length !== 1)
      throw new UsageError({
        what: '--hidden says how many rows one list hides',
        next: 'name it, as in muster sync timesheets --hidden 420',
      })
    return runAndPrint(context, {
      command: 'sync',
      arguments: args.join(' '),
      resources,
      limits: limitsOf(context, options),
      ...(maxDeletions !== undefined && { maxDeletions }),
      ...(hidden !== undefined && { hidden }),
      acceptsRefused: flagOption(options, 'acceptRefused'),
    })
  },
}
