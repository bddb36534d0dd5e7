/** Rows that a complete snapshot would remove, extent by extent: more than a caller believes are not removed. */
import type { Resource } from '../../contract/fields/resource.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { type CompleteSnapshot, storedWithin } from './delta.ts'

/** Of one extent, by its place in the snapshot. */
export interface Loss {
  readonly extent: number
  readonly stored: number
  readonly missing: number
}

/** Nothing of the batch was written. */
export class TooManyRemoved extends MusterError {
  readonly losses: readonly Loss[]

  constructor(resource: string, losses: readonly Loss[]) {
    super({ what: `a snapshot of ${resource} would remove more rows than can be believed` })
    this.losses = losses
  }
}

/** Inside the merge, when the delta is made. */
export async function lossesOf(
  engine: Engine,
  resource: Resource,
  snapshot: CompleteSnapshot,
): Promise<Loss[]> {
  const key = quoteName(resource.table.key)
  const parts = snapshot.map(
    ({ extent }, place) => `select ${place} as extent, count(*) as stored, count(d.record_key) as missing
      from ${storedWithin(resource, extent)} as t
      left join (select record_key from delta where state = 'missing') as d on d.record_key = t.${key}`,
  )
  const rows = await engine.rows<Loss>(parts.join(' union all '))
  return rows.map(({ extent, stored, missing }) => ({
    extent: Number(extent),
    stored: Number(stored),
    missing: Number(missing),
  }))
}
