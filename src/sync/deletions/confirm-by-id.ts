/** Asks by id for records that a sweep did not see: a 404 is a second piece of evidence at once. */
import { AccessDenied, NotFound, OtherRecord, TooLarge } from '../../api/client/errors.ts'
import { type SingleRead, singleRead } from '../../contract/fields/resource.ts'
import { controlIds, recordEvidence, voidEvidence } from '../../state/evidence/evidence.ts'
import { lastSweep } from '../../state/scans/sweeps.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { isStillScope } from '../run/key.ts'
import { type Candidate, type Circumstances, mostAtOnce } from './decision.ts'
import { changedScope } from './held-back.ts'

type Found = 'there' | 'missing' | 'refused'

interface Asked {
  readonly id: string
  /** Whose part of the day pays: that of events for what they caused. */
  readonly purpose?: 'reconcile' | 'webhook'
}

async function ask(
  { sync, counters }: ResourceTask,
  { path }: SingleRead,
  { id, purpose = 'reconcile' }: Asked,
): Promise<Found> {
  counters.requests += 1
  try {
    const asked = path.replace('{id}', () => encodeURIComponent(id))
    await sync.client.getRecord(asked, {}, { purpose })
    return 'there'
  } catch (error) {
    if (error instanceof NotFound) return 'missing'
    // Another record tells as little as a refusal.
    if ([AccessDenied, OtherRecord, TooLarge].some(kind => error instanceof kind)) return 'refused'
    throw error
  }
}

const noneAnswers = 'no record answers by id, so that a 404 proves nothing'

/** Whether the service answers by id at all: a gateway that answers 404 to everything would be evidence against everything. */
async function answersById(task: ResourceTask, read: SingleRead, scopeId: string): Promise<boolean> {
  for (const id of await controlIds(task.sync.engine, task.resource, scopeId))
    if ((await ask(task, read, { id })) === 'there') return true
  return false
}

/** A landslide after the sweep would make a 404 of everything that it takes along. */
async function isListStill(
  { sync, resource, counters }: ResourceTask,
  { scopeId, live, most }: Circumstances,
) {
  if (resource.read.strategy !== 'scan') return true
  const swept = await lastSweep(sync.engine, resource.name, scopeId)
  const query = { fields: 'id', page: 1, limit: 1 }
  const { meta } = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
  counters.requests += 1
  return meta.total >= Number(swept?.seen ?? 0) - mostAtOnce(live, most)
}

async function record(task: ResourceTask, answers: ReadonlyMap<string, Found>): Promise<void> {
  const { sync, resource } = task
  const at = now(sync)
  const ids = (found: Found): string[] =>
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

const isFromEvents = ({ evidence }: Candidate): boolean => evidence.some(({ kind }) => kind === 'event')

/** Stops at the first refusal, which tells nothing of deletions. What the share of events does not pay for waits. */
async function askAll(
  task: ResourceTask,
  read: SingleRead,
  open: readonly Candidate[],
): Promise<Map<string, Found>> {
  const answers = new Map<string, Found>()
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
 * Asks for those that this run has not heard of by id. What was answered counts when the key and the list are afterwards
 * as they were: throws HeldBack when the key is not.
 */
export async function confirmById(
  task: ResourceTask,
  candidates: readonly Candidate[],
  circumstances: Circumstances,
): Promise<void> {
  const { sync, resource, counters } = task
  const { scopeId } = circumstances
  const read = singleRead(resource)
  const isAsked = ({ evidence }: Candidate): boolean =>
    evidence.some(({ kind, source }) => kind === 'by-id 404' && source === sync.runId)
  const open = candidates.filter(candidate => !isAsked(candidate))
  if (!read || open.length === 0) return
  if (!(await answersById(task, read, scopeId))) {
    counters.note = noneAnswers
    return
  }
  const answers = await askAll(task, read, open)
  if (!(await isStillScope(task, scopeId))) throw changedScope(resource.name)
  // It may have stopped to answer while they were asked for.
  const isMissing = [...answers.values()].includes('missing')
  if (isMissing && !(await answersById(task, read, scopeId))) counters.note = noneAnswers
  else if (await isListStill(task, circumstances)) await record(task, answers)
  else
    counters.note =
      'the list lost many rows while candidates were asked for by id: their answers do not count'
}
