/**
 * Declares where a landing keeps its files: a folder on this machine, or a bucket that machines share. Both are object
 * stores.
 */
import { randomBytes } from 'node:crypto'
import { ConfigError } from '../lib/errors.ts'

export interface BucketPlace {
  /** The name shown in messages. */
  readonly url: string
  readonly bucket: string
  /** Precedes every key; ends with a slash unless it is empty. */
  readonly prefix: string
  /** A service other than AWS, without a host name for each bucket. */
  readonly isOther: boolean
  /** AWS KMS key that encrypts new objects; without it the bucket's own setting decides. */
  readonly kmsKey?: string
}

/** Where pages are landed. */
export interface LandingPlace {
  /** The landing itself, or for a bucket the folder whose parent holds temporary files. */
  readonly folder: string
  readonly bucket?: BucketPlace | undefined
}

export interface LandingFile {
  /** Path segments, as in `pages/SCAN/NAME`. */
  readonly key: string
  readonly bytes: number
}

export interface StoredContent {
  readonly content: Buffer
  /** Changes whenever the content changes; undefined in a folder, where contents are compared. */
  readonly version: string | undefined
}

export interface PutOptions {
  readonly over?: StoredContent | undefined
  /** Replaces something that is deleted next, so it must be on disk first. */
  readonly isLasting?: boolean
}

export interface LandingStore {
  /** The name shown in messages. */
  readonly where: string
  /** The local folder that files are written to. */
  readonly disk: string
  /** The folder for temporary files. */
  readonly home: string
  /**
   * Writes completely or not at all. With `over`, replaces only that content: returns false when something else is
   * there.
   */
  put(key: string, content: Buffer, options?: PutOptions): Promise<boolean>
  /** Undefined when it does not exist. */
  get(key: string): Promise<StoredContent | undefined>
  /** Files whose keys begin with the prefix, which must end with a slash. */
  list(prefix: string): Promise<LandingFile[]>
  /** Ignores keys that do not exist. */
  delete(keys: readonly string[]): Promise<void>
  /** A local file with the content, downloaded once; undefined when it does not exist. */
  fetch(key: string): Promise<string | undefined>
  /** Removes local copies of a scan's files. */
  release(scan: string): void
  close(): void
}

/** Puts, lists, gets and deletes a test file before the first request to the service. Throws when any of these fails. */
export async function tryStore(store: LandingStore): Promise<void> {
  const prefix = `.muster-try-${randomBytes(6).toString('hex')}/`
  const key = `${prefix}try`
  await store.put(key, Buffer.from('muster'))
  const listed = await store.list(prefix)
  const got = await store.get(key)
  await store.delete([key])
  if (listed.length === 1 && got?.content.toString() === 'muster') return
  throw new ConfigError({
    what: 'the bucket does not return what was just written to it',
    where: store.where,
    next: 'use a bucket that is strongly consistent, as AWS S3 is',
  })
}

/** Concurrent transfers: more gain nothing, and each may hold a page in memory. */
const maxTransfers = 8

export async function together<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = [...items]
  const one = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: maxTransfers }, one))
}
