/** Loads scopes of a snapshot that are read: several at once, and none that would lose rows in a way that is not believed. */
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { formatNumber } from '../../lib/counted.ts'
import { Unconfirmed } from '../../lib/errors.ts'
import { ownsRows } from '../../load/merge/apply.ts'
import type { SnapshotExtent } from '../../load/merge/delta.ts'
import { type Loss, TooManyRemoved } from '../../load/merge/losses.ts'
import { giveUpScans } from '../../state/scans/scans.ts'
import { type AcceptedScope, acceptScopes } from '../../state/scans/scopes.ts'
import { isBelievedLoss } from '../deletions/decision.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { hiddenNote } from '../run/hidden-note.ts'
import { Incomplete, shortfallOf } from '../run/incomplete.ts'
import { readAgain, readUnreadable } from './read-scope.ts'
import type { Scope } from './scopes.ts'
import type { ReadScope } from './snapshot-scan.ts'

/** Small scopes share a load: a statement costs the same for one project's matrix as for all. */
export const scopesPerLoad = 100
const bytesPerLoad = 16_000_000

export async function giveUp(task: ResourceTask, scanId: string): Promise<void> {
  // A commit may have succeeded although its answer was lost: an accepted scan keeps its pages.
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
 * Lists of several pages are read again when their rows are others than those that are stored: one request for each page, and
 * only then. A list that
 * changed meanwhile is left out.
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
    const lacks = await shortfallOf(again())
    if (lacks.length > 0) await giveUp(task, read.scanId)
    found.push(...lacks)
  }
  return sure
}

/** Gives up the scopes that would lose more rows than can be believed; returns the others. */
async function holdBack(
  task: ResourceTask,
  group: readonly ReadScope[],
  { losses, found }: { readonly losses: readonly Loss[]; readonly found: Incomplete[] },
): Promise<ReadScope[]> {
  const { name } = task.resource
  for (const { extent, stored, missing } of losses) {
    const { scope, scanId } = group[extent] as ReadScope
    await giveUp(task, scanId)
    const where = scope.columns.company_id === undefined ? '' : ` of ${scope.name}`
    const reason = `${formatNumber(missing)} of ${formatNumber(stored)} rows${where} are missing at once, so all are kept`
    const next = `compare with the application; if they are deleted, muster sync ${name} --most ${missing}`
    found.push(new Incomplete({ resource: name, seen: stored - missing, expected: stored, reason, next }))
  }
  return group.filter((_, place) => !losses.some(({ extent }) => extent === place))
}

/** Whether a scope that was read once shows rows while none are stored: a load would only find that it has to be confirmed. */
async function isSurelyUnconfirmed(
  { sync, plan }: ResourceTask,
  group: readonly ReadScope[],
): Promise<boolean> {
  const showsRows = group.some(read => isUnproved(read) && read.reading.total > read.reading.hidden)
  return showsRows && !(await ownsRows(sync.engine, plan))
}

/** Returns what the scopes lack that were not loaded. */
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
        if (error instanceof Unconfirmed) await confirmed()
        else if (error instanceof TooManyRemoved)
          left = await holdBack(task, left, { losses: error.losses, found })
        else left = await readUnreadable(task, left, error)
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
    group.flatMap(({ reading, scope }) => reading.pages.map((page): [LandedPage, Scope] => [page, scope])),
  )
  await task.pipeline.load({
    pages: group.flatMap(({ reading }) => reading.pages),
    rows: (task.resource.read as Snapshot).rows,
    scope: page => scopeOf.get(page)?.columns ?? {},
    snapshot: group.map(({ scope, reading }) => ({
      extent: scope.extent,
      // A replay finds the same time in the name of the page.
      time: reading.pages.at(-1)?.fetchedAt ?? now(sync),
      run: sync.runId,
    })),
    isUnconfirmed,
    believes: loss => isBelievedLoss(loss, sync.most),
    ledger: engine => acceptScopes(engine, group.map(acceptedOf), now(sync)),
  })
  await task.pipeline.drained()
  const hidden = group.reduce((sum, { reading }) => sum + reading.hidden, 0)
  const isNew = group.some(({ reading }) => reading.isHiddenKnown === false)
  if (hidden > 0 && isNew) task.counters.note = hiddenNote(hidden)
}

/** Whether another scope can share a load. Two parts of one company overlap by two days: together, a row would count twice. */
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

/** Whether no further scope fits into a load. */
export function isFullLoad(scopes: readonly (readonly LandedPage[])[]): boolean {
  const bytes = scopes.flat().reduce((sum, page) => sum + page.bytes, 0)
  return scopes.length >= scopesPerLoad || bytes >= bytesPerLoad
}
