/** Reads lists without a change time in full, scope by scope, and replaces each in one transaction. */

import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { MusterError } from '../../lib/errors.ts'
import { closeQuarantine } from '../../state/evidence/quarantine.ts'
import { forgetScans, freshScan, giveUpScans, openScans } from '../../state/scans/scans.ts'
import { lastReadings, retireReadings } from '../../state/scans/scopes.ts'
import { AccessLost } from '../run/access.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { Incomplete, requireNone } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import { giveUp, isFullLoad, loadGroup, mayShareLoad, scopesPerLoad } from './load-scopes.ts'
import { readScope } from './read-scope.ts'
import { dueScopes, type SnapshotScope, scopesOf } from './scopes.ts'
import type { ReadScope, ScopeScan } from './snapshot-scan.ts'

class OpenedScopes {
  readonly #task: ResourceTask
  readonly #scopes: readonly SnapshotScope[]
  /** Scans that are opened but not begun. */
  #ahead: string[] = []

  constructor(task: ResourceTask, scopes: readonly SnapshotScope[]) {
    this.#task = task
    this.#scopes = scopes
  }

  #scanIdOf(index: number): string {
    const { sync, resource } = this.#task
    return `${sync.runId}-${resource.name}-${String(index + 1).padStart(4, '0')}`
  }

  /** Opens as many scopes as share a load: one by one, 63 small scopes took 0.25 s of CPU. */
  async #open(from: number): Promise<void> {
    const { sync, resource } = this.#task
    const rows = this.#scopes.slice(from, from + scopesPerLoad).map((scope, place) =>
      freshScan({
        scan_id: this.#scanIdOf(from + place),
        resource: resource.name,
        kind: 'snapshot',
        from_day: scope.query.from ?? null,
        to_day: scope.query.to ?? null,
        scope: scope.name,
        run_id: sync.runId,
        started_at: now(sync),
      }),
    )
    await fenced(this.#task, engine => openScans(engine, rows))
    this.#ahead = rows.map(row => row.scan_id)
  }

  async begin(index: number): Promise<ScopeScan> {
    const scope = this.#scopes[index] as SnapshotScope
    if (this.#ahead.length === 0) await this.#open(index)
    const [scanId] = this.#ahead as [string]
    const facts = { resource: this.#task.resource.name, scope: scope.columns, extent: scope.extent }
    await this.#task.sync.landing.begin(scanId, facts)
    this.#ahead.shift()
    return { scanId, scope }
  }

  /** Call when the reading ends before the last scope. */
  async forgetAhead(): Promise<void> {
    const scanIds = this.#ahead.splice(0)
    if (scanIds.length > 0) await fenced(this.#task, engine => forgetScans(engine, scanIds))
  }
}

async function read(task: ResourceTask, opened: OpenedScopes, index: number): Promise<ReadScope> {
  const at = await opened.begin(index)
  try {
    return { ...at, reading: await readScope(task, at) }
  } catch (error) {
    await giveUp(task, at.scanId)
    throw error
  }
}

/** Gives up scopes that a killed run has half read: every run reads a scope from its beginning. */
async function forgetHalfRead(task: ResourceTask): Promise<void> {
  const { sync, resource } = task
  const left = await fenced(task, engine =>
    giveUpScans(engine, { resource: resource.name, kind: 'snapshot' }),
  )
  for (const id of left) await sync.landing.discard(id)
}

interface ScopeFailures {
  /** Number of scopes that the service refused. */
  refused: number
  /** Refusals of scopes that were readable before. */
  readonly lost: MusterError[]
  /** Shortfalls of other scopes, which keep their last complete snapshot. */
  readonly found: Incomplete[]
}

/** The day in the name of a company's part moves every month. */
const withoutDay = (name: string): string => name.replace(/ \d{4}-\d\d-\d\d$/, '')

/** False once the operator has accepted that it no longer is. */
async function wasReadable({ sync, resource }: ResourceTask, { name }: SnapshotScope): Promise<boolean> {
  const read = [...(await lastReadings(sync.engine, resource.name)).keys()]
  const own = read.filter(one => withoutDay(one) === withoutDay(name))
  if (sync.acceptsRefused) for (const one of own) await retireReadings(sync.engine, resource.name, one)
  return own.length > 0 && !sync.acceptsRefused
}

interface ScopePosition {
  readonly scopes: readonly SnapshotScope[]
  readonly opened: OpenedScopes
  readonly index: number
}

/** Reads one scope; returns undefined when it is refused or incomplete. */
async function readOne(
  task: ResourceTask,
  { scopes, opened, index }: ScopePosition,
  missing: ScopeFailures,
): Promise<ReadScope | undefined> {
  try {
    return await read(task, opened, index)
  } catch (error) {
    if (error instanceof Incomplete) {
      missing.found.push(error)
      return undefined
    }
    const isDenied = error instanceof AccessDenied || error instanceof NotFound
    // One company may refuse what another allows; the key lacks access to the resource only if all refuse.
    if (!isDenied || missing.refused === scopes.length - 1) throw error
    missing.refused += 1
    // A project that returns 404 may have been deleted.
    const isLost = error instanceof AccessDenied && (await wasReadable(task, scopes[index] as SnapshotScope))
    if (isLost) missing.lost.push(error)
    return undefined
  }
}

async function readAll(task: ResourceTask, scopes: readonly SnapshotScope[]): Promise<ScopeFailures> {
  const group: ReadScope[] = []
  const missing: ScopeFailures = { refused: 0, lost: [], found: [] }
  const opened = new OpenedScopes(task, scopes)
  const load = async (): Promise<void> => void missing.found.push(...(await loadGroup(task, group.splice(0))))
  try {
    for (const [index, scope] of scopes.entries()) {
      const extents = group.map(one => one.scope.extent)
      if (!mayShareLoad(task.resource, extents, scope.extent)) await load()
      const one = await readOne(task, { scopes, opened, index }, missing)
      if (one) group.push(one)
      if (isFullLoad(group.map(({ reading }) => reading.pages))) await load()
      showScopes(task, index + 1, scopes.length)
    }
  } finally {
    // Scopes that were read completely are loaded, whatever ended the reading.
    await load()
    await opened.forgetAhead()
  }
  return missing
}

function showScopes({ sync, resource, counters }: ResourceTask, pagesDone: number, pagesTotal: number): void {
  const { records_read: rows, requests } = counters
  sync.emit({ resource: resource.name, state: 'scanning', pagesDone, pagesTotal, rows, requests })
}

/**
 * Closes quarantined records that no scope shows any more. Without its own id, a record has no later version that could
 * be recognized.
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
  const { refused, lost, found } = await readAll(task, scopes)
  await closeQuarantined(task)
  if (refused > 0) task.counters.note = `not readable for ${refused} of ${scopes.length} scopes`
  const [first] = lost
  if (first) throw new AccessLost(task.resource.name, first, ` for ${lost.length} of ${scopes.length} scopes`)
  requireNone(found)
}
