/** Deletions that were not believed: nothing was tombstoned, and somebody has to look. */
import { formatNumber } from '../../lib/counted.ts'
import { type ExitCode, MusterError } from '../../lib/errors.ts'

/** Exit 3, as for a check that failed: everything worked, and the data needs a person. */
export class HeldBack extends MusterError {
  override readonly exitCode: ExitCode = 3
}

export const tooManyGone = (resource: string, gone: number, live: number): HeldBack =>
  new HeldBack({
    what: `${formatNumber(gone)} of ${formatNumber(live)} ${resource} look gone at once: no tombstone`,
    next: `compare with the application; if they are deleted, muster sweep ${resource} --most ${gone}`,
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
