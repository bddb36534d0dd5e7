/** The landed pages of a connection, and their keys, where the settings have some. */
import type { StoredConnection } from '../../config/connection.ts'
import type { LandingPlace } from '../../landing/bucket/place.ts'
import { LandingKeys, notedKey } from '../../landing/encryption.ts'
import { type Landing, openLanding } from '../../landing/folder.ts'
import { openStore } from '../../landing/open-store.ts'
import { MusterError } from '../../lib/errors.ts'

type Landed = Pick<StoredConnection, 'landing' | 'bucket'>

export const landingPlace = ({ landing, bucket }: Landed): LandingPlace => ({ folder: landing, bucket })

/** Throws where pages cannot be kept in the bucket. A folder is made when the first page comes. */
export async function requireBucket(landed: Landed, signal: AbortSignal): Promise<void> {
  if (!landed.bucket) return
  const store = openStore(landingPlace(landed), signal)
  try {
    await store.tryOut()
  } finally {
    store.close()
  }
}

/** As messages name it. */
export const shownLanding = ({ landing, bucket }: Landed): string => bucket?.url ?? landing

export const landingKeys = ({ landingKey }: Pick<StoredConnection, 'landingKey'>): LandingKeys | undefined =>
  landingKey && new LandingKeys(landingKey.reveal())

/** Throws ConfigError where pages are encrypted with another key. */
export async function withLanding<Result>(
  connection: StoredConnection,
  signal: AbortSignal,
  work: (landing: Landing) => Promise<Result>,
): Promise<Result> {
  const store = openStore(landingPlace(connection), signal)
  try {
    return await work(await openLanding(store, { keys: landingKeys(connection) }))
  } finally {
    store.close()
  }
}

/** The id of the key of its pages; undefined where none are encrypted. */
export async function landingKeyId(connection: StoredConnection): Promise<string | undefined> {
  const store = openStore(landingPlace(connection))
  try {
    return await notedKey(store)
  } catch (error) {
    // A bucket that cannot be reached has what the settings say, and `doctor` tells the rest.
    if (!connection.bucket || !(error instanceof MusterError)) throw error
    return landingKeys(connection)?.id
  } finally {
    store.close()
  }
}
