/** A second witness at once, where records can be read by id: what a sweep missed is asked for by name. */
import { AccessDenied, NotFound } from '../api/errors.ts'
import { type SingleRead, singleRead } from '../resources/resource.ts'
import { voidWitnesses, witness } from '../warehouse/ledger/deletions.ts'
import { fetchedWith, liveRecords } from '../warehouse/merge/missing.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { now, type ResourceTask } from './context.ts'
import type { Suspect } from './deletion-verdict.ts'
import { fenced } from './hold-lease.ts'

type Found = 'there' | 'gone' | 'refused'

async function ask({ sync, tally }: ResourceTask, { path }: SingleRead, id: string): Promise<Found> {
  tally.requests += 1
  try {
    await sync.client.getRecord(path.replace('{id}', encodeURIComponent(id)), {}, { purpose: 'reconcile' })
    return 'there'
  } catch (error) {
    if (error instanceof NotFound) return 'gone'
    if (error instanceof AccessDenied) return 'refused'
    throw error
  }
}

/** Records that should answer: fetched last with the scope of now, and found gone by nobody. */
async function controls({ sync, resource }: ResourceTask, scopeId: string): Promise<string[]> {
  const key = `t.${quoteName(resource.table.key)}`
  const rows = await sync.engine.rows<{ id: string }>(
    `select ${key} as id from ${liveRecords(resource)} and ${fetchedWith(scopeId)}
       and not exists (select 1 from ops.witness w where w.resource = ${quoteText(resource.name)}
         and w.record_id = ${key} and w.void_at is null)
     order by t.loaded_at desc, ${key} limit 3`,
  )
  return rows.map(({ id }) => id)
}

/** Whether the service answers by id at all: a gateway that says 404 to everything would be a witness of everything. */
async function answersById(task: ResourceTask, read: SingleRead, scopeId: string): Promise<boolean> {
  for (const id of await controls(task, scopeId)) if ((await ask(task, read, id)) === 'there') return true
  return false
}

async function record(task: ResourceTask, id: string, found: Found): Promise<void> {
  const { sync, resource } = task
  const at = now(sync)
  const kind = 'by-id 404' as const
  const row = { resource: resource.name, record_id: id, kind, source: sync.runId, seen_at: at }
  await fenced(task, async () => {
    if (found === 'gone') await witness(sync.engine, [row])
    else {
      const reason = `answered by id in run ${sync.runId}`
      await voidWitnesses(sync.engine, { resource: resource.name, ids: [id] }, { at, reason })
    }
  })
}

/**
 * Asks for those that this run has not heard of by id; stops at the first refusal, which tells nothing of deletions.
 * False when nothing was asked.
 */
export async function confirmById(
  task: ResourceTask,
  suspects: readonly Suspect[],
  scopeId: string,
): Promise<boolean> {
  const { sync, resource, tally } = task
  const read = singleRead(resource)
  const isAsked = ({ words }: Suspect): boolean =>
    words.some(({ kind, source }) => kind === 'by-id 404' && source === sync.runId)
  const open = suspects.filter(suspect => !isAsked(suspect))
  if (!read || open.length === 0) return false
  if (!(await answersById(task, read, scopeId))) {
    tally.note = 'no record answers by id, so that a 404 proves nothing'
    return false
  }
  for (const { id } of open) {
    const found = await ask(task, read, id)
    if (found === 'refused') break
    await record(task, id, found)
  }
  return true
}
