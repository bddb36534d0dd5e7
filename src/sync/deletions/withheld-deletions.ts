/** Reports implausible deletions: nothing was tombstoned, and an operator has to look. */
import { formatNumber } from '../../lib/counted.ts'
import { type ExitCode, MusterError } from '../../lib/errors.ts'
import type { EmptiedOwner } from '../../state/evidence/emptied-owners.ts'

/** Exit 3, as for a failed check: everything worked, but someone has to look at the data. */
export class DeletionsHeldBack extends MusterError {
  override readonly exitCode: ExitCode = 3
}

export const tooManyMissing = (resource: string, missing: number, live: number): DeletionsHeldBack =>
  new DeletionsHeldBack({
    what: `refusing to delete ${formatNumber(missing)} of ${formatNumber(live)} ${resource} at once`,
    next: `compare with the application; if they are deleted, muster sweep ${resource} --max-deletions ${missing}`,
  })

export const ownerEmptied = (
  resource: string,
  missing: number,
  { id, records }: EmptiedOwner,
): DeletionsHeldBack =>
  new DeletionsHeldBack({
    what: `refusing to delete all ${formatNumber(records)} ${resource} of ${id} at once`,
    next: `compare with the application; if they are deleted, muster sweep ${resource} --max-deletions ${missing}`,
  })

export const newScope = (resource: string, outOfSight: number): DeletionsHeldBack =>
  new DeletionsHeldBack({
    what: `the companies, agencies or scopes of the key changed since the last sweep of ${resource}: nothing was deleted`,
    next: `${formatNumber(outOfSight)} are no longer visible to the key and stay; the next sweep compares with what this one saw`,
  })

export const changedScope = (resource: string): DeletionsHeldBack =>
  new DeletionsHeldBack({
    what: `the scope of the key changed during the sweep of ${resource}: nothing was deleted`,
    next: 'run muster sweep again when the key no longer changes',
  })
