/** What sees every request and every answer: the log, the checker, the faults, and what tests hook in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Faults, type Spoiling } from '../faults/faults.ts'
import { bearerKey } from '../keys/keys.ts'
import { ContractChecker } from '../refusals/contract-checker.ts'
import { variationOf } from '../variations/variations.ts'
import { RequestLog } from './request-log.ts'
import type { Interception, SandboxRequest, Settings } from './settings.ts'

export const BASE_PATH = '/api/open/v1'

export interface Watch {
  readonly settings: Settings
  readonly log: RequestLog
  readonly checker: ContractChecker
  readonly faults: Faults
  readonly routes: Route[]
}

export interface Route {
  readonly method: string
  /** Below the base path, with `:id` for what varies. */
  readonly path: string
}

export function watchOf(settings: Settings): Watch {
  return {
    settings,
    log: new RequestLog(),
    checker: new ContractChecker(settings.clock),
    faults: new Faults(settings.faults, settings.faultSeed),
    routes: [],
  }
}

/** Before the routes are declared: it lists those below the base path. */
export function observe(app: FastifyInstance, { settings, log, checker, faults, routes }: Watch): void {
  app.addHook('onRoute', ({ method, url }) => {
    if (!url.startsWith(BASE_PATH)) return
    const path = url.slice(BASE_PATH.length)
    for (const one of [method].flat()) routes.push({ method: one, path })
  })
  app.addHook('onRequest', async (request, reply) => {
    const seen = described(request)
    log.note(request.raw, seen)
    if (isOfApi(request)) checker.arrived(seen)
    await settings.onRequest?.(seen)
    const interception = await settings.intercept?.(seen)
    if (interception !== undefined) answerRaw(interception, request, reply)
  })
  varyAnswers(app, settings)
  // Answers are spoiled last: they count against the limit like any other.
  app.addHook('onSend', async (request, reply, payload) => {
    const isWhole = isOfApi(request) && reply.statusCode < 300 && typeof payload === 'string'
    const fault = isWhole ? faults.spoil(spoiling(request, reply, payload)) : undefined
    const sent = fault === undefined ? reply : reply.raw
    if (sent.statusCode === 429) checker.refused(described(request), toldBy(sent))
    if (fault === undefined) return payload
    log.spoiled(request.raw, fault)
    reply.hijack()
    // The framework waits for a payload, and gets none: the answer is on its way.
    return new Promise(() => undefined)
  })
}

/** Storage, tools and documents lie beside it. */
const isOfApi = ({ url }: FastifyRequest): boolean => url.startsWith(BASE_PATH)

function spoiling(request: FastifyRequest, reply: FastifyReply, body: string): Spoiling {
  return {
    route: `${request.method} ${request.routeOptions.url}`,
    isRead: request.method === 'GET',
    answer: { response: reply.raw, body },
  }
}

function toldBy(answer: { getHeader(name: string): unknown }): string | undefined {
  const told = answer.getHeader('retry-after')
  return told === undefined ? undefined : String(told)
}

function varyAnswers(app: FastifyInstance, settings: Settings): void {
  const dress = variationOf(settings)
  if (!dress) return
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const envelope = payload as { success?: boolean; data: unknown }
    const path = (request.routeOptions.url ?? '').slice(BASE_PATH.length)
    return envelope.success ? dress(envelope, { path, query: request.query }) : payload
  })
}

export function described(request: FastifyRequest): SandboxRequest {
  const path = request.url.split('?')[0] ?? ''
  return {
    method: request.method,
    path: path.startsWith(BASE_PATH) ? path.slice(BASE_PATH.length) : path,
    query: { ...(request.query as Record<string, unknown>) },
    key: bearerKey(request.headers.authorization),
    ...(request.headers['user-agent'] !== undefined && { client: request.headers['user-agent'] }),
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
