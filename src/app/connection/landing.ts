/** The landed pages of a connection. */
import type { StoredConnection } from '../../config/connection.ts'
import type { LandingPlace } from '../../landing/bucket/place.ts'
import { type Landing, openLanding } from '../../landing/folder.ts'
import { openStore } from '../../landing/open-store.ts'

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
