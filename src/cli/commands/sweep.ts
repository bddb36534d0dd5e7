/** `muster sweep`: finds records that are missing at the source, and tombstones those with enough evidence. */

import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { swept } from '../../sync/deletions/sweep-run.ts'
import { type CommandModule, flagOption, integerBetween, numberOption } from '../command.ts'
import { limitsOf, runAndPrint } from '../run-command.ts'
import { runOptions } from './sync.ts'

export const command: CommandModule = {
  arguments: [
    { name: '[resources...]', summary: 'only these, such as timesheets invoices', completes: 'list' },
  ],
  options: [
    ...runOptions,
    { flags: '--counts', summary: 'only compare counts, with one request per list' },
    {
      flags: '--max-deletions <number>',
      summary: 'accept this many deletions at once, instead of 20 or 2%',
      parse: integerBetween(1),
    },
  ],
  notes: [
    'Evidence is an accepted sweep that did not see the record, a 404 to a read by its id, or an event that says it was',
    'deleted. One piece alone changes nothing. If more than 20 records and 2% of a list are missing at once, or if the',
    'key sees other companies, agencies or scopes than before, nothing is marked and the sweep ends with exit code 3.',
  ],
  lineage: 'none',
  notifies: true,
  examples: ['muster sweep', 'muster sweep timesheets --max-requests 500', 'muster sweep --counts --json'],
  async run(context, args, options) {
    const resources = sweptNames(args)
    const maxDeletions = numberOption(options, 'maxDeletions')
    const counts = flagOption(options, 'counts')
    return runAndPrint(context, {
      command: 'sweep',
      arguments: [
        ...(counts ? ['--counts'] : []),
        ...(maxDeletions ? [`--max-deletions ${maxDeletions}`] : []),
        ...args,
      ].join(' '),
      resources,
      sweep: { counts, ...(maxDeletions !== undefined && { maxDeletions }) },
      limits: limitsOf(context, options),
    })
  },
}

/** Throws UsageError for a resource that no sweep reads. */
export function sweptNames(args: readonly string[]): readonly string[] {
  const names = swept.map(({ name }) => name)
  for (const name of args) {
    if (names.includes(name)) continue
    throw new UsageError({
      what: `no sweep reads ${name}`,
      next: `${choiceOf(name, names)}; snapshots remove missing records themselves`,
    })
  }
  return args
}
