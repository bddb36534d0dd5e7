/** Runs the hooks around every request: the log, the contract checker, the variations, and a test's own hook. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bearerKey } from '../keys/keys.ts'
import { ContractChecker } from './contract-checker.ts'
import { basePath } from './routes.ts'
import type { SandboxRequest, SandboxSettings } from './settings.ts'
import { variationOf } from './variations.ts'

type LoggedRequest = { -readonly [Name in keyof SandboxRequest]: SandboxRequest[Name] }

/** A sandbox left running forgets its oldest requests. */
const maxRequests = 200_000

export class Watch {
  readonly requests: SandboxRequest[] = []
  readonly checker: ContractChecker
  readonly #settings: SandboxSettings
  readonly #logged = new WeakMap<IncomingMessage, LoggedRequest>()

  constructor(settings: SandboxSettings) {
    this.#settings = settings
    this.checker = new ContractChecker(settings.clock)
  }

  /** Call it before the routes are declared, because hooks apply only to later ones. */
  observe(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      const date = this.#dateHeader()
      if (date === undefined) reply.raw.sendDate = false
      else reply.raw.setHeader('date', date)
      const seen = described(request)
      this.#log(request.raw, seen)
      if (isOfApi(request)) this.checker.arrived(seen)
      await this.#settings.onRequest?.(seen)
    })
    varyAnswers(app, this.#settings)
    app.addHook('onSend', async (request, reply) => {
      const retryAfter = reply.getHeader('retry-after')
      const retryAfterText = retryAfter === undefined ? undefined : String(retryAfter)
      if (reply.statusCode === 429) this.checker.refused(described(request), retryAfterText)
      const logged = this.#logged.get(request.raw)
      if (logged) logged.status = reply.statusCode
    })
  }

  #dateHeader(): string | undefined {
    const { clock, dateHeader } = this.#settings
    return dateHeader ? dateHeader() : new Date(clock.now()).toUTCString()
  }

  #log(message: IncomingMessage, request: SandboxRequest): void {
    if (this.requests.length >= maxRequests) this.requests.splice(0, maxRequests / 2)
    const logged = { ...request }
    this.requests.push(logged)
    this.#logged.set(message, logged)
  }
}

/** The storage, the tools and the OpenAPI document are beside the API. */
const isOfApi = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith(basePath) === true

function varyAnswers(app: FastifyInstance, settings: SandboxSettings): void {
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
