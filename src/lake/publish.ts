/** Publishes a warehouse to a lake: each table in a commit of its own, and a manifest of the versions that belong together. */

import { MusterError } from '../lib/errors.ts'
import { lastDoneSync } from '../state/runs/resource-state.ts'
import { firstRun } from '../state/runs/runs.ts'
import { incompleteResources } from '../state/scans/completeness.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import {
  deleteClaim,
  deleteSnapshots,
  describeTable,
  folderOf,
  isSameState,
  type LakeSnapshot,
  lastSnapshot,
  nameOf,
  readClaims,
  requireOwnName,
  snapshotFormat,
  snapshotRuns,
  writeClaim,
  writeSnapshot,
} from './snapshots.ts'
import { lakeSources, withRows } from './sources.ts'
import type { LakeStore } from './store.ts'
import { removeRows, type Writer, type WrittenTable, writeTable } from './table.ts'

export interface LakeRequest extends Omit<Writer, 'stage'> {
  readonly engine: Engine
  readonly signal: AbortSignal
  readonly schemas: readonly SchemaName[]
  /** Takes the name from another warehouse, or the rows from a former name. */
  readonly takesOver?: boolean
  readonly onTable?: (written: WrittenTable) => void
}

export interface LakePublication {
  /** The snapshot of this run, or the last one if nothing has changed since. */
  readonly snapshot: LakeSnapshot
  readonly isNew: boolean
  readonly filesWritten: number
  readonly bytesWritten: number
}

async function ownClaim({ engine, connection, store, takesOver }: LakeRequest) {
  const warehouse = await firstRun(engine)
  if (warehouse === undefined)
    throw new MusterError({
      what: 'there is nothing to publish: no run has written to this warehouse',
      where: engine.location,
      next: 'run muster sync first',
    })
  const own = { connection, warehouse }
  const claims = await readClaims(store)
  if (!takesOver) requireOwnName(claims, own, store.where)
  return { own, claims }
}

/** Tables that a connection has rows of, as of its last snapshot. */
const tablesOf = async (store: LakeStore, connection: string): Promise<string[]> =>
  Object.keys((await lastSnapshot(store, connection))?.tables ?? {})

/** Removes the claims that this warehouse takes over, and rows under its former names. */
async function takeOver(
  writer: Writer,
  { own, claims }: Awaited<ReturnType<typeof ownClaim>>,
): Promise<void> {
  const { store } = writer
  for (const claim of claims) {
    const isOther = claim.connection === own.connection && claim.warehouse !== own.warehouse
    const isFormer = claim.warehouse === own.warehouse && claim.connection !== own.connection
    if (isFormer) {
      const { connection } = claim
      for (const table of await tablesOf(store, connection))
        await removeRows({ ...writer, connection }, folderOf(table))
      await deleteSnapshots(store, connection, await snapshotRuns(store, connection))
    }
    if (isOther || isFormer) await deleteClaim(store, claim)
  }
  if (!claims.some(claim => claim.connection === own.connection && claim.warehouse === own.warehouse))
    await writeClaim(store, own)
}

async function writeTables(request: LakeRequest, writer: Writer): Promise<WrittenTable[]> {
  const { engine, schemas, signal, onTable } = request
  const written: WrittenTable[] = []
  for (const source of await lakeSources(engine, schemas)) {
    signal.throwIfAborted()
    const one = await withRows(engine, source, rows => writeTable(writer, rows))
    written.push(one)
    onTable?.(one)
  }
  return written
}

async function snapshotOf(
  { engine, connection, runId, clock }: LakeRequest,
  written: readonly WrittenTable[],
) {
  const incomplete = (await incompleteResources(engine)) ?? []
  return {
    format: snapshotFormat,
    connection,
    run: runId,
    publishedAt: new Date(clock.now()).toISOString(),
    asOf: await lastDoneSync(engine),
    complete: incomplete.length === 0,
    incomplete: incomplete.map(({ resource, reason }) => ({ resource, reason })),
    tables: Object.fromEntries(
      written.map(({ table, state }) => [nameOf(table), describeTable(state, connection)]),
    ),
  } satisfies LakeSnapshot
}

/** Reads one state of the warehouse. What was committed before it throws stays, and the next publication continues. */
export async function publishToLake(request: LakeRequest): Promise<LakePublication> {
  const { store, connection } = request
  return request.engine.inOneSnapshot(async engine => {
    const within = { ...request, engine }
    const writer = { ...within, stage: engine.stage }
    await takeOver(writer, await ownClaim(within))
    const previous = await lastSnapshot(store, connection)
    const written = await writeTables(within, writer)
    const there = new Set(written.map(({ table }) => nameOf(table)))
    const gone = Object.keys(previous?.tables ?? {}).filter(name => !there.has(name))
    for (const name of gone) await removeRows(writer, folderOf(name))
    const snapshot = await snapshotOf(within, written)
    const isNew = !previous || !isSameState(previous, snapshot)
    if (isNew) await writeSnapshot(store, snapshot)
    return {
      snapshot: isNew || !previous ? snapshot : previous,
      isNew,
      filesWritten: written.reduce((sum, { filesWritten }) => sum + filesWritten, 0),
      bytesWritten: written.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    }
  })
}
