/** Brings the rows of one connection in one table of the lake up to date: only files whose rows changed are written. */
import { randomUUID } from 'node:crypto'
import { Busy, MusterError } from '../lib/errors.ts'
import { asPattern } from '../lib/input-file.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import {
  type Action,
  type AddedFile,
  connectionColumn,
  filesOf,
  hasSameFiles,
  requireOurs,
  type TableMetaData,
  type TableState,
} from './actions.ts'
import { columnsIn, type GrownSchema, growSchema, type LakeColumn, schemaText } from './columns.ts'
import {
  boundsBetween,
  conditionOf,
  cutColumn,
  type Part,
  partNumber,
  partsOf,
  rowsPerFile,
  type Step,
  stepsSql,
} from './cut.ts'
import { fingerprintSql, fingerprintTag, fromTag, untilTag, writeFile } from './files.ts'
import { commit, type LakeContext, readLog } from './log.ts'

export interface TableRows {
  /** With its schema, as in `star/fact_timesheet`. */
  readonly table: string
  readonly description: string
  readonly columns: readonly LakeColumn[]
  /** SQL that selects them in the stage. */
  readonly rows: string
}

export interface Writer extends LakeContext {
  readonly connection: string
  readonly runId: string
  readonly retentionDays: number
  /** A larger table is cut into files of at most this many rows. */
  readonly maxRows?: number
}

export interface WrittenTable {
  readonly table: string
  readonly state: TableState
  readonly filesWritten: number
  readonly bytesWritten: number
}

/** A writer that another one overtakes reads and compares again. */
const maxRounds = 10

interface Compared {
  readonly part: Part
  readonly fingerprint: string
  readonly rows: number
}

/** The bounds of the files that exist, so that a part stays the same part. */
const storedBounds = (files: readonly AddedFile[]): string[] =>
  [...new Set(files.flatMap(({ tags }) => [tags?.[fromTag] ?? [], tags?.[untilTag] ?? []].flat()))].sort()

async function comparedParts(
  { stage }: Writer,
  { columns, rows }: TableRows,
  { bounds, column }: { bounds: readonly string[]; column: string | undefined },
): Promise<Compared[]> {
  const found = await stage.rows<{ number: number; fingerprint: string; rows: number }>(
    `select ${partNumber(bounds, column)} as number, ${fingerprintSql(columns)} as fingerprint, count(*) as rows
     from (${rows}) group by 1 order by 1`,
  )
  const parts = partsOf(bounds)
  return found.map(one => ({
    part: parts[Number(one.number)] ?? { from: undefined, until: undefined },
    fingerprint: one.fingerprint,
    rows: Number(one.rows),
  }))
}

async function partsNow(writer: Writer, source: TableRows, files: readonly AddedFile[]) {
  const max = writer.maxRows ?? rowsPerFile
  const column = cutColumn(source.table, source.columns)
  const bounds = column === undefined ? [] : storedBounds(files)
  const parts = await comparedParts(writer, source, { bounds, column })
  const added: string[] = []
  for (const { part, rows } of parts) {
    // Not at once: a part that has just been cut would be cut again by its next row.
    if (column === undefined || rows <= max * 1.5) continue
    const steps = await writer.stage.rows<Step>(stepsSql(source.rows, { part, column, max }))
    const counted = steps.map(({ start, rows }) => ({ start, rows: Number(rows) }))
    added.push(...boundsBetween(counted, max, part.from))
  }
  if (added.length === 0) return { parts, column }
  const all = [...new Set([...bounds, ...added])].sort()
  return { parts: await comparedParts(writer, source, { bounds: all, column }), column }
}

const keyOf = (fingerprint: unknown, from: unknown, until: unknown): string =>
  [fingerprint, from ?? '', until ?? ''].join(' ')

/** Whether a file that the log names is in the store with its size. */
async function storedPaths(
  { store, connection }: Writer,
  table: string,
): Promise<ReadonlyMap<string, number>> {
  const files = await store.list(`${table}/${connectionColumn}=${connection}/`)
  return new Map(files.map(({ key, bytes }) => [key.slice(table.length + 1), bytes]))
}

