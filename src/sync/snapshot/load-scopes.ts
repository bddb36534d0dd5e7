/**
 * Loads the scopes of a snapshot that have been read: several at once, and none that would lose an implausible number
 * of rows.
 */
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/landing.ts'
import { formatNumber } from '../../lib/counted.ts'
import { AbsenceUnconfirmed } from '../../lib/errors.ts'
import { ownsRows } from '../../load/merge/apply.ts'
import type { SnapshotExtent } from '../../load/merge/delta.ts'
import { type ExtentLoss, TooManyRemoved } from '../../load/merge/losses.ts'
import { giveUpScans } from '../../state/scans/scans.ts'
import { type AcceptedScope, acceptScopes } from '../../state/scans/scopes.ts'
import { isPlausibleLoss } from '../deletions/decision.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { hiddenNote, Incomplete, shortfallOf } from '../run/incomplete.ts'
import { readAgain, readUnreadable } from './read-scope.ts'
import type { SnapshotScope } from './scopes.ts'
import type { ReadScope } from './snapshot-scan.ts'

/** Small scopes share a load: a statement costs the same for one project's matrix as for all. */
export const scopesPerLoad = 100
const bytesPerLoad = 16_000_000

export async function giveUp(task: ResourceTask, scanId: string): Promise<void> {
  // A commit may have succeeded although its response was lost: an accepted scan keeps its pages.
  const given = await giveUpScans(task.sync.engine, { scan_id: scanId })
  for (const id of given) await task.sync.landing.discard(id)
}

const acceptedOf = ({ scanId, reading }: ReadScope): AcceptedScope => ({
  scanId,
  pages: reading.pages.length,
  loadedSequence: Math.max(...reading.pages.map(page => page.sequence)),
  total: reading.total,
  shown: reading.total - reading.hidden,
})

async function giveUpOn(task: ResourceTask, group: readonly ReadScope[]): Promise<void> {
  for (const { scanId } of group) await giveUp(task, scanId)
}

const isUnproved = ({ reading }: ReadScope): boolean => !reading.isProved

/**
 * Reads lists of several pages again when their rows differ from the stored ones, with one request for each page. Drops
 * a list that changed in between.
 */
async function confirm(
  task: ResourceTask,
  group: readonly ReadScope[],
  found: Incomplete[],
): Promise<ReadScope[]> {
  const sure: ReadScope[] = []
  for (const read of group) {
    const again = async (): Promise<void> => {
      const reading = isUnproved(read) ? await readAgain(task, read, read.reading) : read.reading
      sure.push({ ...read, reading })
    }
    const shortfalls = await shortfallOf(again())
    if (shortfalls.length > 0) await giveUp(task, read.scanId)
    found.push(...shortfalls)
  }
  return sure
}

/** Gives up scopes that would lose an implausible number of rows; returns the others. */
async function dropImplausibleScopes(
  task: ResourceTask,
  group: readonly ReadScope[],
  { losses, found }: { readonly losses: readonly ExtentLoss[]; readonly found: Incomplete[] },
): Promise<ReadScope[]> {
  const { name } = task.resource
  for (const { extent, stored, missing } of losses) {
    const { scope, scanId } = group[extent] as ReadScope
    await giveUp(task, scanId)
    const where = scope.columns.company_id === undefined ? '' : ` of ${scope.name}`
    const reason = `refusing to remove ${formatNumber(missing)} of ${formatNumber(stored)} rows${where} at once`
    const next = `compare with the application; if they are deleted, muster sync ${name} --max-deletions ${missing}`
    found.push(new Incomplete({ resource: name, seen: stored - missing, expected: stored, reason, next }))
  }
  return group.filter((_, place) => !losses.some(({ extent }) => extent === place))
}

/** Whether a scope that was read once has rows, but none are stored: a load would only ask for confirmation. */
async function isSurelyUnconfirmed(
  { sync, plan }: ResourceTask,
  group: readonly ReadScope[],
): Promise<boolean> {
  const showsRows = group.some(read => isUnproved(read) && read.reading.total > read.reading.hidden)
  return showsRows && !(await ownsRows(sync.engine, plan))
}

/** Returns the shortfalls of scopes that were not loaded. */
export async function loadGroup(task: ResourceTask, group: readonly ReadScope[]): Promise<Incomplete[]> {
  const found: Incomplete[] = []
  let left = [...group]
  let isUnconfirmed = left.some(isUnproved)
  const confirmed = async (): Promise<void> => {
    left = await confirm(task, left, found)
    isUnconfirmed = false
  }
  try {
    if (await isSurelyUnconfirmed(task, left)) await confirmed()
    for (let isLoaded = false; !isLoaded && left.length > 0; )
      try {
        await loadRead(task, left, isUnconfirmed)
        isLoaded = true
      } catch (error) {
        if (error instanceof AbsenceUnconfirmed) await confirmed()
        else if (error instanceof TooManyRemoved)
          left = await dropImplausibleScopes(task, left, { losses: error.losses, found })
        else {
          left = await readUnreadable(task, left, error)
          isUnconfirmed = left.some(isUnproved)
        }
      }
    return found
  } catch (error) {
    await giveUpOn(task, left)
    throw error
  }
}

async function loadRead(
  task: ResourceTask,
  group: readonly ReadScope[],
  isUnconfirmed: boolean,
): Promise<void> {
  const { sync } = task
  const scopeOf = new Map(
    group.flatMap(({ reading, scope }) =>
      reading.pages.map((page): [LandedPage, SnapshotScope] => [page, scope]),
    ),
  )
  await task.pipeline.load({
    pages: group.flatMap(({ reading }) => reading.pages),
    rows: (task.resource.read as Snapshot).rows,
    scope: page => scopeOf.get(page)?.columns ?? {},
    snapshot: group.map(({ scope, reading }) => ({
      extent: scope.extent,
      // A replay finds the same time in the page's file name.
      time: reading.pages.at(-1)?.fetchedAt ?? now(sync),
      run: sync.runId,
    })),
    isUnconfirmed,
    allowsLoss: loss => isPlausibleLoss(loss, sync.maxDeletions),
    writeScan: engine => acceptScopes(engine, group.map(acceptedOf), now(sync)),
  })
  await task.pipeline.drained()
  const hidden = group.reduce((sum, { reading }) => sum + reading.hidden, 0)
  const isNew = group.some(({ reading }) => reading.isHiddenKnown === false)
  if (hidden > 0 && isNew) task.counters.note = hiddenNote(hidden)
}

/**
 * Whether another scope can share a load. Two parts of one company overlap by two days: loaded together, a row would
 * count twice.
 */
export function mayShareLoad(
  { read }: Resource,
  group: readonly SnapshotExtent[],
  next: SnapshotExtent,
): boolean {
  return (
    (read as Snapshot).per !== 'companyWindow' ||
    group.every(({ company_id: company }) => company !== next.company_id)
  )
}

/** Whether a load has no room for another scope. */
export function isFullLoad(scopes: readonly (readonly LandedPage[])[]): boolean {
  const bytes = scopes.flat().reduce((sum, page) => sum + page.bytes, 0)
  return scopes.length >= scopesPerLoad || bytes >= bytesPerLoad
}
