/** Lists without a change time: read whole, scope by scope, and replaced in one transaction. */
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { MusterError } from '../../lib/errors.ts'
import { closeQuarantine } from '../../state/evidence/quarantine.ts'
import { giveUpScans } from '../../state/scans/scans.ts'
import { lastReadings, retireReadings } from '../../state/scans/scopes.ts'
import { AccessLost } from '../run/access.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { Incomplete, requireNone } from '../run/incomplete.ts'
import { giveUp, isFullLoad, loadGroup, mayShareLoad } from './load-scopes.ts'
import { OpenedScopes } from './opened-scopes.ts'
import { readScope } from './read-scope.ts'
import { dueScopes, type Scope, scopesOf } from './scopes.ts'
import type { ReadScope } from './snapshot-scan.ts'

async function read(task: ResourceTask, opened: OpenedScopes, index: number): Promise<ReadScope> {
  const at = await opened.begin(index)
  try {
    return { ...at, reading: await readScope(task, at) }
  } catch (error) {
    await giveUp(task, at.scanId)
    throw error
  }
}

/** Every run reads scopes from the beginning, so a scope that a killed run has half read is given up. */
async function forgetHalfRead(task: ResourceTask): Promise<void> {
  const { sync, resource } = task
  const left = await fenced(task, engine =>
    giveUpScans(engine, { resource: resource.name, kind: 'snapshot' }),
  )
  for (const id of left) await sync.landing.discard(id)
}

interface Missing {
  /** Scopes that the service refused. */
  refused: number
  /** Refusals of scopes that were readable before. */
  readonly lost: MusterError[]
  /** What other scopes lack, which keep the last snapshot that was complete. */
  readonly found: Incomplete[]
}

/** The day in the name of a company's part moves every month. */
const withoutDay = (name: string): string => name.replace(/ \d{4}-\d\d-\d\d$/, '')

/** False when somebody has accepted that it is not any more. */
async function wasReadable({ sync, resource }: ResourceTask, { name }: Scope): Promise<boolean> {
  const read = [...(await lastReadings(sync.engine, resource.name)).keys()]
  const own = read.filter(one => withoutDay(one) === withoutDay(name))
  if (sync.acceptsRefused) for (const one of own) await retireReadings(sync.engine, resource.name, one)
  return own.length > 0 && !sync.acceptsRefused
}

interface Place {
  readonly scopes: readonly Scope[]
  readonly opened: OpenedScopes
  readonly index: number
}

/** The scope as it was read; undefined when it was refused or is incomplete. */
async function readOne(
  task: ResourceTask,
  { scopes, opened, index }: Place,
  missing: Missing,
): Promise<ReadScope | undefined> {
  try {
    return await read(task, opened, index)
  } catch (error) {
    if (error instanceof Incomplete) {
      missing.found.push(error)
      return undefined
    }
    const isDenied = error instanceof AccessDenied || error instanceof NotFound
    // One company may refuse what another allows; only if all refuse can the key not read the resource.
    if (!isDenied || missing.refused === scopes.length - 1) throw error
    missing.refused += 1
    // A project that answers 404 may have been deleted.
    const isLost = error instanceof AccessDenied && (await wasReadable(task, scopes[index] as Scope))
    if (isLost) missing.lost.push(error)
    return undefined
  }
}

/** Reads and loads the scopes. */
async function readAll(task: ResourceTask, scopes: readonly Scope[]): Promise<Missing> {
  const group: ReadScope[] = []
  const missing: Missing = { refused: 0, lost: [], found: [] }
  const opened = new OpenedScopes(task, scopes)
  const load = async (): Promise<void> => void missing.found.push(...(await loadGroup(task, group.splice(0))))
  try {
    for (const [index, scope] of scopes.entries()) {
      const held = group.map(one => one.scope.extent)
      if (!mayShareLoad(task.resource, held, scope.extent)) await load()
      const one = await readOne(task, { scopes, opened, index }, missing)
      if (one) group.push(one)
      if (isFullLoad(group.map(({ reading }) => reading.pages))) await load()
      showScopes(task, index + 1, scopes.length)
    }
  } finally {
    // Scopes that were read whole are loaded, whatever ended the reading.
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
  const { refused, lost, found } = await readAll(task, scopes)
  await closeQuarantined(task)
  if (refused > 0) task.counters.note = `not readable for ${refused} of ${scopes.length} scopes`
  const [first] = lost
  if (first) throw new AccessLost(task.resource.name, first, ` for ${lost.length} of ${scopes.length} scopes`)
  requireNone(found)
}