function requireNoForeign(files: readonly AddedFile[], { store }: Writer, table: string): void {
  const foreign = files.find(({ tags }) => !tags?.[fingerprintTag])
  if (!foreign) return
  throw new MusterError({
    what: `another program wrote into this connection's rows: ${foreign.path}`,
    where: `${store.where}/${table}`,
    next: 'undo that there (delete those rows, or restore the version before), and publish again; nothing was written',
  })
}

function metaDataOf(
  { retentionDays, clock }: Writer,
  { table, description }: TableRows,
  { columns, before }: { columns: readonly LakeColumn[]; before: TableMetaData | undefined },
): TableMetaData {
  const days = `interval ${retentionDays} days`
  return {
    id: before?.id ?? randomUUID(),
    name: table.replace('/', '.'),
    description,
    format: { provider: 'parquet', options: {} },
    schemaString: schemaText(columns),
    partitionColumns: [connectionColumn],
    configuration: {
      ...before?.configuration,
      'delta.logRetentionDuration': days,
      'delta.deletedFileRetentionDuration': days,
    },
    createdTime: before?.createdTime ?? clock.now(),
  }
}

const removalOf = ({ path, partitionValues, size }: AddedFile, deletionTimestamp: number): Action => ({
  remove: { path, deletionTimestamp, dataChange: true, extendedFileMetadata: true, partitionValues, size },
})

/** Writes the files of other connections with the wider types: readers refuse a file whose type is narrower. */
async function widened(
  writer: Writer,
  source: TableRows,
  { state, columns }: { state: TableState; columns: readonly LakeColumn[] },
): Promise<Action[]> {
  const others = [...state.files.values()].filter(
    ({ partitionValues }) => partitionValues[connectionColumn] !== writer.connection,
  )
  const actions: Action[] = []
  for (const [index, file] of others.entries()) {
    const local = await writer.store.fetch(`${source.table}/${file.path}`)
    if (local === undefined) throw missing(writer, `${source.table}/${file.path}`)
    const from = quoteText(asPattern(local))
    const there = await writer.stage.rows<{ name: string }>(
      `select column_name as name from (describe select * from read_parquet(${from}))`,
    )
    const names = new Set(there.map(({ name }) => name))
    const added = await writeFile(writer, {
      ...writer,
      table: source.table,
      connection: file.partitionValues[connectionColumn] ?? '',
      columns: columns.filter(({ name }) => names.has(name)),
      rows: `select * from read_parquet(${from}, hive_partitioning = false)`,
      part: { from: file.tags?.[fromTag] ?? undefined, until: file.tags?.[untilTag] ?? undefined },
      fingerprint: file.tags?.[fingerprintTag] ?? '',
      name: `${writer.runId}-w${index}.parquet`,
    })
    actions.push(removalOf(file, writer.clock.now()), { add: added })
  }
  return actions
}

const missing = ({ store }: LakeContext, key: string): MusterError =>
  new MusterError({
    what: 'a file that the lake names is missing',
    where: `${store.where}/${key}`,
    next: 'run muster lake publish for its connection, which writes it again',
  })

async function filesToWrite(
  writer: Writer,
  source: TableRows,
  { files, mustRewrite, round }: { files: readonly AddedFile[]; mustRewrite: boolean; round: number },
): Promise<Action[]> {
  const { parts, column } = await partsNow(writer, source, files)
  const there = files.length === 0 ? new Map<string, number>() : await storedPaths(writer, source.table)
  const intact = mustRewrite ? [] : files.filter(({ path, size }) => there.get(path) === size)
  const kept = new Map(
    intact.map(file => [
      keyOf(file.tags?.[fingerprintTag], file.tags?.[fromTag], file.tags?.[untilTag]),
      file,
    ]),
  )
  const added: Action[] = []
  for (const [index, { part, fingerprint }] of parts.entries()) {
    if (kept.delete(keyOf(fingerprint, part.from, part.until))) continue
    const request = {
      ...writer,
      ...source,
      rows: `select * from (${source.rows}) where ${conditionOf(part, column)}`,
      part,
      fingerprint,
      name: `${writer.runId}-${round}-${index}.parquet`,
    }
    added.push({ add: await writeFile(writer, request) })
  }
  const stale = new Set(kept.values())
  const gone = files.filter(file => stale.has(file) || !intact.includes(file))
  return [...gone.map(file => removalOf(file, writer.clock.now())), ...added]
}

