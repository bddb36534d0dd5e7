/**
 * Compares a complete sweep with the stored rows: records seen again, deletion candidates, and records still to be
 * read.
 */

import { revive } from '../../load/merge/tombstone.ts'
import { recordEvidence, recordUndeletions, voidEvidence } from '../../state/evidence/evidence.ts'
import {
  countAnnounced,
  countOutOfSight,
  forgetOutOfSight,
  judgedCount,
  missingIds,
  noteUnread,
  rememberOutOfSight,
  resolveMissing,
  revivedIds,
  type SweptList,
  voidSeen,
} from '../../state/evidence/swept-records.ts'
import { renewLease } from '../../state/runs/leases.ts'
import { addToRun } from '../../state/runs/runs.ts'
import { countSweptIds, forgetSweptIds } from '../../state/scans/scan-ids.ts'
import { lastSweep, updateSweep } from '../../state/scans/sweeps.ts'
import type { SweepRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { isStillScope } from '../run/key.ts'
import { fenced } from '../run/renew-lease.ts'
import { worthOf } from './decision.ts'
import { changedScope, newScope, tooManyMissing } from './withheld-deletions.ts'

/** Checks the scope after the last page: if it has changed, the sweep is not evidence. */
async function requireSameScope(task: ResourceTask, { sweep_id, scope_id }: SweepRow): Promise<void> {
  const { sync, resource } = task
  if (await isStillScope(task, scope_id)) return
  await fenced(task, async engine => {
    await updateSweep(engine, sweep_id, { state: 'refused', ended_at: now(sync), note: 'changed scope' })
    await forgetSweptIds(engine, sweep_id)
  })
  throw changedScope(resource.name)
}

async function listOf(engine: Engine, { resource }: ResourceTask, sweep: SweepRow): Promise<SweptList> {
  const before = await lastSweep(engine, resource.name, sweep.scope_id)
  return {
    resource,
    sweepId: sweep.sweep_id,
    scopeId: sweep.scope_id,
    startedAt: sweep.started_at,
    baseline: before?.started_at ?? null,
  }
}

/** Revives the records that the sweep saw: they exist, whatever else the sweep is worth. */
async function recordSeen(engine: Engine, task: ResourceTask, list: SweptList): Promise<void> {
  const { sync, resource, plan, counters } = task
  const revived = (await engine.rows<{ id: string }>(revivedIds(list))).map(({ id }) => id)
  const at = list.startedAt
  await revive(
    engine,
    plan,
    revived.map(id => ({ id, at })),
  )
  const of = { resource: resource.name, ids: revived }
  await recordUndeletions(engine, of, { at, run: sync.runId })
  await voidEvidence(engine, of, { at, reason: `seen by sweep ${list.sweepId}` })
  // In the transaction that revives them: builds learn from this count that rows changed.
  await addToRun(engine, sync.runId, { rows_changed: revived.length })
  counters.rows_changed += revived.length
  await engine.run(voidSeen(list))
  await engine.run(forgetOutOfSight(list))
  const watermark = (await readWatermark(engine, resource.name))?.watermark
  // A scan may end at the watermark itself once nothing more can come below it (scan/collection.ts).
  if (watermark) await engine.run(noteUnread(list, new Date(Date.parse(watermark) + 1).toISOString()))
}

interface SweepJudgement {
  readonly worth: ReturnType<typeof worthOf>
  readonly judged: number
  readonly missing: number
  /** Records newly noted as not shown by this scope. */
  readonly outOfSight: number
}

async function candidate(
  engine: Engine,
  task: ResourceTask,
  { list, maxDeletions }: { readonly list: SweptList; readonly maxDeletions: number | undefined },
): Promise<SweepJudgement> {
  const { runId } = task.sync
  const [counted] = await engine.rows<{ n: number }>(judgedCount(list))
  const judged = Number(counted?.n ?? 0)
  const ids = await engine.rows<{ id: string }>(missingIds(list))
  const missing = ids.length
  const [others] = await engine.rows<{ n: number }>(countOutOfSight(list))
  const isNewScope =
    list.baseline === null &&
    (Number(others?.n ?? 0) > 0 || (await lastSweep(engine, task.resource.name)) !== undefined)
  const [heard] = await engine.rows<{ n: number }>(countAnnounced(list))
  const announced = Number(heard?.n ?? 0)
  const worth = worthOf({
    judged,
    missing,
    announced,
    isNewScope,
    ...(maxDeletions !== undefined && { maxDeletions }),
  })
  const outOfSight = worth === 'implausible' ? 0 : await engine.run(rememberOutOfSight(list))
  if (worth === 'evidence') {
    const seen = { resource: task.resource.name, kind: 'sweep' as const, source: runId }
    await recordEvidence(
      engine,
      ids.map(({ id }) => ({ ...seen, record_id: id, seen_at: list.startedAt })),
    )
    await engine.run(resolveMissing(list))
  }
  return { worth, judged, missing, outOfSight }
}

/** Returns why the sweep is implausible, if it is; records it in any case. */
export async function judgeSweep(
  task: ResourceTask,
  sweep: SweepRow,
  maxDeletions?: number,
): Promise<Error | undefined> {
  const { sync, resource, lease } = task
  await requireSameScope(task, sweep)
  const { worth, judged, missing, outOfSight } = await sync.engine.merge(async engine => {
    const list = await listOf(engine, task, sweep)
    const judgement = await candidate(engine, task, { list, maxDeletions })
    await recordSeen(engine, task, list)
    await updateSweep(engine, sweep.sweep_id, {
      state: judgement.worth === 'implausible' ? 'implausible' : 'accepted',
      ended_at: now(sync),
      seen: await countSweptIds(engine, sweep.sweep_id),
      judged: judgement.judged,
      missing: judgement.missing,
      note: judgement.worth === 'evidence' ? null : judgement.worth,
    })
    await forgetSweptIds(engine, sweep.sweep_id)
    await renewLease(engine, lease)
    return judgement
  })
  if (worth === 'implausible') return tooManyMissing(resource.name, missing, judged)
  return worth === 'baseline' ? newScope(resource.name, outOfSight) : undefined
}
