/** Deletions that were not believed: nothing was tombstoned, and an operator has to look. */
import { formatNumber } from '../../lib/counted.ts'
import { type ExitCode, MusterError } from '../../lib/errors.ts'
import type { Owner } from '../../state/evidence/emptied-owners.ts'

/** Exit 3, as for a failed check: everything worked, but a person has to look at the data. */
export class HeldBack extends MusterError {
  override readonly exitCode: ExitCode = 3
}

export const tooManyMissing = (resource: string, missing: number, live: number): HeldBack =>
  new HeldBack({
    what: `${formatNumber(missing)} of ${formatNumber(live)} ${resource} are missing at once: no tombstone`,
    next: `compare with the application; if they are deleted, muster sweep ${resource} --most ${missing}`,
  })

export const ownerEmptied = (resource: string, missing: number, { id, records }: Owner): HeldBack =>
  new HeldBack({
    what: `all ${formatNumber(records)} ${resource} of ${id} are missing at once: no tombstone`,
    next: `compare with the application; if they are deleted, muster sweep ${resource} --most ${missing}`,
  })

export const newScope = (resource: string, outOfSight: number): HeldBack =>
  new HeldBack({
    what: `the key sees other companies, agencies or scopes than when ${resource} were swept last: no tombstone`,
    next: `${formatNumber(outOfSight)} are out of its sight now and stay; the next sweep judges what this one saw`,
  })

export const changedScope = (resource: string): HeldBack =>
  new HeldBack({
    what: `what the key may see changed while ${resource} were swept: no tombstone`,
    next: 'run muster sweep again when the key is settled',
  })
