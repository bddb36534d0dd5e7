/** The lakes of a connection: what a command or a forgotten person does to them. */
import { dirname } from 'node:path'
import type { StoredConnection } from '../config/connection.ts'
import { type LakeSettings, piiLakeOf } from '../config/connection.ts'
import { filesOf } from '../lake/actions.ts'
import { checkLake, type LakeDamage } from '../lake/check.ts'
import { readLog } from '../lake/log.ts'
import { type LakePublication, publishToLake } from '../lake/publish.ts'
import { folderOf, type LakeSnapshot, lastSnapshot, readSnapshot } from '../lake/snapshots.ts'
import { type LakeStore, openLake, tryLake } from '../lake/store.ts'
import type { WrittenTable } from '../lake/table.ts'
import { removeHistory, retentionStart, type VacuumedLake, vacuumLake } from '../lake/vacuum.ts'
import { ConfigError, MusterError } from '../lib/errors.ts'
import { tooManyQuarantined } from '../state/evidence/quarantine-limit.ts'
import { newRunId } from '../state/runs/runs.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openStage } from '../warehouse/on-demand.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { openToRead } from './connection/warehouse.ts'
import type { NoticeOutput, RuntimeContext } from './runtime-context.ts'

interface OneLake {
  readonly settings: LakeSettings
  readonly schemas: readonly SchemaName[]
}

/** The lake without personal data, and the second one that has it, if the settings ask for it. */
function lakesOf({ lake }: StoredConnection): OneLake[] {
  if (!lake) return []
  const main: OneLake = { settings: lake, schemas: ['star', 'mart', 'ops', 'history'] }
  return lake.pii ? [main, { settings: piiLakeOf(lake), schemas: ['pii'] }] : [main]
}

/** The addresses of the lakes, for messages. */
export const lakeAddresses = (connection: StoredConnection): string[] =>
  lakesOf(connection).map(({ settings }) => settings.address)

/** Those that are folders on this machine. */
export const lakeFolders = (connection: StoredConnection): string[] =>
  lakesOf(connection).flatMap(({ settings }) => (settings.bucket ? [] : settings.address))

const hasPii = ({ schemas }: OneLake): boolean => schemas.includes('pii')

function storeOf(connection: StoredConnection, lake: OneLake, signal: AbortSignal): LakeStore {
  const { address, bucket } = lake.settings
  const folder = bucket ? dirname(connection.landing) : address
  return openLake({ folder, bucket, isPrivate: hasPii(lake) }, signal)
}

