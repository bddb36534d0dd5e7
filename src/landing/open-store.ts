/** The place that keeps a landing, by how the settings name it. */
import { dirname } from 'node:path'
import { Bucket } from './bucket/client.ts'
import type { LandingPlace } from './bucket/place.ts'
import { BucketStore } from './bucket/store.ts'
import { FolderStore } from './folder-store.ts'
import type { LandingStore } from './store.ts'

/** A text is a folder. After `signal` requests to a bucket end soon. */
export function openStore(place: string | LandingPlace, signal?: AbortSignal): LandingStore {
  if (typeof place === 'string') return new FolderStore(place)
  const { folder, bucket } = place
  return bucket ? new BucketStore(new Bucket(bucket, signal), dirname(folder)) : new FolderStore(folder)
}
