/** Lists without a change time: read whole, scope by scope, and replaced in one transaction. */
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { Unconfirmed } from '../../lib/errors.ts'
import { closeQuarantine } from '../../state/evidence/quarantine.ts'
import { freshScan, giveUpScans, lastReadings, openScan, updateScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { Incomplete, requireNone, shortfallOf } from '../run/incomplete.ts'
import { dueScopes, type Scope, scopesOf } from './scopes.ts'
import { type Reading, readAgain, readScope } from './snapshot-scan.ts'

async function beginScope(task: ResourceTask, scope: Scope, number: number): Promise<string> {
  const { sync, resource } = task
  const scanId = `${sync.runId}-${resource.name}-${String(number).padStart(4, '0')}`
  sync.landing.begin(scanId, { resource: resource.name, scope: scope.columns, extent: scope.extent })
  const row = freshScan({
    scan_id: scanId,
    resource: resource.name,
    kind: 'snapshot',
    from_day: scope.query.from ?? null,
    to_day: scope.query.to ?? null,
    scope: scope.name,
    run_id: sync.runId,
    started_at: now(sync),
  })
  await openScan(sync.engine, row)
  return scanId
}

interface Read {
  readonly scanId: string
  readonly scope: Scope
  readonly reading: Reading
}

/** Small scopes share a load: a statement costs the same for one project's matrix as for twenty. */
const scopesPerLoad = 25
const bytesPerLoad = 16_000_000

const bytesOf = (group: readonly Read[]): number =>
  group.flatMap(({ reading }) => reading.pages).reduce((sum, { bytes }) => sum + bytes, 0)

async function giveUp(task: ResourceTask, scanId: string): Promise<void> {
  // A commit may have succeeded although its answer was lost: an accepted scan keeps its pages.
  const given = await giveUpScans(task.sync.engine, { scan_id: scanId })
  for (const id of given) task.sync.landing.discard(id)
}

async function accept(engine: Engine, task: ResourceTask, { scanId, reading }: Read): Promise<void> {
  await updateScan(engine, scanId, {
    state: 'accepted',
    accepted_at: now(task.sync),
    next_page: 0,
    pages: reading.pages.length,
    loaded_sequence: Math.max(...reading.pages.map(page => page.sequence)),
    first_total: reading.total,
    greatest_total: reading.total,
    last_total: reading.total,
    expected_ids: reading.total,
    distinct_ids: reading.total,
  })
}

async function giveUpOn(task: ResourceTask, group: readonly Read[]): Promise<void> {
  for (const { scanId } of group) await giveUp(task, scanId)
}

const hasPages = ({ reading }: Read): boolean => reading.pages.length > 1

/**
 * Lists of several pages are read again before any row is removed: one request for each page, and only then. A list that
 * changed meanwhile is left out.
 */
async function confirm(task: ResourceTask, group: readonly Read[], found: Incomplete[]): Promise<Read[]> {
  const sure: Read[] = []
  for (const read of group) {
    const again = async (): Promise<void> => {
      const reading = hasPages(read) ? await readAgain(task, read, read.reading) : read.reading
      sure.push({ ...read, reading })
    }
    const lacks = await shortfallOf(again())
    if (lacks.length > 0) await giveUp(task, read.scanId)
    found.push(...lacks)
  }
  return sure
}

/** Returns what the scopes lack that could not be confirmed. */
async function loadGroup(task: ResourceTask, group: readonly Read[]): Promise<Incomplete[]> {
  const found: Incomplete[] = []
  if (group.length === 0) return found
  try {
    await loadRead(task, group, group.some(hasPages)).catch(async error => {
      if (!(error instanceof Unconfirmed)) throw error
      await loadRead(task, await confirm(task, group, found), false)
    })
    return found
  } catch (error) {
    await giveUpOn(task, group)
    throw error
  }
}

async function loadRead(task: ResourceTask, group: readonly Read[], isUnconfirmed: boolean): Promise<void> {
  if (group.length === 0) return
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
    ledger: async engine => {
      for (const read of group) await accept(engine, task, read)
    },
  })
  await task.pipeline.drained()
}

