/** Requests the records by id that a sweep did not see: a 404 is immediately a second piece of evidence. */
import { AccessDenied, AnswerTooLarge, NotFound, OtherRecord } from '../../api/client/errors.ts'
import { type SingleRead, singleRead } from '../../contract/fields/resource.ts'
import { controlIds, recordEvidence, voidEvidence } from '../../state/evidence/evidence.ts'
import { lastSweep } from '../../state/scans/sweeps.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { isStillScope } from '../run/key.ts'
import { fenced } from '../run/renew-lease.ts'
import { type DeletionCandidate, type DeletionContext, maxAtOnce } from './decision.ts'
import { changedScope } from './withheld-deletions.ts'

type RecordAnswer = 'there' | 'missing' | 'refused'

interface ConfirmRequest {
  readonly id: string
  /** The purpose whose budget pays: that of events for what they caused. */
  readonly purpose?: 'reconcile' | 'webhook'
}

async function ask(
  { sync, counters }: ResourceTask,
  { path }: SingleRead,
  { id, purpose = 'reconcile' }: ConfirmRequest,
): Promise<RecordAnswer> {
  counters.requests += 1
  try {
    const asked = path.replace('{id}', () => encodeURIComponent(id))
    await sync.client.getRecord(asked, {}, { purpose })
    return 'there'
  } catch (error) {
    if (error instanceof NotFound) return 'missing'
    // A different record says as little as a refusal.
    if ([AccessDenied, OtherRecord, AnswerTooLarge].some(kind => error instanceof kind)) return 'refused'
    throw error
  }
}

const notReadableById = 'the service returns no record by id, so a 404 proves nothing'

/**
 * Whether the service returns records by id at all: a gateway that returns 404 for everything would be evidence against
 * every record.
 */
async function answersById(task: ResourceTask, read: SingleRead, scopeId: string): Promise<boolean> {
  for (const id of await controlIds(task.sync.engine, task.resource, scopeId))
    if ((await ask(task, read, { id })) === 'there') return true
  return false
}

/**
 * Whether the list has not shrunk much since the sweep: after a mass loss, a 404 would say nothing about a single
 * record.
 */
async function isListStill(
  { sync, resource, counters }: ResourceTask,
  { scopeId, live, maxDeletions }: DeletionContext,
) {
  if (resource.read.strategy !== 'scan') return true
  const swept = await lastSweep(sync.engine, resource.name, scopeId)
  const query = { fields: 'id', page: 1, limit: 1 }
  const { meta } = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
  counters.requests += 1
  return meta.total >= Number(swept?.seen ?? 0) - maxAtOnce(live, maxDeletions)
}

async function record(task: ResourceTask, answers: ReadonlyMap<string, RecordAnswer>): Promise<void> {
  const { sync, resource } = task
  const at = now(sync)
  const ids = (found: RecordAnswer): string[] =>
    [...answers].flatMap(([id, answer]) => (answer === found ? [id] : []))
  const row = { resource: resource.name, kind: 'by-id 404' as const, source: sync.runId, seen_at: at }
  const of = { resource: resource.name, ids: ids('there') }
  await fenced(task, async engine => {
    await recordEvidence(
      engine,
      ids('missing').map(id => ({ ...row, record_id: id })),
    )
    await voidEvidence(engine, of, { at, reason: `answered by id in run ${sync.runId}` })
  })
}

const isFromEvents = ({ evidence }: DeletionCandidate): boolean =>
  evidence.some(({ kind }) => kind === 'event')

/** Stops at the first refusal, which says nothing about deletions. Skips what the share for events cannot pay for. */
async function askAll(
  task: ResourceTask,
  read: SingleRead,
  open: readonly DeletionCandidate[],
): Promise<Map<string, RecordAnswer>> {
  const answers = new Map<string, RecordAnswer>()
  for (const candidate of open) {
    const { id } = candidate
    const purpose = isFromEvents(candidate) ? 'webhook' : 'reconcile'
    if (purpose === 'webhook' && task.sync.client.usage().leftForEvents < 1) continue
    const found = await ask(task, read, { id, purpose })
    if (found === 'refused') break
    answers.set(id, found)
  }
  return answers
}

/**
 * Requests by id the candidates that this run has not requested yet. The responses count only if key and list are still
 * the same afterwards; throws DeletionsHeldBack if the key is not.
 */
export async function confirmById(
  task: ResourceTask,
  candidates: readonly DeletionCandidate[],
  context: DeletionContext,
): Promise<void> {
  const { sync, resource, counters } = task
  const { scopeId } = context
  const read = singleRead(resource)
  const isAsked = ({ evidence }: DeletionCandidate): boolean =>
    evidence.some(({ kind, source }) => kind === 'by-id 404' && source === sync.runId)
  const open = candidates.filter(candidate => !isAsked(candidate))
  if (!read || open.length === 0) return
  if (!(await answersById(task, read, scopeId))) {
    counters.note = notReadableById
    return
  }
  const answers = await askAll(task, read, open)
  if (!(await isStillScope(task, scopeId))) throw changedScope(resource.name)
  // The service may have stopped returning records by id in between.
  const isMissing = [...answers.values()].includes('missing')
  if (isMissing && !(await answersById(task, read, scopeId))) counters.note = notReadableById
  else if (await isListStill(task, context)) await record(task, answers)
  else
    counters.note = 'the list lost many rows while candidates were fetched by id: the responses do not count'
}
