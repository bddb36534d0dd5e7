/** The actions of a Delta log, and the state of a table that follows from them. */
import * as z from 'zod'
import { MusterError } from '../lib/errors.ts'

const texts = z.record(z.string(), z.string().nullable())

const add = z.object({
  path: z.string(),
  partitionValues: texts,
  size: z.number(),
  /** Milliseconds since the epoch. */
  modificationTime: z.number(),
  dataChange: z.boolean(),
  stats: z.string().nullish(),
  tags: texts.nullish(),
})

const remove = z.object({
  path: z.string(),
  /** Milliseconds since the epoch. */
  deletionTimestamp: z.number().nullish(),
  dataChange: z.boolean(),
  extendedFileMetadata: z.boolean().nullish(),
  partitionValues: texts.nullish(),
  size: z.number().nullish(),
})

const metaData = z.object({
  id: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  format: z.object({ provider: z.string(), options: texts }),
  schemaString: z.string(),
  partitionColumns: z.array(z.string()),
  configuration: texts,
  createdTime: z.number().nullish(),
})

const protocol = z.object({ minReaderVersion: z.number(), minWriterVersion: z.number() })

const commitInfo = z.looseObject({ timestamp: z.number().nullish() })

const action = z.object({
  add: add.nullish(),
  remove: remove.nullish(),
  metaData: metaData.nullish(),
  protocol: protocol.nullish(),
  commitInfo: commitInfo.nullish(),
})

export type AddedFile = z.infer<typeof add>
export type RemovedFile = z.infer<typeof remove>
export type TableMetaData = z.infer<typeof metaData>
export type Action = z.infer<typeof action>

export interface TableState {
  /** -1 before the first commit. */
  readonly version: number
  readonly protocol?: z.infer<typeof protocol> | undefined
  readonly metaData?: TableMetaData | undefined
  /** Files of this version, by path. */
  readonly files: ReadonlyMap<string, AddedFile>
  /** Files of earlier versions, by path. */
  readonly removed: ReadonlyMap<string, RemovedFile>
}

export const noTable: TableState = { version: -1, files: new Map(), removed: new Map() }

/** The actions of a commit or checkpoint, one a line. Throws MusterError for anything else. */
export function parseActions(text: string, where: string): Action[] {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  try {
    if (lines.length === 0) throw new SyntaxError('it is empty')
    return lines.map(line => action.parse(JSON.parse(line)))
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new MusterError({
      what: 'this commit of the lake cannot be read: it is damaged, or only half of it is there',
      where,
      next: 'restore it from a backup; if no later commit exists, remove it and publish again',
      cause,
    })
  }
}

/** The state after one more commit. */
export function applyCommit(before: TableState, version: number, actions: readonly Action[]): TableState {
  const files = new Map(before.files)
  const removed = new Map(before.removed)
  let { protocol, metaData } = before
  for (const one of actions) {
    if (one.remove) {
      files.delete(one.remove.path)
      removed.set(one.remove.path, one.remove)
    }
    if (one.add) {
      files.set(one.add.path, one.add)
      removed.delete(one.add.path)
    }
    protocol = one.protocol ?? protocol
    metaData = one.metaData ?? metaData
  }
  return { version, protocol, metaData, files, removed }
}

/** The partition column, and first column of every table. */
export const connectionColumn = 'connection'

export const filesOf = (state: TableState, connection: string): AddedFile[] =>
  [...state.files.values()].filter(({ partitionValues }) => partitionValues[connectionColumn] === connection)

/** Whether two versions have the same files, of one connection or of all. */
export function hasSameFiles(one: TableState, other: TableState, connection: string | undefined): boolean {
  const paths = (state: TableState): string =>
    (connection === undefined ? [...state.files.values()] : filesOf(state, connection))
      .map(({ path }) => path)
      .sort()
      .join()
  return paths(one) === paths(other)
}

/** Whether later commits leave as it was what this writer has read: the files of a connection or of all, and the columns. */
export const isUnaffected = (read: TableState, now: TableState, connection: string | undefined): boolean =>
  read.metaData?.schemaString === now.metaData?.schemaString &&
  read.metaData?.id === now.metaData?.id &&
  hasSameFiles(read, now, connection)

/** Throws MusterError for a table that this program must not write. */
export function requireOurs(state: TableState, where: string): void {
  const { protocol, metaData, version } = state
  if (version < 0) return
  const refuse = (what: string, next: string): MusterError =>
    new MusterError({ what, where, next: `${next}; nothing was written` })
  if (!protocol || !metaData)
    throw refuse('the log of this table has no beginning', 'restore its first commit')
  if (protocol.minReaderVersion > 1 || protocol.minWriterVersion > 2)
    throw refuse(
      `another program has set a newer protocol for this table (reader ${protocol.minReaderVersion}, writer ${protocol.minWriterVersion})`,
      'remove the table, or publish to another place',
    )
  if (metaData.partitionColumns.join() !== connectionColumn)
    throw refuse(
      'this table is not partitioned by connection, so muster did not create it',
      'move it away, or publish to another place',
    )
}
