/** A real HTTP server on loopback that answers what a test says, and remembers when it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Client, type ClientOptions, createClient } from '../../src/api/client/client.ts'
import { systemClock } from '../../src/lib/clock.ts'

export const KEY = 'sk_live_4f9c2b7e'

export interface Asked {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly at: number
  /** How often this path was asked for, this time included. */
  readonly nth: number
}

type Handler = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void

export interface Service {
  readonly baseUrl: string
  readonly port: number
  /** Every request but those to /me. */
  readonly asked: Asked[]
  readonly me: Asked[]
  close(): Promise<void>
}

export const ME = {
  name: 'k',
  description: '',
  scopes: ['read:companies'],
  rateLimitPerMinute: 600,
  rateLimitPerDay: 10_000,
  createdAt: '2026-01-01T00:00:00.000Z',
  usage: { requestsToday: 0, remainingToday: 10_000 },
  companies: [{ id: 'c1', name: 'One' }],
}

/** `/me` is answered by itself unless `me` says otherwise. */
export async function startService(handle: Handler, me: Handler = answerMe()): Promise<Service> {
  const seen: Asked[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    const path = url.pathname.replace('/api/open/v1', '')
    const nth = seen.filter(earlier => earlier.path === path).length + 1
    const asked = { path, query: url.searchParams, headers: request.headers, at: Date.now(), nth }
    seen.push(asked)
    const handler = path === '/me' ? me : handle
    handler(asked, response, request)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/api/open/v1`,
    port,
    get asked() {
      return seen.filter(({ path }) => path !== '/me')
    },
    get me() {
      return seen.filter(({ path }) => path === '/me')
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
}

export function answerMe(changes: object = {}): Handler {
  return (_asked, response) => json(response, 200, { success: true, data: { ...ME, ...changes } })
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** An answer whose words do not matter. */
export function bare(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, headers)
  response.end('{"success":false,"error":{"code":"C","message":"m"}}')
}

/** A right answer to a list request: `total` rows named by their position. */
export function listPage(asked: Asked, total: number): object {
  const page = Number(asked.query.get('page'))
  const limit = Number(asked.query.get('limit'))
  const start = (page - 1) * limit
  const rows = Math.max(0, Math.min(limit, total - start))
  const data = Array.from({ length: rows }, (_, index) => ({ id: `r${start + index}` }))
  return { success: true, data, meta: { page, limit, total } }
}

/** A client that never jitters; client and server are closed when the test ends. */
export async function withClient<T>(
  handle: Handler,
  test: (client: Client, service: Service) => Promise<T>,
  changes: Partial<ClientOptions> & { me?: Handler } = {},
): Promise<T> {
  const { me, ...options } = changes
  const service = await startService(handle, me)
  const client = createClient({
    baseUrl: service.baseUrl,
    apiKey: KEY,
    clock: systemClock,
    rng: () => 0,
    ...options,
  })
  try {
    return await test(client, service)
  } finally {
    await client.close()
    await service.close()
  }
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error('expected a rejection')
  return outcome as Error & Record<string, unknown>
}

/** Every message of an error and of its causes, as a log with `--verbose` would show them. */
export function everyWord(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return [error.message, error.stack, JSON.stringify(error), everyWord(error.cause)].join('\n')
}
