/** Reads and writes the log of one table: commits, which exactly one writer can create, and checkpoints. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { together } from '../landing/store.ts'
import type { Clock } from '../lib/clock.ts'
import { dayMs } from '../lib/dates.ts'
import { Busy, MusterError } from '../lib/errors.ts'
import { asPattern } from '../lib/input-file.ts'
import { programVersion } from '../lib/package.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import {
  type Action,
  applyCommit,
  isUnaffected,
  noTable,
  parseActions,
  type RemovedFile,
  type TableState,
} from './actions.ts'
import type { LakeStore } from './store.ts'

/** Readers read at most this many commits after a checkpoint: a request each in a bucket. */
const commitsPerCheckpoint = 20

/** With 300 writers that start together, each may lose as often. */
const maxAttempts = 400

export interface LakeContext {
  readonly store: LakeStore
  /** A DuckDB that reads and writes Parquet files. */
  readonly stage: Engine
  readonly clock: Clock
}

const logFolder = (table: string): string => `${table}/_delta_log/`

const padded = (version: number): string => String(version).padStart(20, '0')

const commitKey = (table: string, version: number): string => `${logFolder(table)}${padded(version)}.json`

const checkpointKey = (table: string, version: number): string =>
  `${logFolder(table)}${padded(version)}.checkpoint.parquet`

export interface LogFiles {
  /** Versions of the commits, ascending. */
  readonly commits: readonly number[]
  readonly checkpoints: readonly number[]
}

/** `folder` is that of a log; ignores files of other programs. */
export async function listLog(store: LakeStore, table: string): Promise<LogFiles> {
  const names = (await store.list(logFolder(table))).map(({ key }) => key.slice(logFolder(table).length))
  const versions = (pattern: RegExp): number[] =>
    names.flatMap(name => pattern.exec(name)?.[1] ?? []).map(Number)
  return {
    commits: versions(/^(\d{20})\.json$/),
    checkpoints: versions(/^(\d{20})\.checkpoint\.parquet$/),
  }
}

async function readCheckpoint(
  { store, stage }: LakeContext,
  table: string,
  version: number,
): Promise<TableState> {
  const key = checkpointKey(table, version)
  const file = await store.fetch(key)
  if (file === undefined) return noTable
  const rows = await stage.rows<{ action: string }>(
    `select cast(to_json(c) as varchar) as action from read_parquet(${quoteText(asPattern(file))}) as c`,
  )
  const text = rows.map(({ action }) => action).join('\n')
  return applyCommit(noTable, version, parseActions(text, `${store.where}/${key}`))
}

async function readCommit(store: LakeStore, table: string, version: number): Promise<Action[]> {
  const key = commitKey(table, version)
  const text = (await store.get(key))?.toString() ?? ''
  return parseActions(text, `${store.where}/${key}`)
}

/** The state as of `upTo`, or else of the last commit. Throws MusterError for a log with a gap. */
export async function readLog(
  context: LakeContext,
  table: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<TableState> {
  const { store } = context
  const log = await listLog(store, table)
  const base = log.checkpoints.filter(version => version <= upTo).at(-1)
  const before = base === undefined ? noTable : await readCheckpoint(context, table, base)
  const versions = log.commits.filter(version => version > before.version && version <= upTo)
  const gap = versions.find((version, index) => version !== before.version + 1 + index)
  if (gap !== undefined)
    throw new MusterError({
      what: `commit ${gap - 1} of this table is missing`,
      where: `${store.where}/${table}`,
      next: 'restore it from a backup, or move the table away and publish again',
    })
  return readCommits(store, { table, before, versions })
}

async function readCommits(
  store: LakeStore,
  { table, before, versions }: { table: string; before: TableState; versions: readonly number[] },
): Promise<TableState> {
  const read = new Map<number, Action[]>()
  await together(versions, async version => read.set(version, await readCommit(store, table, version)))
  return versions.reduce((state, version) => applyCommit(state, version, read.get(version) ?? []), before)
}

export interface Commit {
  readonly table: string
  /** The state that the writer has read. */
  readonly read: TableState
  readonly connection: string
  /** The connection whose files it replaces; undefined for all. */
  readonly whose: string | undefined
  readonly runId: string
  readonly actions: readonly Action[]
}

function textOf({ clock }: LakeContext, { connection, runId, actions }: Commit): string {
  const commitInfo = {
    timestamp: clock.now(),
    operation: 'WRITE',
    operationParameters: { mode: 'Overwrite', partitionBy: '["connection"]' },
    engineInfo: `muster/${programVersion}`,
    isBlindAppend: false,
    userMetadata: JSON.stringify({ connection, run: runId }),
  }
  return [{ commitInfo }, ...actions].map(action => `${JSON.stringify(action)}\n`).join('')
}

/**
 * Commits after what other connections have committed meanwhile. Returns the state after it, or undefined when another writer
 * changed what this one has read: then it has to read again.
 */
export async function commit(context: LakeContext, change: Commit): Promise<TableState | undefined> {
  const { store } = context
  const { table, whose } = change
  const content = Buffer.from(textOf(context, change))
  let state = change.read
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const version = state.version + 1
    if (await store.create(commitKey(table, version), content)) {
      const after = applyCommit(state, version, change.actions)
      if (version > 0 && version % commitsPerCheckpoint === 0) await writeCheckpoint(context, table, after)
      return after
    }
    state = applyCommit(state, version, await readCommit(store, table, version))
    if (!isUnaffected(change.read, state, whose)) return undefined
  }
  throw new Busy({
    what: `other writers were faster ${maxAttempts} times in a row`,
    where: `${store.where}/${table}`,
    next: 'run muster lake publish again',
  })
}