interface Change {
  readonly grown: GrownSchema
  readonly actions: readonly Action[]
}

async function changeOf(
  writer: Writer,
  source: TableRows,
  { state, round }: { state: TableState; round: number },
): Promise<Change> {
  const where = `${writer.store.where}/${source.table}`
  const stored = state.metaData ? columnsIn(state.metaData.schemaString) : []
  const grown = growSchema(stored, source.columns, where)
  const types = new Map(grown.columns.map(column => [column.name, column]))
  const typed = { ...source, columns: source.columns.map(column => types.get(column.name) ?? column) }
  const files = filesOf(state, writer.connection)
  requireNoForeign(files, writer, source.table)
  const actions = await filesToWrite(writer, typed, { files, mustRewrite: grown.isWidened, round })
  const others = grown.isWidened ? await widened(writer, source, { state, columns: grown.columns }) : []
  return { grown, actions: [...actions, ...others] }
}

function describing(
  writer: Writer,
  source: TableRows,
  { state, grown }: { state: TableState; grown: GrownSchema },
) {
  const before = state.metaData
  if (before && !grown.isChanged && before.description === source.description) return []
  const first: Action[] = before ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]
  return [...first, { metaData: metaDataOf(writer, source, { columns: grown.columns, before }) }]
}

/** The run that named a file; undefined for one that another connection has widened. */
const runOf = ({ path }: AddedFile): string | undefined => /([^/]+)-\d+-\d+\.parquet$/.exec(path)?.[1]

/** Two processes publish the same connection: the one that read its rows earlier must not bring them back. */
function requireAlone(
  { store, connection, runId }: Writer,
  { table, state, read }: { table: string; state: TableState; read: TableState | undefined },
): void {
  const later = filesOf(state, connection).some(file => (runOf(file) ?? '') > runId)
  if (!later && (!read || hasSameFiles(read, state, connection))) return
  throw new Busy({
    what: `another process publishes ${connection} at the same time`,
    where: `${store.where}/${table}`,
    next: 'run muster lake publish again when it has ended; tables that were written before stay',
  })
}

/** Throws MusterError for a table that is damaged, or not ours, and Busy if another process publishes this connection. */
export async function writeTable(writer: Writer, source: TableRows): Promise<WrittenTable> {
  const { store, connection, runId } = writer
  const { table } = source
  let read: TableState | undefined
  for (let round = 1; round <= maxRounds; round += 1) {
    const state = await readLog(writer, table)
    requireOurs(state, `${store.where}/${table}`)
    requireAlone(writer, { table, state, read })
    read = state
    const { grown, actions } = await changeOf(writer, source, { state, round })
    const all = [...describing(writer, source, { state, grown }), ...actions]
    if (all.length === 0) return { table, state, filesWritten: 0, bytesWritten: 0 }
    const written = actions.flatMap(({ add }) => add ?? [])
    const whose = grown.isWidened ? undefined : connection
    const after = await commit(writer, { table, read: state, connection, whose, runId, actions: all })
    if (!after) {
      await store.delete(written.map(({ path }) => `${table}/${path}`))
      continue
    }
    const bytesWritten = written.reduce((sum, { size }) => sum + size, 0)
    return { table, state: after, filesWritten: written.length, bytesWritten }
  }
  throw new MusterError({
    what: `other connections changed the columns of this table ${maxRounds} times in a row`,
    where: `${store.where}/${table}`,
    next: 'run muster lake publish again',
  })
}

/** Removes the rows of a connection from a table that its warehouse no longer has. */
export async function removeRows(writer: Writer, table: string): Promise<void> {
  const { connection, runId, clock, store } = writer
  for (let round = 1; round <= maxRounds; round += 1) {
    const state = await readLog(writer, table)
    requireOurs(state, `${store.where}/${table}`)
    const actions = filesOf(state, connection).map(file => removalOf(file, clock.now()))
    if (actions.length === 0) return
    if (await commit(writer, { table, read: state, connection, whose: connection, runId, actions })) return
  }
}
