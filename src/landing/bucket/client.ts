/** Sends requests to one bucket. Loads the AWS client with the first request, as few commands make any. */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import pRetry from 'p-retry'
import { MusterError } from '../../lib/errors.ts'
import type { BucketPlace, LandingFile, StoredContent } from '../store.ts'
import { BucketUnreached, bucketFailure, statusOf } from './failure.ts'

/** Longer than any request that gets a response; a page has at most 50 MB. */
const requestMs = 60_000
const connectMs = 5_000
/** With pauses that double from 0.1 s: a little over 6 s in total. */
const attempts = 7
/** After a signal, requests under way may still end: a page that was written need not be fetched again. */
const graceMs = 3_000

const load = () => import('./sdk.ts')

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
        // Explicit, so that no environment variable can disable certificate checks.
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

  /** Undefined when it does not exist. */
  get(key: string): Promise<StoredContent | undefined> {
    return this.#reading(key, async (body, version) => {
      const parts: Buffer[] = []
      for await (const part of body) parts.push(part as Buffer)
      return { content: Buffer.concat(parts), version }
    })
  }

  /** Downloads an object to a local file, completely or not at all; returns whether it exists. */
  async download(key: string, file: string): Promise<boolean> {
    const part = `${file}.part`
    const isThere = await this.#reading(key, async body => {
      await pipeline(body, createWriteStream(part, { mode: 0o600 })).catch(async error => {
        await rm(part, { force: true })
        throw error
      })
      await rename(part, file)
      return true
    })
    return isThere ?? false
  }

  /** Retries when a response breaks off: the client itself retries only requests without a response. */
  async #reading<Result>(
    key: string,
    read: (body: Readable, version: string | undefined) => Promise<Result>,
  ): Promise<Result | undefined> {
    let hasBegun = false
    const once = () => {
      hasBegun = false
      return this.#send(async (client, { GetObjectCommand }, abortSignal) => {
        const input = { ...this.#bucket, Key: key }
        const { Body, ETag } = await client.send(new GetObjectCommand(input), { abortSignal })
        hasBegun = true
        return read(Body as Readable, ETag)
      })
    }
    try {
      const shouldRetry = ({ error }: { error: Error }) => hasBegun && error instanceof BucketUnreached
      return await pRetry(once, { retries: 2, minTimeout: 200, shouldRetry })
    } catch (error) {
      if (nameOfCause(error) === 'NoSuchKey') return undefined
      throw error
    }
  }

  /** Returns false when the stored object is no longer `over`. */
  async put(key: string, bytes: Buffer, over?: Pick<StoredContent, 'version'>): Promise<boolean> {
    try {
      return await this.#putIf(key, bytes, over && { IfMatch: over.version })
    } catch (error) {
      // The service lacks preconditions: the lease keeps two machines apart as well.
      if (over && statusOf((error as Error).cause) === 501) return this.put(key, bytes)
      throw error
    }
  }

  /** Returns false when another object has this key. Throws for a service without preconditions. */
  create(key: string, bytes: Buffer): Promise<boolean> {
    return this.#putIf(key, bytes, { IfNoneMatch: '*' })
  }

  async #putIf(
    key: string,
    bytes: Buffer,
    condition?: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>,
  ): Promise<boolean> {
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
      // The response to a first attempt may have been lost: then the stored object is ours.
      if (condition && [404, 409, 412].includes(statusOf((error as Error).cause) ?? 0))
        return (await this.get(key))?.content.equals(bytes) ?? false
      throw error
    }
  }

  async list(prefix: string): Promise<LandingFile[]> {
    const found: LandingFile[] = []
    for (let token: string | undefined, isLast = false; !isLast; isLast = token === undefined) {
      const answer = await this.#send((client, { ListObjectsV2Command }, abortSignal) => {
        const input = { ...this.#bucket, Prefix: prefix, ...(token && { ContinuationToken: token }) }
        return client.send(new ListObjectsV2Command(input), { abortSignal })
      })
      for (const { Key = '', Size = 0 } of answer.Contents ?? []) found.push({ key: Key, bytes: Size })
      token = answer.IsTruncated ? answer.NextContinuationToken : undefined
      if (answer.IsTruncated && token === undefined)
        throw new MusterError({
          what: 'the bucket lists only some of its files',
          where: this.place.url,
          next: 'it reports more files without a token to list them: tell its operator',
        })
    }
    return found
  }

  /** Ignores keys that do not exist. */
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