const map = 'MAP(VARCHAR, VARCHAR)'
const partition = `path VARCHAR, partitionValues ${map}, size BIGINT`
const checkpointColumns = {
  protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)',
  metaData: `STRUCT(id VARCHAR, "name" VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, "options" ${map}),
    schemaString VARCHAR, partitionColumns VARCHAR[], configuration ${map}, createdTime BIGINT)`,
  add: `STRUCT(${partition}, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags ${map})`,
  remove: `STRUCT(${partition}, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN)`,
}

/** DuckDB accepts no smaller limit of a line, and reserves twice the limit. */
const minObject = 16_777_216

/** Files whose removal readers of earlier versions still need to know. */
function recentlyRemoved({ removed, metaData }: TableState, now: number): RemovedFile[] {
  const days = /\d+/.exec(metaData?.configuration['delta.deletedFileRetentionDuration'] ?? '')?.[0]
  const since = days === undefined ? 0 : now - Number(days) * dayMs
  return [...removed.values()].filter(({ deletionTimestamp }) => (deletionTimestamp ?? 0) >= since)
}

/** Writes the state into one file, so that readers need no earlier commit. */
async function writeCheckpoint(
  { store, stage, clock }: LakeContext,
  table: string,
  state: TableState,
): Promise<void> {
  const actions: Action[] = [
    { protocol: state.protocol },
    { metaData: state.metaData },
    ...[...state.files.values()].map(add => ({ add: { ...add, dataChange: false } })),
    ...recentlyRemoved(state, clock.now()).map(remove => ({ remove: { ...remove, dataChange: false } })),
  ]
  const lines = actions.map(action => `${JSON.stringify(action)}\n`)
  const longest = Math.max(minObject, ...lines.map(line => Buffer.byteLength(line) + 1024))
  const stem = join(store.scratch, randomBytes(8).toString('hex'))
  writeFileSync(`${stem}.json`, lines.join(''))
  const columns = Object.entries(checkpointColumns).map(([name, type]) => `${name}: ${quoteText(type)}`)
  await stage.run(
    `copy (select * from read_json(${quoteText(asPattern(`${stem}.json`))}, format = 'newline_delimited',
       maximum_object_size = ${longest}, columns = {${columns.join(', ')}})) to ${quoteText(`${stem}.parquet`)} (format parquet)`,
  )
  await store.upload(checkpointKey(table, state.version), `${stem}.parquet`)
  const last = { version: state.version, size: actions.length }
  await store.put(`${logFolder(table)}_last_checkpoint`, Buffer.from(JSON.stringify(last)))
}

/** When a version was committed, in milliseconds since the epoch; undefined if its commit does not say so. */
export async function commitTime(
  store: LakeStore,
  table: string,
  version: number,
): Promise<number | undefined> {
  const actions = await readCommit(store, table, version)
  return actions.find(({ commitInfo }) => commitInfo)?.commitInfo?.timestamp ?? undefined
}

/** The keys of commits and checkpoints before a version. */
export const keysBefore = (table: string, log: LogFiles, version: number): string[] => [
  ...log.commits.filter(one => one < version).map(one => commitKey(table, one)),
  ...log.checkpoints.filter(one => one < version).map(one => checkpointKey(table, one)),
]
