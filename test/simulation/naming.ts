/** What is not here as the source has it is named by Muster itself: by the run, and where people and programs look. */
import type { Resource } from '../../src/contract/fields/resource.ts'
import { type ResourceState, resourceState } from '../../src/state/runs/resource-state.ts'
import { lostRuns } from '../../src/state/runs/runs.ts'
import { type IncompleteResource, incompleteResources } from '../../src/state/scans/completeness.ts'
import { lastSweep } from '../../src/state/scans/sweeps.ts'
import type { ResourceResult } from '../../src/sync/run/task.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { collectionOf } from './climate.ts'
import type { Ended } from './dag-run.ts'
import { behind, type Situation } from './laws.ts'

/** What Muster says of one list after a night. */
export interface Said {
  /** `status`, the check `resources_complete`, `mart.data_health` and `publish` say it by these. */
  readonly reasons: readonly IncompleteResource[]
  /** The row of `status`, and its lines about pages and empty lists. */
  readonly state: ResourceState
  /** Ids of records that `status` and `mart.data_health` count as candidates for deletion. */
  readonly candidates: ReadonlySet<string>
  /** Whether `status` names a run that died without finishing. */
  readonly tellsOfDeath: boolean
  /** When the last sweep that was read whole began, in milliseconds: maybe in an earlier night, which was killed. */
  readonly sweepBegan: number
  /** When the page was fetched of the record that was put in quarantine last, in milliseconds; whether or not it is still there. */
  readonly lastQuarantinedAt: number
}

async function candidatesOf(engine: Engine, { name }: Resource): Promise<Set<string>> {
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

export async function saidOf(engine: Engine, resource: Resource): Promise<Said> {
  const all = (await incompleteResources(engine)) ?? []
  return {
    reasons: all.filter(one => one.resource === resource.name),
    state: await resourceState(engine, resource),
    candidates: await candidatesOf(engine, resource),
    tellsOfDeath: (await lostRuns(engine)).length > 0,
    sweepBegan: Date.parse(
      (await lastSweep(engine, resource.name))?.started_at ?? '1970-01-01T00:00:00.000Z',
    ),
    lastQuarantinedAt: await lastQuarantinedAt(engine, resource),
  }
}

/** The `Date` of an answer names the second only, so that a row may be dated this much earlier, in milliseconds. */
const dateMs = 1000

/** Whether a run has left a row in the ledger since then, in milliseconds. */
export async function hasBegun(engine: Engine, since: number): Promise<boolean> {
  const runs = await engine.rows('select run_id from ops.run where started_at >= cast($1 as timestamptz)', [
    new Date(since - dateMs).toISOString(),
  ])
  return runs.length > 0
}

/** A list after a night of commands, and what was said of it. */
export interface Judged {
  readonly situation: Situation
  readonly said: Said
  readonly ended: readonly Ended[]
  /** Whether its process was killed before it was done. */
  readonly wasKilled: boolean
  /** Whether any process was: its pages may be loaded nights later. */
  readonly wasEverKilled: boolean
  /** Whether a run of the night has left a row in the ledger. */
  readonly hasBegun: boolean
  /** Whether the service may have kept records to itself. */
  readonly mayHide: boolean
  /** Whether it ever answered a request for the list with a page. */
  readonly wasShown: boolean
}

const outcomeOf = (ended: Ended | undefined, list: string): ResourceResult | undefined =>
  ended?.outcome?.resources.find(({ resource }) => resource === list)

const of = ({ ended }: Judged, command: string): Ended | undefined =>
  ended.find(one => one.command === command)

/** Told, by this run or one before it, as a list that the key may not read, which the service never showed a page of. */
export const isToldAsRefused = (judged: Judged): boolean => {
  const { situation, said, wasShown } = judged
  const { state = 'skipped' } = outcomeOf(of(judged, 'sync'), situation.list) ?? {}
  const isSkipped = state === 'skipped'
  return isSkipped && !wasShown && situation.stored.size === 0 && said.state.access === 'refused'
}

/** Told as rows that no page shows, or as an empty list. One that never had rows here looks like any other. */
const isToldAsHidden = ({ said: { state } }: Judged): boolean =>
  state.hiddenRows !== null || state.emptySince !== null || state.rows === 0

/** A night that was not about lists has nothing to say, nor has a process that never began a run, or is told as dead. */
const isAsked = (judged: Judged): boolean =>
  of(judged, 'sync') !== undefined || (judged.wasKilled && judged.hasBegun && !judged.said.tellsOfDeath)

/** Whatever stood still and is not stored as it is: the night has named its list, wherever it ended. */
export function lawOfNaming(judged: Judged): string[] {
  const { said, situation, mayHide } = judged
  const missing = behind(situation).size
  if (missing === 0 || said.reasons.length > 0 || !isAsked(judged)) return []
  if (isToldAsRefused(judged) || (mayHide && isToldAsHidden(judged))) return []
  const sync = of(judged, 'sync')
  const how = sync ? `a sync ended with ${sync.code} ${sync.message}` : 'a sync was killed'
  return [`${missing} of ${situation.list} are missing or old, and nothing names it: ${how}`]
}

/** Ids of records that were gone before a sweep of the list began, and that it left in place. */
export function leftBySweep(judged: Judged): string[] {
  const { list, stored, service, since } = judged.situation
  const collection = collectionOf(list)
  const began = Math.min(since, judged.said.sweepBegan)
  if (!outcomeOf(of(judged, 'sweep'), list) || judged.mayHide) return []
  return [...stored.values()]
    .filter(({ id, is_deleted }) => !is_deleted && !service.world.get(collection, id))
    .filter(({ id }) => (service.truthOf(collection, id)?.changedAt ?? 0) < began)
    .map(({ id }) => id)
}

/** What a sweep leaves in place is told as a candidate, unless the sweep is told as not believed, refused or failed. */
export function lawOfSweeps(judged: Judged): string[] {
  const { situation, said } = judged
  const { list } = situation
  const sweep = of(judged, 'sweep')
  const isDone = outcomeOf(sweep, list)?.state === 'done'
  if (said.reasons.length > 0 || !isDone) return []
  return leftBySweep(judged)
    .filter(id => !said.candidates.has(id))
    .map(id => `a sweep ended with ${sweep?.code}, and ${list} ${id} is deleted and no candidate`)
}

/** Records that the sync of the night says it could not load. */
export const leftOutBySync = (judged: Judged): number =>
  outcomeOf(of(judged, 'sync'), judged.situation.list)?.quarantined ?? 0

/** What quarantine excuses is counted by `status`, and what a sync could not load is there. */
export function lawOfQuarantine(judged: Judged): string[] {
  const { situation, said } = judged
  const { excused, list, since } = situation
  const told = said.state.quarantined ?? 0
  const leftOut = leftOutBySync(judged)
  return [
    ...(told >= excused.size
      ? []
      : [`${excused.size} of ${list} are in quarantine, and status says ${told}`]),
    ...(leftOut === 0 || said.lastQuarantinedAt >= (judged.wasEverKilled ? 1 : since - dateMs)
      ? []
      : [`a sync could not load ${leftOut} of ${list}, and none came to quarantine`]),
  ]
}