async function read(task: ResourceTask, scope: Scope, number: number): Promise<Read> {
  const scanId = await beginScope(task, scope, number)
  try {
    return { scanId, scope, reading: await readScope(task, { scope, scanId }) }
  } catch (error) {
    await giveUp(task, scanId)
    throw error
  }
}

/** Every run reads scopes from the beginning, so a scope that a killed run has half read is given up. */
async function forgetHalfRead(task: ResourceTask): Promise<void> {
  const { sync, resource } = task
  const left = await fenced(task, engine =>
    giveUpScans(engine, { resource: resource.name, kind: 'snapshot' }),
  )
  for (const id of left) sync.landing.discard(id)
}

/** Two parts of one company overlap by two days: loaded together, a row would count twice. */
function isFull(task: ResourceTask, group: readonly Read[]): boolean {
  if ((task.resource.read as Snapshot).per === 'companyWindow') return true
  return group.length >= scopesPerLoad || bytesOf(group) >= bytesPerLoad
}

interface Missing {
  /** Scopes that the service refused. */
  refused: number
  /** What other scopes lack, which keep the last snapshot that was complete. */
  readonly found: Incomplete[]
}

/** The scope as it was read; undefined when it was refused or is incomplete. */
async function readOne(
  task: ResourceTask,
  { scopes, index }: { readonly scopes: readonly Scope[]; readonly index: number },
  missing: Missing,
): Promise<Read | undefined> {
  try {
    return await read(task, scopes[index] as Scope, index + 1)
  } catch (error) {
    if (error instanceof Incomplete) {
      missing.found.push(error)
      return undefined
    }
    const isDenied = error instanceof AccessDenied || error instanceof NotFound
    // One company may refuse what another allows; only if all refuse can the key not read the resource.
    if (!isDenied || missing.refused === scopes.length - 1) throw error
    missing.refused += 1
    return undefined
  }
}

/** Reads and loads the scopes. */
async function readAll(task: ResourceTask, scopes: readonly Scope[]): Promise<Missing> {
  const group: Read[] = []
  const missing: Missing = { refused: 0, found: [] }
  try {
    for (const index of scopes.keys()) {
      const one = await readOne(task, { scopes, index }, missing)
      if (one) group.push(one)
      if (isFull(task, group)) missing.found.push(...(await loadGroup(task, group.splice(0))))
      showScopes(task, index + 1, scopes.length)
    }
  } finally {
    // Scopes that were read whole are loaded, whatever ended the reading.
    missing.found.push(...(await loadGroup(task, group)))
  }
  return missing
}

function showScopes({ sync, resource, counters }: ResourceTask, pagesDone: number, pagesTotal: number): void {
  const { records_read: rows, requests } = counters
  sync.emit({ resource: resource.name, state: 'scanning', pagesDone, pagesTotal, rows, requests })
}

/**
 * Closes quarantined records that no scope shows any more. A record without an id of its own has no later version that could
 * be recognised.
 */
async function closeQuarantined(task: ResourceTask): Promise<void> {
  const { engine } = task.sync
  const { name } = task.resource
  const read = await lastReadings(engine, name)
  const starts = (await scopesOf(task)).map(scope => read.get(scope.name)?.started_at)
  const [oldest] = starts.includes(undefined) ? [] : starts.sort()
  if (oldest)
    await fenced(task, connection =>
      closeQuarantine(connection, name, { seenBefore: oldest, at: now(task.sync) }),
    )
}

export async function syncSnapshot(task: ResourceTask): Promise<void> {
  await forgetHalfRead(task)
  const scopes = await dueScopes(task)
  const { refused, found } = await readAll(task, scopes)
  await closeQuarantined(task)
  if (refused > 0) task.counters.note = `not readable for ${refused} of ${scopes.length} scopes`
  requireNone(found)
}
