/** Records that are read by id: their resources are held together, because what one brings names others. */

import { type Purpose, spendablePerDay } from '../../api/budget/day.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { ledger } from '../../state/ledger.ts'
import type { SyncContext } from '../run/context.ts'
import { holdTask, type ResourceOutcome } from '../run/task.ts'
import { Hydration, type Lane } from './hydration.ts'
import { ReadById } from './read-by-id.ts'
import { type Allowance, allowanceOf } from './refresh-allowance.ts'

export interface HydrateRequest {
  /** Only what was signalled: the purpose that pays for it has a part of the day of its own. */
  readonly onlySignalled?: boolean
  readonly purpose?: Purpose
}

/** Few and telling first: a trade brings its rates, and orders and credit notes are known from events only. */
const turns = ['trades', 'purchase-orders', 'credit-notes', 'requisitions', 'assignments', 'rates']

const inTurn = (resources: readonly Resource[]): Resource[] =>
  [...resources].sort((left, right) => turns.indexOf(left.name) - turns.indexOf(right.name))

/** When the sync before this one began, in milliseconds since the epoch. */
async function lastSync({ engine, runId }: SyncContext): Promise<number | undefined> {
  const row = await ledger(engine)
    .selectFrom('ops.run')
    .select('started_at')
    .where('command', '=', 'sync')
    .where('run_id', '<>', runId)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && Date.parse(row.started_at)
}

async function allowance(sync: SyncContext, purpose: Purpose): Promise<Allowance> {
  if (purpose !== 'sync') return { unseen: Number.POSITIVE_INFINITY, refresh: Number.POSITIVE_INFINITY }
  const { spendable, spendableToday, perDay, resetsAt, requestsThisRun } = sync.client.usage()
  const now = sync.clock.now()
  const last = await lastSync(sync)
  return allowanceOf({
    spendable,
    spendableToday,
    spendablePerDay: spendablePerDay(perDay),
    untilReset: Date.parse(resetsAt) - now,
    sinceLast: last === undefined ? null : now - last,
    listRequests: requestsThisRun,
  })
}

/** Reads what is due of each, as far as the budget goes. */
export async function hydrateResources(
  sync: SyncContext,
  resources: readonly Resource[],
  { onlySignalled = false, purpose = 'sync' }: HydrateRequest,
): Promise<ResourceOutcome[]> {
  const outcomes: ResourceOutcome[] = []
  const lanes: Lane[] = []
  for (const resource of inTurn(resources)) {
    const held = await holdTask(sync, resource)
    if ('task' in held) lanes.push({ held, reader: new ReadById(held.task, purpose), asked: new Set() })
    else outcomes.push(held)
  }
  try {
    const plan = { allowance: await allowance(sync, purpose), onlySignalled }
    await new Hydration(sync, lanes, plan).run()
  } finally {
    for (const { held, failure } of lanes) outcomes.push(await held.end(failure))
  }
  return outcomes
}
