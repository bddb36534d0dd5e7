/** `muster sweep`: find what is gone at the service, and tombstone what two witnesses saw gone. */

import { choiceOf } from '../../config/nearest.ts'
import { UsageError } from '../../lib/errors.ts'
import { swept } from '../../sync/deletions/sweep-run.ts'
import { type CommandModule, flagOption, numberOption, wholeNumber } from '../command.ts'
import { limitsOf, runAndPrint } from '../run-command.ts'
import { runOptions } from './sync.ts'

export const command: CommandModule = {
  name: 'sweep',
  summary: 'find what is gone at the service; what two witnesses saw gone is marked deleted',
  arguments: [{ name: '[resources...]', summary: 'only these, such as timesheets invoices' }],
  options: [
    ...runOptions,
    { flags: '--counts', summary: 'only compare counts: one request a list' },
    {
      flags: '--most <number>',
      summary: 'believe that so many are gone at once, instead of 20 or 2%',
      parse: wholeNumber(1),
    },
  ],
  notes: [
    'A witness is an accepted sweep that did not see a record, a 404 to a read by its id, or an event that says it',
    'was deleted. One alone changes nothing. More than 20 records and 2% of a list gone at once, or a key that sees',
    'other companies, agencies or scopes than before, stop the tombstoning with exit 3.',
  ],
  examples: ['muster sweep', 'muster sweep timesheets --max-requests 500', 'muster sweep --counts --json'],
  async run(context, args, options) {
    const resources = sweptNames(args)
    const most = numberOption(options, 'most')
    const counts = flagOption(options, 'counts')
    return runAndPrint(context, {
      command: 'sweep',
      arguments: [...(counts ? ['--counts'] : []), ...(most ? [`--most ${most}`] : []), ...args].join(' '),
      resources,
      sweep: { counts, ...(most !== undefined && { most }) },
      limits: limitsOf(context, options),
    })
  },
}

/** Throws UsageError for a name that no sweep knows. */
export function sweptNames(args: readonly string[]): readonly string[] {
  const names = swept.map(({ name }) => name)
  for (const name of args) {
    if (names.includes(name)) continue
    throw new UsageError({
      what: `no sweep reads ${name}`,
      next: `${choiceOf(name, names)}; snapshots remove what is gone by themselves`,
    })
  }
  return args
}
