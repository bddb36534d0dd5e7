/** Checks that Muster itself reports what is missing or outdated: in the run's result, `status`, checks and marts. */
import type { Resource } from '../../src/contract/fields/resource.ts'
import { type ResourceState, resourceState } from '../../src/state/runs/resource-state.ts'
import { lostRuns } from '../../src/state/runs/runs.ts'
import { type IncompleteResource, incompleteResources } from '../../src/state/scans/completeness.ts'
import { lastSweep } from '../../src/state/scans/sweeps.ts'
import type { ResourceResult } from '../../src/sync/run/task.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import type { CommandResult } from './dag-run.ts'
import { type ListSituation, outdatedRecords } from './laws.ts'
import { collectionOf } from './scenario.ts'

/** What Muster reports about one list after a process. */
export interface ListReport {
  /** Why the list is incomplete. `status`, the check `resources_complete`, `mart.data_health` and `publish` read the same reasons. */
  readonly reasons: readonly IncompleteResource[]
  /** The row of `status`, and its lines about pages and empty lists. */
  readonly state: ResourceState
  /** Ids that `status` and `mart.data_health` count as candidates for deletion. */
  readonly candidates: ReadonlySet<string>
  /** Whether `status` names a run that was killed before it finished. */
  readonly hasLostRun: boolean
  /** When the last sweep that read all pages started, in milliseconds; maybe in an earlier process, which was killed. */
  readonly sweepStartedAt: number
  /** Fetch time of the record quarantined last, in milliseconds, even if it has been loaded since. */
  readonly lastQuarantinedAt: number
}

async function readCandidates(engine: Engine, { name }: Resource): Promise<Set<string>> {
  const rows = await engine.rows<{ id: string }>(
    'select distinct record_id as id from ops.evidence where resource = $1 and void_at is null',
    [name],
  )
  return new Set(rows.map(({ id }) => id))
}

const timeOf = (text: string | null | undefined): number => (text ? Date.parse(text) : 0)

async function lastQuarantinedAt(engine: Engine, { name }: Resource): Promise<number> {
  const [row] = await engine.rows<{ at: string | null }>(
    'select max(seen_at) as at from ops.quarantine where resource = $1',
    [name],
  )
  return timeOf(row?.at)
}

export async function readReport(engine: Engine, resource: Resource): Promise<ListReport> {
  const all = (await incompleteResources(engine)) ?? []
  return {
    reasons: all.filter(one => one.resource === resource.name),
    state: await resourceState(engine, resource),
    candidates: await readCandidates(engine, resource),
    hasLostRun: (await lostRuns(engine)).length > 0,
    sweepStartedAt: Date.parse(
      (await lastSweep(engine, resource.name))?.started_at ?? '1970-01-01T00:00:00.000Z',
    ),
    lastQuarantinedAt: await lastQuarantinedAt(engine, resource),
  }
}

/** The `Date` header has whole seconds, so a row's time may be earlier by up to this many milliseconds. */
const dateMs = 1000

/** Whether the ledger has a run that started at `since` (in milliseconds) or later. */
export async function hasStarted(engine: Engine, since: number): Promise<boolean> {
  const runs = await engine.rows('select run_id from ops.run where started_at >= cast($1 as timestamptz)', [
    new Date(since - dateMs).toISOString(),
  ])
  return runs.length > 0
}

/** A list after a process, with everything that the laws compare. */
export interface ListReview {
  readonly situation: ListSituation
  readonly report: ListReport
  readonly results: readonly CommandResult[]
  /** Whether the process was killed before it was done. */
  readonly wasKilled: boolean
  /** Whether any process of the seed was killed: its pages may be loaded days later. */
  readonly wasEverKilled: boolean
  /** Whether a run of the process has a row in the ledger. */
  readonly hasStarted: boolean
  /** Whether the service may have hidden records. */
  readonly mayHide: boolean
  /** Whether the service ever returned a page of the list. */
  readonly wasShown: boolean
}

const resourceResult = (result: CommandResult | undefined, list: string): ResourceResult | undefined =>
  result?.outcome?.resources.find(({ resource }) => resource === list)

