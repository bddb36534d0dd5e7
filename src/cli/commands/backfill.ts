/** `muster backfill`: reads the records created between two days again. */
import { collections } from '../../contract/catalogue.ts'
import { UsageError } from '../../lib/errors.ts'
import { type CommandModule, calendarDay, type Options, textOption } from '../command.ts'
import { limitsOf, resourceNames, runAndPrint } from '../run-command.ts'
import { runOptions } from './sync.ts'

export const command: CommandModule = {
  arguments: [
    { name: '[resources...]', summary: 'only these, such as timesheets invoices', completes: 'list' },
  ],
  options: [
    { flags: '--from <day>', summary: 'first created day, YYYY-MM-DD', parse: calendarDay },
    { flags: '--to <day>', summary: 'last created day, YYYY-MM-DD', parse: calendarDay },
    ...runOptions,
  ],
  lineage: 'records',
  notifies: true,
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

/** The lists of a backfill that names no resources. */
export const scannedLists: readonly string[] = collections
  .filter(({ read }) => read.strategy === 'scan')
  .map(({ name }) => name)

/** Throws UsageError unless both days are given, the earlier one first. */
export function createdBetween(options: Options): { readonly from: string; readonly to: string } {
  const from = textOption(options, 'from')
  const to = textOption(options, 'to')
  if (from === undefined || to === undefined)
    throw new UsageError({ what: 'a backfill needs --from and --to', next: 'give both as YYYY-MM-DD' })
  if (from > to) throw new UsageError({ what: `--from ${from} is after --to ${to}`, next: 'swap them' })
  return { from, to }
}
