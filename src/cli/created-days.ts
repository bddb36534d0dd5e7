/** The request of a backfill: lists of records with a created day, and two such days. */

import { collections } from '../contract/catalogue.ts'
import { UsageError } from '../lib/errors.ts'
import { type Options, textOption } from './command.ts'

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
