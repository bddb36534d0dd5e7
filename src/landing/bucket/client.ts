/** Requests to one bucket. The client is loaded when the first one is made, as few commands make any. */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import pRetry from 'p-retry'
import { BucketUnreached, bucketFailure, statusOf } from './failure.ts'
import type { BucketPlace } from './place.ts'

/** Longer than any request that is answered at all; a page has 50 MB at most. */
const requestMs = 60_000
const connectMs = 5_000
/** With pauses that double from 0.1 s on: 6 s and a little. */
const attempts = 7
/** After a signal a request that is under way may end, as a page that is put is no longer to be asked for. */
const graceMs = 3_000

const load = () => import('./sdk.ts')

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly writtenAt: number
  readonly etag: string | undefined
}

export interface Found {
  readonly objects: readonly StoredObject[]
  /** Up to the next slash. */
  readonly folders: readonly string[]
}

/** `undefined` of an object that may be there. */
export type Precondition = { readonly isNew: true } | { readonly etag: string } | undefined

export class Bucket {
  readonly place: BucketPlace
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal | undefined
  #client: Promise<S3Client> | undefined

  constructor(place: BucketPlace, signal?: AbortSignal) {
    this.place = place
    this.#signal = signal
    if (signal?.aborted) this.#stopSoon()
    else signal?.addEventListener('abort', this.#stopSoon)
  }

  readonly #stopSoon = (): void => {
    setTimeout(() => this.#stop.abort(), graceMs).unref()
  }

  async #open(): Promise<S3Client> {
    const { S3Client } = await load()
    return new S3Client({
      forcePathStyle: this.place.isOther,
      maxAttempts: attempts,
      requestHandler: {
        connectionTimeout: connectMs,
        requestTimeout: requestMs,
        throwOnRequestTimeout: true,
        // Explicit, so that no variable of the environment can switch the check of certificates off.
        httpsAgent: { rejectUnauthorized: true },
      },
    })
  }

  /** Throws ConfigError or BucketUnreached. */
  async #send<Answer>(
    ask: (
      client: S3Client,
      sdk: Awaited<ReturnType<typeof load>>,
      abortSignal: AbortSignal,
    ) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      this.#client ??= this.#open()
      return await ask(await this.#client, await load(), this.#stop.signal)
    } catch (error) {
      throw bucketFailure(error, this.place.url)
    }
  }

  get #bucket(): { readonly Bucket: string } {
    return { Bucket: this.place.bucket }
  }

  get #encryption(): Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'> {
    const { kmsKey } = this.place
    return kmsKey === undefined ? {} : { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKey }
  }

  /** The whole object or a range of it, as HTTP says that; undefined when it is not there. */
  async get(key: string, range?: string): Promise<Buffer | undefined> {
    return this.#reading(key, range, async body => {
      const parts: Buffer[] = []
      for await (const part of body) parts.push(part as Buffer)
      return Buffer.concat(parts)
    })
  }

  /** Writes an object to a file of this machine, completely or not at all; whether it was there. */
  async download(key: string, file: string): Promise<boolean> {
    const part = `${file}.part`
    const isThere = await this.#reading(key, undefined, async body => {
      await pipeline(body, createWriteStream(part, { mode: 0o600 })).catch(async error => {
        await rm(part, { force: true })
        throw error
      })
      await rename(part, file)
      return true
    })
    return isThere ?? false
  }

  /** An answer that breaks off is asked for again: the client repeats only what has no answer. */
  async #reading<Result>(
    key: string,
    range: string | undefined,
    read: (body: Readable) => Promise<Result>,
  ): Promise<Result | undefined> {
    let hasBegun = false
    const once = () => {
      hasBegun = false
      return this.#send(async (client, { GetObjectCommand }, abortSignal) => {
        const input = { ...this.#bucket, Key: key, ...(range && { Range: range }) }
        const { Body } = await client.send(new GetObjectCommand(input), { abortSignal })
        hasBegun = true
        return read(Body as Readable)
      })
    }
    try {
      const shouldRetry = ({ error }: { error: Error }) => hasBegun && error instanceof BucketUnreached
      return await pRetry(once, { retries: 2, minTimeout: 200, shouldRetry })
    } catch (error) {
      if (['NoSuchKey', 'InvalidRange'].includes(nameOfCause(error))) return undefined
      throw error
    }
  }

  async has(key: string): Promise<boolean> {
    try {
      await this.#send((client, { HeadObjectCommand }, abortSignal) =>
        client.send(new HeadObjectCommand({ ...this.#bucket, Key: key }), { abortSignal }),
      )
      return true
    } catch (error) {
      if (nameOfCause(error) === 'NotFound') return false
      throw error
    }
  }

  /** False when the precondition does not hold. */
  async put(key: string, bytes: Buffer, only?: Precondition): Promise<boolean> {
    const condition = only && ('etag' in only ? { IfMatch: only.etag } : { IfNoneMatch: '*' })
    const input = {
      ...this.#bucket,
      ...this.#encryption,
      ...condition,
      Key: key,
      Body: bytes,
      ContentLength: bytes.length,
    }
    try {
      await this.#send((client, { PutObjectCommand }, abortSignal) =>
        client.send(new PutObjectCommand(input), { abortSignal }),
      )
      return true
    } catch (error) {
      const status = statusOf((error as Error).cause)
      if (only && (status === 412 || status === 409)) return false
      // A service without preconditions: two machines hold a lease, which keeps them apart as well.
      if (only && status === 501) return this.put(key, bytes)
      throw error
    }
  }

  async list(prefix: string, delimiter?: '/'): Promise<Found> {
    const objects: StoredObject[] = []
    const folders: string[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const token: string = next
      const answer = await this.#send((client, { ListObjectsV2Command }, abortSignal) => {
        const input = {
          ...this.#bucket,
          Prefix: prefix,
          ...(delimiter && { Delimiter: delimiter }),
          ...(token !== '' && { ContinuationToken: token }),
        }
        return client.send(new ListObjectsV2Command(input), { abortSignal })
      })
      for (const { Key = '', Size = 0, LastModified, ETag } of answer.Contents ?? [])
        objects.push({ key: Key, bytes: Size, writtenAt: LastModified?.getTime() ?? 0, etag: ETag })
      folders.push(...(answer.CommonPrefixes ?? []).flatMap(({ Prefix }) => Prefix ?? []))
      next = answer.IsTruncated ? answer.NextContinuationToken : undefined
    }
    return { objects, folders }
  }

  /** Those that are not there are no failure. */
  async remove(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += 1000) {
      const Objects = keys.slice(at, at + 1000).map(Key => ({ Key }))
      const { Errors = [] } = await this.#send((client, { DeleteObjectsCommand }, abortSignal) =>
        client.send(new DeleteObjectsCommand({ ...this.#bucket, Delete: { Objects, Quiet: true } }), {
          abortSignal,
        }),
      )
      const [first] = Errors
      if (first)
        throw bucketFailure(
          {
            name: first.Code,
            message: first.Message,
            $metadata: { httpStatusCode: first.Code === 'AccessDenied' ? 403 : 500 },
          },
          this.place.url,
        )
    }
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#stopSoon)
    void this.#client?.then(
      client => client.destroy(),
      () => undefined,
    )
  }
}

const nameOfCause = (error: unknown): string => String((Object(error).cause as Error | undefined)?.name)
