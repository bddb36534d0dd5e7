/** Counts the rows that a complete snapshot would remove from each extent, and refuses an implausible number. */
import type { Resource } from '../../contract/fields/resource.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { type CompleteSnapshot, storedWithin } from './delta.ts'

/** Loss of one extent, given by its index in the snapshot. */
export interface ExtentLoss {
  readonly extent: number
  readonly stored: number
  readonly missing: number
}

/** Thrown before anything of the batch is written. */
export class TooManyRemoved extends MusterError {
  readonly losses: readonly ExtentLoss[]

  constructor(resource: string, losses: readonly ExtentLoss[]) {
    const sum = (name: 'stored' | 'missing'): number => losses.reduce((total, one) => total + one[name], 0)
    super({ what: `refusing to remove ${sum('missing')} of ${sum('stored')} ${resource} at once` })
    this.losses = losses
  }
}

/** Runs inside the merge, after the delta is created. */
export async function lossesOf(
  engine: Engine,
  resource: Resource,
  snapshot: CompleteSnapshot,
): Promise<ExtentLoss[]> {
  const key = quoteName(resource.table.key)
  const parts = snapshot.map(
    ({ extent }, place) => `select ${place} as extent, count(*) as stored, count(d.record_key) as missing
      from ${storedWithin(resource, extent)} as t
      left join (select record_key from delta where state = 'missing') as d on d.record_key = t.${key}`,
  )
  const rows = await engine.rows<ExtentLoss>(parts.join(' union all '))
  return rows.map(({ extent, stored, missing }) => ({
    extent: Number(extent),
    stored: Number(stored),
    missing: Number(missing),
  }))
}
