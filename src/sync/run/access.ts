/** Learns from a run's responses whether the key may read a resource. */
import { AccessDenied, BadAnswer } from '../../api/client/errors.ts'
import { MusterError } from '../../lib/errors.ts'
import { accessState, recordAccess } from '../../state/requests/key-state.ts'
import type { AccessRow } from '../../state/requests/tables.ts'
import { now, type ResourceTask } from './context.ts'

/** The service refuses a resource that it returned before: the stored rows stay, and grow old. */
export class AccessLost extends MusterError {
  /** `part` is set when other parts of the resource are readable, such as other companies. */
  constructor(resource: string, cause: MusterError, part = '') {
    const { where } = cause.report
    super({
      what: `the key may no longer read ${resource}${part}`,
      ...(where !== undefined && { where }),
      next: `compare the key's scopes (muster doctor); if this is intended, muster sync ${resource} --accept-refused`,
      cause,
    })
  }
}

/** Requests by id count even when they are refused, so only their records prove access. */
const hasRead = ({ resource, counters }: ResourceTask): boolean =>
  counters.records_read > 0 || (resource.read.strategy !== 'byId' && counters.requests > 0)

const accessKeyOf = ({ sync, resource }: ResourceTask) => ({
  resource: resource.name,
  key_kind: sync.key.kind,
})

/**
 * The error to report: refusing a resource that was readable before is a failure, unless the operator has accepted it.
 */
export async function refusalOf(task: ResourceTask, error: unknown): Promise<unknown> {
  const { sync, resource } = task
  if (!(error instanceof AccessDenied) || sync.acceptsRefused) return error
  const before = await accessState(sync.engine, accessKeyOf(task))
  const isLost = before === 'readable' || before === 'no longer readable' || hasRead(task)
  return isLost ? new AccessLost(resource.name, error) : error
}

function stateAfter(task: ResourceTask, error: unknown): AccessRow['state'] | undefined {
  if (error instanceof AccessDenied) return 'refused'
  if (error instanceof AccessLost) return 'no longer readable'
  // An unusable response still shows that the list may be read.
  return hasRead(task) || error instanceof BadAnswer ? 'readable' : undefined
}

/** A run without any response for a resource leaves its access unchanged. */
export async function reportAccess(task: ResourceTask, error: unknown): Promise<void> {
  const state = stateAfter(task, error)
  if (state === undefined) return
  const { sync, resource } = task
  const { kind } = sync.key
  const reason = state === 'readable' ? null : (error as MusterError).message
  await recordAccess(sync.engine, {
    ...accessKeyOf(task),
    way: resource.keys[kind],
    ...{ state, reason, checked_at: now(sync) },
  })
}
