/** Tombstones records for which there is enough evidence, and writes the evidence in the same transaction. */
import { tombstone } from '../../load/merge/tombstone.ts'
import { emptiedOwners } from '../../state/evidence/emptied-owners.ts'
import { recordDeletions, type StandingEvidence, standingEvidence } from '../../state/evidence/evidence.ts'
import { countLive } from '../../state/evidence/live-count.ts'
import { closeVanished } from '../../state/evidence/quarantine.ts'
import type { DeletionRow } from '../../state/evidence/tables.ts'
import { renewLease } from '../../state/runs/leases.ts'
import { addToRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { currentScope } from '../run/key.ts'
import { confirmById } from './confirm-by-id.ts'
import {
  areTooMany,
  type Candidate,
  type Circumstances,
  type Decision,
  decide,
  isAnnounced,
  isProved,
} from './decision.ts'
import { ownerEmptied, tooManyMissing } from './held-back.ts'

function candidatesOf(rows: readonly StandingEvidence[]): Candidate[] {
  const byId = new Map<string, Candidate>()
  for (const { record_id: id, kind, source, seen_at, scope_id, is_fetched, is_predecessors } of rows) {
    const piece = { kind, source, seenAt: seen_at, scopeId: scope_id, isPredecessors: is_predecessors }
    const evidence = [...(byId.get(id)?.evidence ?? []), piece]
    byId.set(id, { id, isFetchedWithScope: is_fetched, evidence })
  }
  return [...byId.values()]
}

async function candidates(engine: Engine, { resource }: ResourceTask, scopeId: string): Promise<Candidate[]> {
  return candidatesOf(await standingEvidence(engine, resource, scopeId))
}

async function circumstancesOf(task: ResourceTask, most: number | undefined): Promise<Circumstances> {
  const { sync, resource } = task
  const live = await countLive(sync.engine, resource)
  const scopeId = currentScope(task)
  return { scopeId, live, ...(most !== undefined && { most }) }
}

function deletionRows(task: ResourceTask, { deleted }: Decision, tombstonedAt: string): DeletionRow[] {
  return deleted.map(({ candidate, at }) => ({
    resource: task.resource.name,
    record_id: candidate.id,
    tombstoned_at: tombstonedAt,
    run_id: task.sync.runId,
    deleted_at: at,
    evidence: JSON.stringify(
      candidate.evidence.map(({ kind, source, seenAt }) => ({ kind, source, seenAt })),
    ),
    undeleted_at: null,
    undeleted_by: null,
  }))
}

/** A company, or an agency of an agency key, whose whole part of the list is missing: its records are hidden, more likely than deleted. */
async function requireNoneEmptied(
  engine: Engine,
  { sync, resource }: ResourceTask,
  { deleted }: Decision,
): Promise<void> {
  const column = sync.key.kind === 'agency' ? 'agency_id' : 'company_id'
  const idsOf = (isHeard: boolean): string[] =>
    deleted.filter(({ candidate }) => isAnnounced(candidate) === isHeard).map(({ candidate }) => candidate.id)
  const missing = { quiet: idsOf(false), announced: idsOf(true) }
  const [owner] = await emptiedOwners(engine, { resource, column }, missing)
  if (owner) throw ownerEmptied(resource.name, deleted.length, owner)
}

/** Decides again inside the merge, because a record may have been read again meanwhile. */
async function tombstoneDecided(task: ResourceTask, circumstances: Circumstances): Promise<Decision> {
  const { sync, plan, lease, counters } = task
  const decision = await sync.engine.merge(async engine => {
    const decided = decide(await candidates(engine, task, circumstances.scopeId), circumstances)
    if (circumstances.most === undefined) await requireNoneEmptied(engine, task, decided)
    await tombstone(
      engine,
      plan,
      decided.deleted.map(({ candidate, at }) => ({ id: candidate.id, at })),
    )
    await recordDeletions(engine, deletionRows(task, decided, now(sync)))
    const ids = decided.deleted.map(({ candidate }) => candidate.id)
    await closeVanished(engine, { resource: task.resource.name, ids, at: now(sync) })
    await addToRun(engine, sync.runId, { rows_removed: decided.deleted.length })
    await renewLease(engine, lease)
    return decided
  })
  counters.rows_removed += decision.deleted.length
  return decision
}

/** Throws HeldBack when more records would be deleted at once than can be believed. */
export async function tombstoneProved(task: ResourceTask, most?: number): Promise<void> {
  const { resource, counters } = task
  const circumstances = await circumstancesOf(task, most)
  const open = await candidates(task.sync.engine, task, circumstances.scopeId)
  if (open.length === 0) return
  const unproved = open.filter(candidate => !isProved(candidate, circumstances.scopeId))
  // More candidates than the limit are not asked for one by one: they would not be believed.
  if (!areTooMany(unproved, circumstances)) await confirmById(task, unproved, circumstances)
  const { deleted, doubted } = await tombstoneDecided(task, circumstances)
  if (doubted !== undefined) throw tooManyMissing(resource.name, doubted, circumstances.live)
  const waiting = open.length - deleted.length
  if (waiting > 0)
    counters.note = [counters.note, `${waiting} wait for more evidence`].filter(Boolean).join('; ')
}
