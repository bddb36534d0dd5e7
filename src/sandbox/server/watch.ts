/** The hooks around every request: the log, the contract checker, the variations, the faults, and those of tests. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Faults, type Spoiling } from '../faults/faults.ts'
import { bearerKey } from '../keys/keys.ts'
import { ContractChecker } from '../refusals/contract-checker.ts'
import { basePath } from './routes.ts'
import type { Interception, SandboxRequest, Settings } from './settings.ts'
import { variationOf } from './variations.ts'

export interface Route {
  readonly method: string
  /** Below the base path, with `:id` for what varies. */
  readonly path: string
}

type LoggedRequest = { -readonly [Name in keyof SandboxRequest]: SandboxRequest[Name] }

/** A sandbox left running forgets its oldest requests. */
const mostRequests = 200_000

export class Watch {
  readonly requests: SandboxRequest[] = []
  readonly routes: Route[] = []
  readonly checker: ContractChecker
  readonly faults: Faults
  readonly #settings: Settings
  readonly #logged = new WeakMap<IncomingMessage, LoggedRequest>()

  constructor(settings: Settings) {
    this.#settings = settings
    this.checker = new ContractChecker(settings.clock)
    this.faults = new Faults(settings.faults, settings.faultSeed)
  }

  /** Before the routes are declared: it lists those below the base path. */
  observe(app: FastifyInstance): void {
    app.addHook('onRoute', ({ method, url }) => {
      if (!url.startsWith(basePath)) return
      const path = url.slice(basePath.length)
      for (const one of [method].flat()) this.routes.push({ method: one, path })
    })
    app.addHook('onRequest', async (request, reply) => {
      // On the raw answer: a fault or an interception has it too.
      const date = this.#dateHeader()
      if (date === undefined) reply.raw.sendDate = false
      else reply.raw.setHeader('date', date)
      const seen = described(request)
      this.#log(request.raw, seen)
      if (isOfApi(request)) this.checker.arrived(seen)
      await this.#settings.onRequest?.(seen)
      const interception = await this.#settings.intercept?.(seen)
      if (interception !== undefined) answerRaw(interception, request, reply)
    })
    varyAnswers(app, this.#settings)
    // Answers are spoiled last: they count against the limit like any other.
    app.addHook('onSend', async (request, reply, payload) => this.#send(request, reply, payload))
  }

  #dateHeader(): string | undefined {
    const { clock, dateHeader } = this.#settings
    return dateHeader ? dateHeader() : new Date(clock.now()).toUTCString()
  }

  #log(message: IncomingMessage, request: SandboxRequest): void {
    if (this.requests.length >= mostRequests) this.requests.splice(0, mostRequests / 2)
    const logged = { ...request }
    this.requests.push(logged)
    this.#logged.set(message, logged)
  }

  #send(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    const isWhole = isOfApi(request) && reply.statusCode < 300 && typeof payload === 'string'
    const fault = isWhole ? this.faults.spoil(spoiling(request, reply, payload)) : undefined
    const sent = fault === undefined ? reply : reply.raw
    if (sent.statusCode === 429) this.checker.refused(described(request), retryAfterOf(sent))
    const logged = this.#logged.get(request.raw)
    if (fault === undefined) {
      if (logged) logged.status = reply.statusCode
      return payload
    }
    if (logged) logged.fault = fault
    reply.hijack()
    // The framework waits for a payload and gets none: the fault has sent the answer.
    return new Promise(() => {})
  }
}

/** The storage, the tools and the OpenAPI document are beside the API. */
const isOfApi = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith(basePath) === true

function spoiling(request: FastifyRequest, reply: FastifyReply, body: string): Spoiling {
  return {
    route: `${request.method} ${request.routeOptions.url}`,
    isRead: request.method === 'GET',
    answer: { response: reply.raw, body },
  }
}

function retryAfterOf(answer: { getHeader(name: string): unknown }): string | undefined {
  const header = answer.getHeader('retry-after')
  return header === undefined ? undefined : String(header)
}

function varyAnswers(app: FastifyInstance, settings: Settings): void {
  const vary = variationOf(settings)
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const { endpoint } = request.routeOptions.config
    const envelope = payload as { success?: boolean; data: unknown }
    return endpoint && envelope.success ? vary(envelope, { endpoint, query: request.query }) : payload
  })
}

export function described(request: FastifyRequest): SandboxRequest {
  const path = request.url.split('?')[0] ?? ''
  return {
    method: request.method,
    path: path.startsWith(basePath) ? path.slice(basePath.length) : path,
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
