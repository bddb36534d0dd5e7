/** Removes files of a lake that no version within the retention period needs, and the log before them. */
import { dayMs } from '../lib/dates.ts'
import { connectionColumn, type TableState } from './actions.ts'
import { commitTime, keysBefore, type LakeContext, listLog, readLog } from './log.ts'
import { deleteSnapshots, folderOf, lastSnapshot, readClaims, snapshotRuns } from './snapshots.ts'

export interface VacuumRequest extends LakeContext {
  readonly connection: string
  /** Versions that ended earlier are removed, in milliseconds since the epoch. */
  readonly before: number
  /** Removes no commit, so that other connections keep their history. */
  readonly keepsLog?: boolean
}

export interface VacuumedLake {
  readonly files: number
  readonly bytes: number
  readonly commits: number
  readonly snapshots: number
}

export const retentionStart = (now: number, days: number): number => now - days * dayMs

/** When the run began whose id begins the name of a file; undefined for a file of another program. */
export function timeOfRun(name: string): number | undefined {
  const [, day, time, ms] = /^(\d{8})T(\d{6})(\d{3})Z-\w{4}\b/.exec(name) ?? []
  if (day === undefined || time === undefined) return undefined
  const date = day.replace(/^(....)(..)(..)$/, '$1-$2-$3')
  return Date.parse(`${date}T${time.replace(/^(..)(..)(..)$/, '$1:$2:$3')}.${ms}Z`)
}

/** Whether no version since `before` has the file: it was removed earlier, or never committed by a run that began earlier. */
function isExpired(path: string, state: TableState, before: number): boolean {
  if (state.files.has(path)) return false
  const removedAt = state.removed.get(path)?.deletionTimestamp
  const at = removedAt ?? timeOfRun(path.slice(path.lastIndexOf('/') + 1))
  return at !== undefined && at < before
}

/** Versions of tables that the last snapshot of any connection names; one that no longer publishes keeps its own. */
async function oldestVersions({ store }: VacuumRequest): Promise<ReadonlyMap<string, number>> {
  const oldest = new Map<string, number>()
  for (const { connection } of await readClaims(store))
    for (const [name, { version }] of Object.entries((await lastSnapshot(store, connection))?.tables ?? {}))
      oldest.set(folderOf(name), Math.min(version, oldest.get(folderOf(name)) ?? version))
  return oldest
}

/** Keeps the last checkpoint that was written before the period and before the oldest version, and everything after it. */
async function trimLog(
  { store, before }: VacuumRequest,
  { table, oldest }: { table: string; oldest: number },
): Promise<number> {
  const log = await listLog(store, table)
  for (const version of log.checkpoints.filter(one => one <= oldest).toReversed()) {
    if (!log.commits.includes(version)) return 0
    const at = await commitTime(store, table, version)
    if (at === undefined || at >= before) continue
    const keys = keysBefore(table, log, version)
    // The earliest first: what remains after a kill is a log without a gap.
    for (const key of keys) await store.delete([key])
    return keys.length
  }
  return 0
}

async function vacuumTable(
  request: VacuumRequest,
  { table, oldest }: { table: string; oldest: number },
): Promise<Omit<VacuumedLake, 'snapshots'>> {
  const { store, connection, before, keepsLog } = request
  const state = await readLog(request, table)
  const stored = await store.list(`${table}/${connectionColumn}=${connection}/`)
  const expired = stored.filter(({ key }) => isExpired(key.slice(table.length + 1), state, before))
  await store.delete(expired.map(({ key }) => key))
  return {
    files: expired.length,
    bytes: expired.reduce((sum, { bytes }) => sum + bytes, 0),
    commits: keepsLog ? 0 : await trimLog(request, { table, oldest }),
  }
}

async function trimSnapshots({ store, connection, before }: VacuumRequest): Promise<number> {
  const runs = await snapshotRuns(store, connection)
  const old = runs.slice(0, -1).filter(run => (timeOfRun(run) ?? before) < before)
  await deleteSnapshots(store, connection, old)
  return old.length
}

/** Removes what only earlier versions of this connection have; other connections remove theirs. */
export async function vacuumLake(request: VacuumRequest): Promise<VacuumedLake> {
  const tables = Object.keys((await lastSnapshot(request.store, request.connection))?.tables ?? {})
  const oldest = await oldestVersions(request)
  const total = { files: 0, bytes: 0, commits: 0 }
  for (const table of tables.map(folderOf)) {
    const one = await vacuumTable(request, { table, oldest: oldest.get(table) ?? 0 })
    total.files += one.files
    total.bytes += one.bytes
    total.commits += one.commits
  }
  return { ...total, snapshots: await trimSnapshots(request) }
}

/** Removes all files of earlier versions at once, as they name a person who was forgotten. The log quotes no values of persons. */
export const removeHistory = (request: Omit<VacuumRequest, 'before'>): Promise<VacuumedLake> =>
  vacuumLake({ ...request, before: Number.MAX_SAFE_INTEGER, keepsLog: true })