const resultOf = ({ results }: ListReview, command: string): CommandResult | undefined =>
  results.find(one => one.command === command)

/** Whether this run or an earlier one reported that the key may not read the list, and the service never returned a page of it. */
export const isReportedAsRefused = (review: ListReview): boolean => {
  const { situation, report, wasShown } = review
  const { state = 'skipped' } = resourceResult(resultOf(review, 'sync'), situation.list) ?? {}
  const isSkipped = state === 'skipped'
  return isSkipped && !wasShown && situation.stored.size === 0 && report.state.access === 'refused'
}

/** Whether hidden rows or an empty list are reported. A list without stored rows cannot be told apart from an empty one. */
const isReportedAsHidden = ({ report: { state } }: ListReview): boolean =>
  state.hiddenRows !== null || state.emptySince !== null || state.rows === 0

/**
 * Whether Muster had to report the list. It need not if no sync of lists ran, if the process was killed before its run was in
 * the ledger, or if `status` already names the killed run.
 */
const mustReport = (review: ListReview): boolean =>
  resultOf(review, 'sync') !== undefined ||
  (review.wasKilled && review.hasStarted && !review.report.hasLostRun)

/** If a record did not change and its row is missing or outdated, Muster has reported its list, even after a kill. */
export function lawOfReporting(review: ListReview): string[] {
  const { report, situation, mayHide } = review
  const outdatedCount = outdatedRecords(situation).size
  if (outdatedCount === 0 || report.reasons.length > 0 || !mustReport(review)) return []
  if (isReportedAsRefused(review) || (mayHide && isReportedAsHidden(review))) return []
  const sync = resultOf(review, 'sync')
  const how = sync ? `a sync ended with ${sync.code} ${sync.message}` : 'a sync was killed'
  return [`${outdatedCount} of ${situation.list} are missing or outdated, and nothing reports it: ${how}`]
}

/** Ids of records that were deleted before a sweep of the list started, and whose rows it kept. */
export function leftBySweep(review: ListReview): string[] {
  const { list, stored, service, since } = review.situation
  const collection = collectionOf(list)
  const startedAt = Math.min(since, review.report.sweepStartedAt)
  if (!resourceResult(resultOf(review, 'sweep'), list) || review.mayHide) return []
  return [...stored.values()]
    .filter(({ id, is_deleted }) => !is_deleted && !service.world.get(collection, id))
    .filter(({ id }) => (service.truthOf(collection, id)?.changedAt ?? 0) < startedAt)
    .map(({ id }) => id)
}

/** A deleted record that a sweep keeps is a candidate, unless the sweep is reported as implausible, refused or failed. */
export function lawOfSweeps(review: ListReview): string[] {
  const { situation, report } = review
  const { list } = situation
  const sweep = resultOf(review, 'sweep')
  const isDone = resourceResult(sweep, list)?.state === 'done'
  if (report.reasons.length > 0 || !isDone) return []
  return leftBySweep(review)
    .filter(id => !report.candidates.has(id))
    .map(id => `a sweep ended with ${sweep?.code}, and ${list} ${id} is deleted, but not a candidate`)
}

/** Number of records that the sync reports as quarantined. */
export const quarantinedBySync = (review: ListReview): number =>
  resourceResult(resultOf(review, 'sync'), review.situation.list)?.quarantined ?? 0

/** `status` counts every record in quarantine, and quarantine has the records that a sync could not load. */
export function lawOfQuarantine(review: ListReview): string[] {
  const { situation, report } = review
  const { excused, list, since } = situation
  const counted = report.state.quarantined ?? 0
  const leftOut = quarantinedBySync(review)
  return [
    ...(counted >= excused.size
      ? []
      : [`${excused.size} of ${list} are in quarantine, and status says ${counted}`]),
    ...(leftOut === 0 || report.lastQuarantinedAt >= (review.wasEverKilled ? 1 : since - dateMs)
      ? []
      : [`a sync could not load ${leftOut} of ${list}, and quarantined none`]),
  ]
}
