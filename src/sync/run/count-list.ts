/** The cheap question of every night: does the service count as many records as the warehouse stores? */
import { formatNumber } from '../../lib/counted.ts'
import { recordCount, storedCounts } from '../../state/evidence/absence.ts'
import { now, type ResourceTask } from './context.ts'
import { fenced } from './hold-lease.ts'
import { currentScope } from './key.ts'

/** One request. Equal counts prove little, as one record may have gone and another come; different ones ask for a sweep. */
export async function countList(task: ResourceTask): Promise<void> {
  const { sync, resource, counters } = task
  const query = { fields: 'id', page: 1, limit: 1 }
  const { meta } = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
  counters.requests += 1
  const scopeId = currentScope(task)
  const { stored, waiting } = await storedCounts(sync.engine, resource, scopeId)
  const row = { resource: resource.name, run_id: sync.runId, scope_id: scopeId, total: meta.total, stored }
  await fenced(task, engine => recordCount(engine, { ...row, counted_at: now(sync) }))
  const difference = stored - meta.total
  const words = [
    `${formatNumber(meta.total)} at the service, ${formatNumber(stored)} stored`,
    waiting > 0 && `${formatNumber(waiting)} wait for more evidence`,
    difference > 0 && `${formatNumber(difference)} too many: muster sweep ${resource.name}`,
    difference < 0 && `${formatNumber(-difference)} too few: muster sync, then muster sweep ${resource.name}`,
  ]
  counters.note = words.filter(Boolean).join('; ')
}
