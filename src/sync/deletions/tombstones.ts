/** Tombstones records with enough evidence, and writes the evidence in the same transaction. */
import { tombstone } from '../../load/merge/tombstone.ts'
import { countLive } from '../../state/evidence/absence.ts'
import { emptiedOwners } from '../../state/evidence/emptied-owners.ts'
import { recordDeletions, type StandingEvidence, standingEvidence } from '../../state/evidence/evidence.ts'
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
  type DeletionCandidate,
  type DeletionContext,
  type DeletionDecision,
  decide,
  isAnnounced,
  isProved,
} from './decision.ts'
import { ownerEmptied, tooManyMissing } from './withheld-deletions.ts'

function candidatesOf(rows: readonly StandingEvidence[]): DeletionCandidate[] {
  const byId = new Map<string, DeletionCandidate>()
  for (const { record_id: id, kind, source, seen_at, scope_id, is_fetched, is_predecessors } of rows) {
    const piece = { kind, source, seenAt: seen_at, scopeId: scope_id, isPredecessors: is_predecessors }
    const evidence = [...(byId.get(id)?.evidence ?? []), piece]
    byId.set(id, { id, isFetchedWithScope: is_fetched, evidence })
  }
  return [...byId.values()]
}

async function candidates(
  engine: Engine,
  { resource }: ResourceTask,
  scopeId: string,
): Promise<DeletionCandidate[]> {
  return candidatesOf(await standingEvidence(engine, resource, scopeId))
}

async function deletionContextOf(
  task: ResourceTask,
  maxDeletions: number | undefined,
): Promise<DeletionContext> {
  const { sync, resource } = task
  const live = await countLive(sync.engine, resource)
  const scopeId = currentScope(task)
  return { scopeId, live, ...(maxDeletions !== undefined && { maxDeletions }) }
}

function deletionRows(
  task: ResourceTask,
  { deleted }: DeletionDecision,
  tombstonedAt: string,
): DeletionRow[] {
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

/**
 * Refuses to delete all records of a company, or of an agency of an agency key: they are more likely hidden than
 * deleted.
 */
async function requireNoneEmptied(
  engine: Engine,
  { sync, resource }: ResourceTask,
  { deleted }: DeletionDecision,
): Promise<void> {
  const column = sync.key.kind === 'agency' ? 'agency_id' : 'company_id'
  const idsOf = (isHeard: boolean): string[] =>
    deleted.filter(({ candidate }) => isAnnounced(candidate) === isHeard).map(({ candidate }) => candidate.id)
  const missing = { quiet: idsOf(false), announced: idsOf(true) }
  const [owner] = await emptiedOwners(engine, { resource, column }, missing)
  if (owner) throw ownerEmptied(resource.name, deleted.length, owner)
}

/** Decides again inside the merge, because a record may have been read again in between. */
async function tombstoneDecided(task: ResourceTask, context: DeletionContext): Promise<DeletionDecision> {
  const { sync, plan, lease, counters } = task
  const decision = await sync.engine.merge(async engine => {
    const decided = decide(await candidates(engine, task, context.scopeId), context)
    if (context.maxDeletions === undefined) await requireNoneEmptied(engine, task, decided)
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

/** Throws DeletionsHeldBack when an implausible number of records would be deleted at once. */
export async function tombstoneProved(task: ResourceTask, maxDeletions?: number): Promise<void> {
  const { resource, counters } = task
  const context = await deletionContextOf(task, maxDeletions)
  const open = await candidates(task.sync.engine, task, context.scopeId)
  if (open.length === 0) return
  const unproved = open.filter(candidate => !isProved(candidate, context.scopeId))
  // Do not fetch more candidates than the limit: their deletion would be implausible anyway.
  if (!areTooMany(unproved, context)) await confirmById(task, unproved, context)
  const { deleted, implausible } = await tombstoneDecided(task, context)
  if (implausible !== undefined) throw tooManyMissing(resource.name, implausible, context.live)
  const waiting = open.length - deleted.length
  if (waiting > 0)
    counters.note = [counters.note, `${waiting} wait for more evidence`].filter(Boolean).join('; ')
}
