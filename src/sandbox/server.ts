/** The stand-in service over real HTTP on loopback. */
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError, errorBody } from './api-error.ts'
import { generateRecords } from './data/generate.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { endpoints } from './endpoints/endpoints.ts'
import { type EventSender, startEvents } from './events/send-events.ts'
import { Gate } from './gate.ts'
import { bearerKey } from './keys.ts'
import { keepChanging } from './live/keep-changing.ts'
import {
  type Interception,
  type SandboxOptions,
  type SandboxRequest,
  type Settings,
  settingsOf,
} from './options.ts'
import { type Breach, RequestLog } from './request-log.ts'
import { World } from './world.ts'
import { withAgencies } from './world-agencies.ts'

export type { SandboxOptions }

const BASE_PATH = '/api/open/v1'
const OTHER_METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export interface Sandbox extends EventSender {
  /** With the base path: what a client takes as its base URL. */
  readonly url: string
  readonly world: World
  /** Every request that arrived, in order, whatever its answer. */
  readonly requests: readonly SandboxRequest[]
  /** Requests answered 400: what a client that keeps the contract never sends. */
  readonly breaches: readonly Breach[]
  close(): Promise<void>
}

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(given)
  const world = new World(withAgencies(settings.records) ?? generateRecords(settings))
  const { seed, clock, events: options = {} } = settings
  const events = startEvents({ world, seed, clock, options })
  const log = new RequestLog()
  const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false })
  answerErrors(app, log)
  observe(app, settings, log)
  const gate = new Gate(settings, world)
  for (const endpoint of endpoints) serve(app, gate, endpoint)
  await app.listen({ host: settings.host, port: settings.port })
  const live = settings.live
    ? keepChanging(world, { live: settings.live, clock, raise: events.emit })
    : undefined
  const { close: closeEvents, ...sender } = events
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${settings.host}:${port}${BASE_PATH}`,
    world,
    requests: log.requests,
    breaches: log.breaches,
    ...sender,
    close: async () => {
      await live?.stop()
      await closeEvents()
      await app.close()
    },
  }
}

function serve(app: FastifyInstance, gate: Gate, endpoint: Endpoint): void {
  const url = BASE_PATH + endpoint.path
  app.get(url, async request => {
    const admitted = gate.admit(endpoint, {
      authorization: request.headers.authorization,
      address: request.ip,
      params: request.params as Record<string, string>,
      query: request.query,
    })
    return { success: true, ...endpoint.answer(admitted) }
  })
  app.route({
    url,
    method: OTHER_METHODS,
    // Before the body is read: its type or size must not turn a 405 into another refusal.
    onRequest: async () => {
      throw new ApiError(405, 'method not allowed', { allow: 'GET' })
    },
    handler: async () => undefined,
  })
}

function answerErrors(app: FastifyInstance, log: RequestLog): void {
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send(errorBody(404, 'no such route')))
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    const status = error instanceof ApiError ? error.status : (error.statusCode ?? 500)
    if (error instanceof ApiError) reply.headers(error.headers)
    if (status === 400) log.breach(described(request), error.message)
    const message = status === 500 ? 'unexpected internal error' : error.message
    return reply.code(status).send(errorBody(status, message))
  })
}

function observe(app: FastifyInstance, settings: Settings, log: RequestLog): void {
  app.addHook('onRequest', async (request, reply) => {
    const seen = described(request)
    log.note(seen)
    await settings.onRequest?.(seen)
    const interception = await settings.intercept?.(seen)
    if (interception !== undefined) answerRaw(interception, request, reply)
  })
}

function described(request: FastifyRequest): SandboxRequest {
  const path = request.url.split('?')[0] ?? ''
  return {
    method: request.method,
    path: path.startsWith(BASE_PATH) ? path.slice(BASE_PATH.length) : path,
    query: { ...(request.query as Record<string, unknown>) },
    key: bearerKey(request.headers.authorization),
  }
}

function answerRaw(
  interception: Exclude<Interception, undefined>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.hijack()
  if (interception === 'hang') return
  if (interception === 'reset') {
    request.raw.socket.destroy()
    return
  }
  const headers = { 'content-type': 'application/json', ...interception.headers }
  reply.raw.writeHead(interception.status, headers).end(interception.body)
}
