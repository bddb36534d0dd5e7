/**
 * Manifests of a lake: the versions of all tables that belong together, of each connection and run. A table is atomic, a set of
 * tables is not. Also which warehouse each connection belongs to.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { MusterError } from '../lib/errors.ts'
import { type AddedFile, filesOf, type TableState } from './actions.ts'
import { rowsIn, shaTag, sumsTag } from './files.ts'
import type { LakeStore } from './store.ts'

const snapshot = z.object({
  format: z.literal('muster lake 1'),
  connection: z.string(),
  run: z.string(),
  /** ISO 8601. */
  publishedAt: z.string(),
  /** ISO 8601: end of the last sync that finished; null before the first. */
  asOf: z.string().nullable(),
  complete: z.boolean(),
  incomplete: z.array(z.object({ resource: z.string(), reason: z.string() })),
  tables: z.record(
    z.string(),
    z.object({
      version: z.number(),
      rows: z.number(),
      /** Of decimal columns. */
      sums: z.record(z.string(), z.string()),
      /** Of the checksums of the connection's files. */
      sha256: z.string(),
      /** Paths in the folder of the table, for readers that need no log: finding them there again costs seconds a table. */
      files: z.array(z.string()),
    }),
  ),
})

export type LakeSnapshot = z.infer<typeof snapshot>

export const snapshotFormat = 'muster lake 1'

const folder = '_muster/snapshots/'
const claims = '_muster/connections/'

/** `star/fact_timesheet` is named `star.fact_timesheet`, as in SQL. */
export const nameOf = (folder: string): string => folder.replace('/', '.')
export const folderOf = (name: string): string => name.replace('.', '/')

const keyOf = ({ connection, run }: Pick<LakeSnapshot, 'connection' | 'run'>): string =>
  `${folder}${connection}/${run}.json`

/** Adds decimals that are written with the same number of digits behind the point. */
export function addDecimals(one: string, other: string): string {
  const scale = Math.max(...[one, other].map(text => text.split('.')[1]?.length ?? 0))
  const units = (text: string): bigint => {
    const [whole = '0', behind = ''] = text.split('.')
    return BigInt(whole + behind.padEnd(scale, '0'))
  }
  const sum = units(one) + units(other)
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0')
  const at = digits.length - scale
  return `${sum < 0n ? '-' : ''}${digits.slice(0, at)}${scale > 0 ? `.${digits.slice(at)}` : ''}`
}

function sumsOf(files: readonly AddedFile[]): Record<string, string> {
  const sums: Record<string, string> = {}
  for (const { tags } of files)
    for (const [name, sum] of Object.entries(JSON.parse(tags?.[sumsTag] ?? '{}') as Record<string, string>))
      sums[name] = addDecimals(sums[name] ?? '0', sum)
  return sums
}

/** What a version of a table has of a connection. */
export function describeTable(state: TableState, connection: string): LakeSnapshot['tables'][string] {
  const files = filesOf(state, connection)
  const digests = files.map(({ tags }) => tags?.[shaTag] ?? '').sort()
  return {
    version: state.version,
    rows: files.reduce((sum, file) => sum + rowsIn(file), 0),
    sums: sumsOf(files),
    sha256: createHash('sha256').update(digests.join('\n')).digest('hex'),
    files: files.map(({ path }) => path).sort(),
  }
}

/** Whether nothing but the versions differs, which other connections raise. */
export function isSameState(one: LakeSnapshot, other: LakeSnapshot): boolean {
  const state = ({ tables, asOf, complete, incomplete }: LakeSnapshot): string =>
    JSON.stringify([
      asOf,
      complete,
      incomplete,
      Object.entries(tables)
        .map(([name, { sha256 }]) => [name, sha256])
        .sort(),
    ])
  return state(one) === state(other)
}

export const writeSnapshot = (store: LakeStore, made: LakeSnapshot): Promise<boolean> =>
  store.create(keyOf(made), Buffer.from(`${JSON.stringify(made, null, 2)}\n`))

/** Runs of a connection that have a snapshot, ascending. */
export async function snapshotRuns(store: LakeStore, connection: string): Promise<string[]> {
  const home = `${folder}${connection}/`
  return (await store.list(home)).flatMap(
    ({ key }) => /^([\w-]+)\.json$/.exec(key.slice(home.length))?.[1] ?? [],
  )
}

/** Undefined when the run has none. Throws MusterError for a damaged one. */
export async function readSnapshot(
  store: LakeStore,
  { connection, run }: Pick<LakeSnapshot, 'connection' | 'run'>,
): Promise<LakeSnapshot | undefined> {
  const key = keyOf({ connection, run })
  const content = await store.get(key)
  if (!content) return undefined
  try {
    return snapshot.parse(JSON.parse(content.toString()))
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new MusterError({
      what: 'this snapshot of the lake is damaged',
      where: `${store.where}/${key}`,
      next: 'remove it, and run muster lake publish',
      cause,
    })
  }
}

export async function lastSnapshot(store: LakeStore, connection: string): Promise<LakeSnapshot | undefined> {
  const run = (await snapshotRuns(store, connection)).at(-1)
  return run === undefined ? undefined : readSnapshot(store, { connection, run })
}

export const deleteSnapshots = (
  store: LakeStore,
  connection: string,
  runs: readonly string[],
): Promise<void> => store.delete(runs.map(run => keyOf({ connection, run })))

/** A connection of the lake and the warehouse that writes it. */
export interface ConnectionClaim {
  readonly connection: string
  /** Identifies a warehouse for as long as it exists. */
  readonly warehouse: string
}

const claimKey = ({ connection, warehouse }: ConnectionClaim): string =>
  `${claims}${connection}.${warehouse}.json`

export async function readClaims(store: LakeStore): Promise<ConnectionClaim[]> {
  return (await store.list(claims)).flatMap(({ key }) => {
    const [, connection, warehouse] = /^([\w-]+)\.([\w-]+)\.json$/.exec(key.slice(claims.length)) ?? []
    return connection === undefined || warehouse === undefined ? [] : [{ connection, warehouse }]
  })
}

export const writeClaim = (store: LakeStore, claim: ConnectionClaim): Promise<boolean> =>
  store.create(claimKey(claim), Buffer.from(`${JSON.stringify(claim)}\n`))

export const deleteClaim = (store: LakeStore, claim: ConnectionClaim): Promise<void> =>
  store.delete([claimKey(claim)])

/** Throws MusterError unless this warehouse alone writes the connection, and under no other name. */
export function requireOwnName(
  claims: readonly ConnectionClaim[],
  own: ConnectionClaim,
  where: string,
): void {
  const refuse = (what: string, next: string): MusterError =>
    new MusterError({ what, where, next: `${next}; nothing was written` })
  if (claims.some(one => one.connection === own.connection && one.warehouse !== own.warehouse))
    throw refuse(
      `another warehouse publishes to this lake as ${own.connection}`,
      'rename this connection, or, if that warehouse is gone, publish with --take-over',
    )
  const former = claims.find(one => one.warehouse === own.warehouse && one.connection !== own.connection)
  if (former)
    throw refuse(
      `this warehouse is in the lake as ${former.connection}`,
      `name the connection ${former.connection} again, or publish with --take-over, which removes the rows of ${former.connection}`,
    )
}
