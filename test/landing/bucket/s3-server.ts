/** moto's S3 server, behind a proxy in which it can fail, be slow, be away, and be seen. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { atEndOfFile } from '../../support/ends.ts'
import { pythonEnvironment } from '../../support/python-environment.ts'

/** What becomes of a request, which is otherwise passed on. */
export type Fault = 'away' | 'slow' | 'cut' | number | undefined

export interface Seen {
  readonly method: string
  /** With the bucket. */
  readonly path: string
}

export interface S3 {
  readonly port: number
  /** For programs that are to use it. */
  readonly env: Readonly<Record<string, string>>
  /** Called for each request, before it is passed on. */
  onRequest: (seen: Seen) => Fault | Promise<Fault>
  /** A new bucket. */
  bucket(): Promise<TestBucket>
}

export interface TestBucket {
  readonly name: string
  keys(prefix?: string): Promise<string[]>
  read(key: string): Promise<Buffer>
  /** The key of KMS that encrypts an object. */
  kmsKey(key: string): Promise<string | undefined>
  put(key: string, bytes: Buffer | string): Promise<void>
  remove(...keys: readonly string[]): Promise<void>
}

async function startMoto(): Promise<{ child: ChildProcess; port: number }> {
  const wanted = ['moto[server,s3]==5.2.5']
  const folder = pythonEnvironment({ name: 'moto', wanted, program: 'moto_server' })
  const child = spawn(join(folder, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const data of child.stderr) {
    said += data
    const [, port] = /Running on http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? []
    if (port) {
      child.stderr.on('error', () => undefined)
      return { child, port: Number(port) }
    }
  }
  throw new Error(`moto_server did not start: ${said}`)
}

interface Passing {
  readonly port: number
  readonly isCut: boolean
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse, { port, isCut }: Passing): void {
  const { method, url, headers } = incoming
  const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, answer => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
    if (!isCut) {
      answer.pipe(outgoing)
      return
    }
    // Half an answer, and the connection ends.
    outgoing.flushHeaders()
    answer.once('data', (data: Buffer) => outgoing.write(data.subarray(0, 5), () => outgoing.destroy()))
    answer.once('end', () => outgoing.destroy())
  })
  passed.on('error', () => outgoing.destroy())
  incoming.pipe(passed)
}

function proxy(port: number, fault: (seen: Seen) => Fault | Promise<Fault>): Server {
  return createServer(async (incoming, outgoing) => {
    const seen = { method: incoming.method ?? '', path: decodeURIComponent(incoming.url ?? '') }
    const what = await fault(seen)
    if (what === 'away') incoming.socket.destroy()
    else if (typeof what === 'number') {
      incoming.resume()
      outgoing.writeHead(what, { 'content-type': 'application/xml' })
      outgoing.end(`<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>${what}</Message></Error>`)
    } else {
      if (what === 'slow') await wait(400)
      passOn(incoming, outgoing, { port, isCut: what === 'cut' })
    }
  })
}

const region = 'eu-central-1'

function bucketOf(client: S3Client, name: string): TestBucket {
  const Bucket = name
  const keys = async (Prefix = ''): Promise<string[]> => {
    const found: string[] = []
    for (let token: string | undefined, isLast = false; !isLast; isLast = token === undefined) {
      const answer = await client.send(new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken: token }))
      found.push(...(answer.Contents ?? []).flatMap(({ Key }) => Key ?? []))
      token = answer.NextContinuationToken
    }
    return found
  }
  return {
    name,
    keys,
    async read(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    kmsKey: async Key => (await client.send(new HeadObjectCommand({ Bucket, Key }))).SSEKMSKeyId,
    put: async (Key, Body) => void (await client.send(new PutObjectCommand({ Bucket, Key, Body }))),
    async remove(...gone) {
      const Objects = gone.map(Key => ({ Key }))
      await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    },
  }
}

/** For one test file. */
export async function startS3(): Promise<S3> {
  const { child, port } = await startMoto()
  const s3 = { onRequest: (_: Seen): Fault | Promise<Fault> => undefined }
  const server = proxy(port, seen => s3.onRequest(seen))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const env = {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${address.port}`,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'AKIAMUSTERTEST',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-bucket-0123456789',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  // Past the proxy.
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
  })
  let buckets = 0
  atEndOfFile(async () => {
    client.destroy()
    server.closeAllConnections()
    server.close()
    child.kill()
    await once(child, 'exit')
  })
  return Object.assign(s3, {
    port: address.port,
    env,
    async bucket() {
      buckets += 1
      const name = `muster-test-${buckets}`
      const CreateBucketConfiguration = { LocationConstraint: region } as const
      await client.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration }))
      return bucketOf(client, name)
    },
  })
}
