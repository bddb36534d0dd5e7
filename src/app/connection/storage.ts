/** Locates the stored data of a connection (warehouse, landed pages, waiting events) and checks for free disk space. */
import { dirname } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { type InboxStore, logStore, tableStore } from '../../events/store.ts'
import { type Landing, openLanding, openStore } from '../../landing/landing.ts'
import { type LandingPlace, tryStore } from '../../landing/store.ts'
import type { StoredEvents } from '../../state/inbox/figures.ts'
import { freeBytes, inMegabytes, requireFree } from '../../temporary/free-space.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/on-demand.ts'
import type { PostgresOptions } from '../../warehouse/postgres/open.ts'
import type { PostgresAddress } from '../../warehouse/postgres/session.ts'

/** The file of a DuckDB warehouse; undefined for a server. */
export const duckdbFile = ({ warehouse }: StoredConnection): string | undefined =>
  warehouse.kind === 'file' ? warehouse.file : undefined

export interface PostgresTarget {
  readonly address: PostgresAddress
  readonly options: PostgresOptions
}

/** The address of a PostgreSQL warehouse; undefined for a file. */
export function postgresTarget(connection: StoredConnection): PostgresTarget | undefined {
  const { warehouse, schemaPrefix, landing, days } = connection
  if (warehouse.kind === 'file') return undefined
  return {
    address: { url: warehouse.url.reveal(), shown: warehouse.shown },
    // Beside the landed pages: temporary rows for the server are as private as the pages.
    options: {
      scratch: dirname(landing),
      days,
      ...(schemaPrefix !== undefined && { schemaPrefix }),
    },
  }
}

/** The path beside which the list of a connection's outputs is kept. */
export const stemOf = (connection: StoredConnection): string => duckdbFile(connection) ?? connection.landing

type LandingSettings = Pick<StoredConnection, 'landing' | 'bucket'>

export const landingPlace = ({ landing, bucket }: LandingSettings): LandingPlace => ({
  folder: landing,
  bucket,
})

/** Throws if the bucket cannot store pages. A folder is created with the first page. */
export async function requireBucket(landed: LandingSettings, signal: AbortSignal): Promise<void> {
  if (!landed.bucket) return
  const store = openStore(landingPlace(landed), signal)
  try {
    await tryStore(store)
  } finally {
    store.close()
  }
}

/** The landing as messages name it. */
export const shownLanding = ({ landing, bucket }: LandingSettings): string => bucket?.url ?? landing

export async function withLanding<Result>(
  connection: StoredConnection,
  signal: AbortSignal,
  work: (landing: Landing) => Promise<Result>,
): Promise<Result> {
  const store = openStore(landingPlace(connection), signal)
  try {
    return await work(openLanding(store))
  } finally {
    store.close()
  }
}

/** The folder of the log of events beside a DuckDB file. */
export const inboxFolder = (file: string): string => `${file.replace(/\.duckdb$/, '')}.inbox`

/**
 * Opens the store of arriving events: a log beside the DuckDB file, or a table of the server. On a server the inbox has its own
 * session besides that of `warehouse`, so that no event waits for a merge.
 */
export async function openInboxStore(connection: StoredConnection, warehouse: Engine): Promise<InboxStore> {
  const place = postgresTarget(connection)
  if (place)
    return tableStore(await openPostgres(place.address, { ...place.options, stage: warehouse.stage }))
  return logStore(inboxFolder(duckdbFile(connection) ?? ''))
}

/** The maximum number and bytes of stored events that the settings allow. */
export const inboxBounds = ({
  inboxEvents: events,
  inboxMegabytes,
}: Pick<StoredConnection, 'inboxEvents' | 'inboxMegabytes'>): StoredEvents => ({
  events,
  bytes: inboxMegabytes * 1e6,
})

export const reserveOf = ({ reserveMegabytes }: StoredConnection): number => reserveMegabytes * 1_048_576

/** Folders on this machine: for a server, only landed pages and temporary rows. */
const foldersOf = ({ warehouse, landing }: StoredConnection): string[] =>
  warehouse.kind === 'file' ? [dirname(warehouse.file), landing] : [landing]

/** Throws DiskFull if less than the reserve is free. `others` are further folders that will be written. */
export function requireRoom(connection: StoredConnection, ...others: readonly string[]): void {
  for (const folder of [...foldersOf(connection), ...others]) requireFree(folder, reserveOf(connection))
}

/** Warns after a run that used up the space above the reserve; undefined if there is room for another run. */
export function roomWarning(connection: StoredConnection): string | undefined {
  const short = foldersOf(connection).find(folder => freeBytes(folder) < reserveOf(connection))
  if (short === undefined) return undefined
  return `warning: only ${inMegabytes(freeBytes(short))} are free in ${short}, less than reserveMegabytes: everything is stored, but the next run will not start until there is room`
}
