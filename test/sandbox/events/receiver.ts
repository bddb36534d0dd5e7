/** A bare HTTP server that receives webhooks, keeps every request as it came, and checks signatures its own way. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEndOfFile } from '../../support/ends.ts'

export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  readonly body: any
}

/** A status, or silence. */
export type Reply = number | 'hang'

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Most requests that were open at one time. */
  readonly maxOpen: () => number
  close(): void
}

const open: Receiver[] = []

atEndOfFile(() => {
  for (const receiver of open.splice(0)) receiver.close()
})

/** `reply` is asked for each request, in order of arrival. */
export async function openReceiver(reply: (request: Received) => Reply = () => 204): Promise<Receiver> {
  const received: Received[] = []
  let now = 0
  let most = 0
  const server = createServer(async (request, response) => {
    now += 1
    most = Math.max(most, now)
    response.on('close', () => {
      now -= 1
    })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const { method, url, headers, rawHeaders } = request
    const item = { method, url, headers, rawHeaders, text, body: JSON.parse(text) }
    received.push(item)
    const answer = reply(item)
    if (answer !== 'hang') response.writeHead(answer).end(answer === 204 ? undefined : 'some text')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    maxOpen: () => most,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  open.push(receiver)
  return receiver
}

interface Reading {
  readonly secret: string
  readonly nowMs: number
  readonly encoding?: 'hex' | 'base64'
  readonly prefix?: string
  readonly headerPrefix?: string
}

/** Why a receiver would refuse the request; undefined when it is genuine and at most five minutes old. */
export async function refusal(request: Received, reading: Reading): Promise<string | undefined> {
  const { secret, nowMs, encoding = 'hex', prefix = '', headerPrefix = 'x-service' } = reading
  const signature = request.headers[`${headerPrefix}-signature`]
  const timestamp = request.headers[`${headerPrefix}-timestamp`]
  if (typeof signature !== 'string' || typeof timestamp !== 'string') return 'header'
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), algorithm, false, ['sign'])
  const digest = await crypto.subtle.sign('HMAC', key, bytes.encode(`${timestamp}.${request.text}`))
  if (signature !== prefix + Buffer.from(digest).toString(encoding)) return 'signature'
  return Math.abs(nowMs - timeOf(timestamp)) <= 300_000 ? undefined : 'timestamp'
}

/** Seconds have ten digits until the year 2286. */
function timeOf(timestamp: string): number {
  if (!/^\d+$/.test(timestamp)) return Date.parse(timestamp)
  return Number(timestamp) * (timestamp.length <= 10 ? 1000 : 1)
}
