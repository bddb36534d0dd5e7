/** Tombstones what enough witnesses saw gone, with the evidence in the same transaction. */

import { tombstone } from '../../load/merge/tombstone.ts'
import { recordDeletions, type StandingEvidence, standingEvidence } from '../../state/evidence/evidence.ts'
import type { DeletionRow } from '../../state/evidence/tables.ts'
import { renewLease } from '../../state/runs/leases.ts'
import { addToRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords } from '../../warehouse/schema/record-rows.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { currentScope } from '../run/key.ts'
import {
  type Circumstances,
  decide,
  isProved,
  mostAtOnce,
  type Suspect,
  type Verdict,
} from './deletion-verdict.ts'
import { tooManyGone } from './held-back.ts'
import { confirmById } from './sweep-confirm.ts'

function suspectsOf(rows: readonly StandingEvidence[]): Suspect[] {
  const byId = new Map<string, Suspect>()
  for (const { record_id: id, kind, source, seen_at, scope_id, is_fetched, is_predecessors } of rows) {
    const word = { kind, source, seenAt: seen_at, scopeId: scope_id, isPredecessors: is_predecessors }
    const words = [...(byId.get(id)?.words ?? []), word]
    byId.set(id, { id, isFetchedWithScope: is_fetched, words })
  }
  return [...byId.values()]
}

async function suspects(engine: Engine, { resource }: ResourceTask, scopeId: string): Promise<Suspect[]> {
  return suspectsOf(await standingEvidence(engine, resource, scopeId))
}

async function circumstancesOf(task: ResourceTask, most: number | undefined): Promise<Circumstances> {
  const { sync, resource } = task
  const [held] = await sync.engine.rows<{ n: number }>(`select count(*) as n from ${liveRecords(resource)}`)
  const scopeId = currentScope(task)
  return { scopeId, live: Number(held?.n ?? 0), ...(most !== undefined && { most }) }
}

function evidence(task: ResourceTask, { gone }: Verdict, tombstonedAt: string): DeletionRow[] {
  return gone.map(({ suspect, at }) => ({
    resource: task.resource.name,
    record_id: suspect.id,
    tombstoned_at: tombstonedAt,
    run_id: task.sync.runId,
    deleted_at: at,
    evidence: JSON.stringify(suspect.words.map(({ kind, source, seenAt }) => ({ kind, source, seenAt }))),
    undeleted_at: null,
    undeleted_by: null,
  }))
}

/** What is known by now is decided upon again inside the merge: a record may have been read again meanwhile. */
async function settle(task: ResourceTask, circumstances: Circumstances): Promise<Verdict> {
  const { sync, plan, lease, counters } = task
  const verdict = await sync.engine.merge(async engine => {
    const decided = decide(await suspects(engine, task, circumstances.scopeId), circumstances)
    await tombstone(
      engine,
      plan,
      decided.gone.map(({ suspect, at }) => ({ id: suspect.id, at })),
    )
    await recordDeletions(engine, evidence(task, decided, now(sync)))
    await addToRun(engine, sync.runId, { rows_removed: decided.gone.length })
    await renewLease(engine, lease)
    return decided
  })
  counters.rows_removed += verdict.gone.length
  return verdict
}

/** Throws HeldBack when more would go at once than is to be believed. */
export async function tombstoneProved(task: ResourceTask, most?: number): Promise<void> {
  const { resource, counters } = task
  const circumstances = await circumstancesOf(task, most)
  const open = await suspects(task.sync.engine, task, circumstances.scopeId)
  if (open.length === 0) return
  const unproved = open.filter(suspect => !isProved(suspect, circumstances.scopeId))
  // More than may go at once is not asked for one by one: it is not believed in any case.
  if (unproved.length <= mostAtOnce(circumstances.live, most))
    await confirmById(task, unproved, circumstances)
  const { gone, doubted } = await settle(task, circumstances)
  if (doubted !== undefined) throw tooManyGone(resource.name, doubted, circumstances.live)
  const waiting = open.length - gone.length
  if (waiting > 0)
    counters.note = [counters.note, `${waiting} wait for more evidence`].filter(Boolean).join('; ')
}