async function inStore<Result>(
  connection: StoredConnection,
  { lake, signal }: { lake: OneLake; signal: AbortSignal },
  work: (store: LakeStore) => Promise<Result>,
): Promise<Result> {
  const store = storeOf(connection, lake, signal)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

export interface PublishOptions {
  readonly takesOver?: boolean
  readonly onTable?: (written: WrittenTable) => void
}

/** `engine` is the warehouse, or its published copy if no schema has personal data. */
async function publishFrom(
  engine: Engine,
  connection: StoredConnection,
  { context, options }: { context: RuntimeContext; options: PublishOptions },
): Promise<LakePublication[]> {
  const made: LakePublication[] = []
  const { clock, rng, signal } = context
  for (const lake of lakesOf(connection))
    made.push(
      await inStore(connection, { lake, signal }, async store => {
        await tryLake(store)
        const { schemas, settings } = lake
        const [runId, retentionDays] = [newRunId(clock, rng), settings.retentionDays]
        const { name } = connection
        return publishToLake({
          ...{ engine, store, schemas, clock, signal, runId, retentionDays, ...options },
          connection: name,
        })
      }),
    )
  return made
}

/** Throws MusterError for a warehouse with too many records in quarantine: they are missing from every figure. */
export async function publishLake(
  connection: StoredConnection,
  context: RuntimeContext & NoticeOutput,
  options: PublishOptions,
): Promise<LakePublication[]> {
  const { handle: engine, isPublished } = await openToRead(connection, context)
  try {
    if (isPublished && connection.lake?.pii)
      throw new MusterError({
        what: 'the published copy has no personal data to publish',
        where: engine.location,
        next: 'run muster lake publish again when no other process has the warehouse open',
      })
    const failure = isPublished
      ? undefined
      : await tooManyQuarantined(engine, { meanwhile: 'the lake is unchanged' })
    if (failure) throw failure
    return await publishFrom(engine, connection, { context, options })
  } finally {
    await engine.close()
  }
}

export interface LakeStatus {
  readonly address: string
  /** Undefined before the first publication. */
  readonly snapshot: LakeSnapshot | undefined
}

/** The last publication, or that of a run, of each lake. */
export async function readLakes(
  connection: StoredConnection,
  { signal, run }: Pick<RuntimeContext, 'signal'> & { readonly run?: string | undefined },
): Promise<LakeStatus[]> {
  const found: LakeStatus[] = []
  const { name } = connection
  for (const lake of lakesOf(connection)) {
    const snapshot = await inStore(connection, { lake, signal }, store =>
      run === undefined ? lastSnapshot(store, name) : readSnapshot(store, { connection: name, run }),
    )
    found.push({ address: lake.settings.address, snapshot })
  }
  return found
}

/** Throws ConfigError or MusterError if a lake cannot be written. */
export async function tryLakes(connection: StoredConnection, signal: AbortSignal): Promise<void> {
  for (const lake of lakesOf(connection)) await inStore(connection, { lake, signal }, tryLake)
}

async function withStage<Result>(
  connection: StoredConnection,
  work: (stage: Engine) => Promise<Result>,
): Promise<Result> {
  const stage = await openStage(dirname(connection.landing), connection.days)
  try {
    return await work(stage)
  } finally {
    await stage.close()
  }
}

/** Calls `search` with the files of each table that is for readers without personal data; files of a bucket are fetched for it. */
export async function searchLake(
  connection: StoredConnection,
  { stage, context }: { stage: Engine; context: Pick<RuntimeContext, 'clock' | 'signal'> },
  search: (address: string, table: string, files: readonly string[]) => Promise<void>,
): Promise<void> {
  const { name } = connection
  const { clock, signal } = context
  for (const lake of lakesOf(connection).filter(one => !hasPii(one)))
    await inStore(connection, { lake, signal }, async store => {
      for (const table of Object.keys((await lastSnapshot(store, name))?.tables ?? {})) {
        const state = await readLog({ store, stage, clock }, folderOf(table))
        const files: string[] = []
        for (const { path } of filesOf(state, name)) {
          const file = await store.fetch(`${folderOf(table)}/${path}`)
          if (file !== undefined) files.push(file)
        }
        if (files.length > 0) await search(lake.settings.address, table, files)
      }
    })
}

export const damageOf = (
  connection: StoredConnection,
  { clock, signal }: RuntimeContext,
): Promise<LakeDamage[]> =>
  withStage(connection, async stage => {
    const damage: LakeDamage[] = []
    for (const lake of lakesOf(connection))
      await inStore(connection, { lake, signal }, async store => {
        const snapshot = await lastSnapshot(store, connection.name)
        if (snapshot) damage.push(...(await checkLake({ store, stage, clock }, snapshot)))
      })
    return damage
  })

export const vacuumLakes = (
  connection: StoredConnection,
  { clock, signal }: RuntimeContext,
): Promise<VacuumedLake[]> =>
  withStage(connection, async stage => {
    const done: VacuumedLake[] = []
    for (const lake of lakesOf(connection)) {
      const before = retentionStart(clock.now(), lake.settings.retentionDays)
      const request = { stage, clock, connection: connection.name, before }
      done.push(await inStore(connection, { lake, signal }, store => vacuumLake({ ...request, store })))
    }
    return done
  })

/** Publishes what is left of a person who was forgotten, and removes all earlier versions. `engine` is the warehouse. */
export async function forgetInLakes(
  engine: Engine,
  connection: StoredConnection,
  context: RuntimeContext,
): Promise<void> {
  const { clock, signal } = context
  const published = await readLakes(connection, context)
  if (published.every(({ snapshot }) => snapshot === undefined)) return
  await publishFrom(engine, connection, { context, options: {} })
  for (const lake of lakesOf(connection))
    await inStore(connection, { lake, signal }, store =>
      removeHistory({ stage: engine.stage, clock, connection: connection.name, store }),
    )
}

/** Throws ConfigError without a lake in the settings. */
export function requireLake({ lake, name }: StoredConnection): void {
  if (lake) return
  throw new ConfigError({
    what: `connection ${name} has no lake`,
    next: 'set lake to a folder or s3://BUCKET/PREFIX in its settings',
  })
}
