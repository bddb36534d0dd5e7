/** What is known of records that are read by id before a run. */

import type { Resource } from '../../contract/fields/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { countDue } from '../../state/by-id/due.ts'
import { existingTables } from '../../state/existing-tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { chooseHeld } from '../by-id/choose-held.ts'
import { ceilingMs } from '../by-id/refresh.ts'
import type { Reading } from './estimate.ts'

const strategy = 'by id'

/** Where ids come from that no list names. */
const elsewhere: Readonly<Record<string, string>> = {
  rates: 'trades bring them; events name others',
  'credit-notes': 'events and muster discover name them',
  'purchase-orders': 'events and muster discover name them',
}

async function countHeld(engine: Engine, resource: Resource, nowMs: number): Promise<number> {
  const { worth } = await chooseHeld(engine, [resource], { nowMs, budget: { requests: 0, paced: 0 } })
  return worth.get(resource.name) ?? 0
}

/** `timesheets` tells how many there are: each names an assignment, and that a requisition and a trade. */
export async function knownIds(
  resource: Resource,
  { engine, clock }: { readonly engine: Engine | undefined; readonly clock: Clock },
  timesheets: () => Promise<number | undefined>,
): Promise<{ readonly strategy: string; readonly reading: Reading }> {
  const { name } = resource
  if (engine && (await existingTables(engine)).has('discovered')) {
    const nowMs = clock.now()
    const [at, fetchedBefore] = [nowMs, nowMs - ceilingMs].map(ms => new Date(ms).toISOString()) as [
      string,
      string,
    ]
    const due = await countDue(engine, { resource: name, keyScope: null, at, fetchedBefore })
    const worth = await countHeld(engine, resource, nowMs)
    return { strategy, reading: { kind: 'ids', unseen: due.unseen, retried: due.again, worth } }
  }
  if (elsewhere[name]) return { strategy, reading: { kind: 'none', why: elsewhere[name] } }
  const most = await timesheets()
  if (most === undefined) return { strategy, reading: { kind: 'unknown' } }
  return { strategy, reading: { kind: 'ids to come', most, per: 'a timesheet' } }
}
