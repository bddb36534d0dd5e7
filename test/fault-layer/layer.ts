/**
 * An HTTP server in front of a sandbox, or of a service at another origin with the same paths. It answers as the service does, but
 * for the quirks, the faults and the interceptions that a test asks for; the service behind it keeps its contract and knows
 * nothing of them.
 */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import type { Clock } from '../../src/lib/clock.ts'
import { bearerKey } from '../../src/sandbox/keys/keys.ts'
import { ContractChecker, type Violation } from '../../src/sandbox/server/contract-checker.ts'
import { basePath } from '../../src/sandbox/server/routes.ts'
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import { type FaultRates, Faults } from './faults.ts'
import type { QuirkSettings } from './quirk-settings.ts'
import { QuirkBook, type QuirkParts } from './quirks.ts'
import { apiPath, routeOf, type Service, type ServiceAnswer, serviceAt } from './service.ts'

export interface LayerRequest extends SandboxRequest {
  /** Which fault spoiled the answer. */
  readonly fault?: string
}

/** An answer in place of the service's: raw bytes, a destroyed socket, or none. */
export type Interception =
  | { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly body: string | Buffer }
  | 'reset'
  | 'hang'
  | undefined

/** What a test asks of the layer. */
export interface LayerOptions {
  /** Lasting deviations from the contract, by resource or for `all`. */
  readonly quirks?: QuirkSettings
  /** Share of the correct answers that each fault spoils. */
  readonly faults?: FaultRates
  readonly faultSeed?: number
  /** Its answer, if any, is sent in place of the service's, which then sees no request. */
  readonly intercept?: (request: SandboxRequest) => Interception | Promise<Interception>
}

export interface LayerParts extends LayerOptions, Omit<QuirkParts, 'now'> {
  /** Base address of the service. */
  readonly service: string
  readonly clock: Clock
  /** The Date header of an answer that is not the service's; none where it returns nothing. */
  readonly dateHeader: () => string | undefined
  /** Called, and awaited, before each request is answered. */
  readonly onRequest?: ((request: SandboxRequest) => void | Promise<void>) | undefined
}

export interface Layer {
  /** In place of the base address of the service. */
  readonly url: string
  /** Every request that arrived, as it was sent. */
  readonly requests: readonly LayerRequest[]
  /** Requests that came before the end of a Retry-After of a fault. */
  violations(): readonly Violation[]
  /** In place of the previous quirks; none ends them. What happens once can happen again. */
  setQuirks(quirks?: QuirkSettings): void
  /** `stop` ends all faults, until `resume`. */
  readonly faults: Pick<Faults, 'stop' | 'resume'>
  close(): Promise<void>
}

export async function startLayer(parts: LayerParts): Promise<Layer> {
  const running = new RunningLayer(parts)
  const server = createServer((request, response) => void running.handle(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    requests: running.requests,
    violations: () => running.checker.violations(),
    setQuirks: (quirks = {}) => running.quirks.set(quirks),
    faults: running.faults,
    close: async () => {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await Promise.all([closed, running.close()])
    },
  }
}

type LoggedRequest = { -readonly [Name in keyof LayerRequest]: LayerRequest[Name] }

class RunningLayer {
  readonly requests: LoggedRequest[] = []
  readonly checker: ContractChecker
  readonly quirks: QuirkBook
  readonly faults: Faults
  readonly #parts: LayerParts
  readonly #agent = new Agent()
  readonly #service: Service
  #isClosed = false

  constructor(parts: LayerParts) {
    const { clock, quirks = {}, faults = {}, faultSeed = 1 } = parts
    this.#parts = parts
    this.checker = new ContractChecker(clock)
    this.quirks = new QuirkBook(quirks, { ...parts, now: () => clock.now() })
    this.faults = new Faults(faults, faultSeed)
    this.#service = this.quirks.around(serviceAt(new URL(parts.service).origin, this.#agent))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = described(request)
    const logged: LoggedRequest = { ...seen }
    this.requests.push(logged)
    const date = this.#parts.dateHeader()
    response.sendDate = false
    if (date !== undefined) response.setHeader('date', date)
    if (apiPath(request.url ?? '') !== undefined) this.checker.arrived(seen)
    try {
      await this.#parts.onRequest?.(seen)
      const interception = await this.#parts.intercept?.(seen)
      if (interception !== undefined) answerRaw(interception, request, response)
      else this.#send(await this.#answered(request), { seen, logged, request, response })
    } catch (error) {
      response.destroy()
      // The layer was closed, or the client has gone, while the request was under way.
      if (!this.#isClosed && !request.destroyed) throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#agent.destroy()
  }

  async #answered(request: IncomingMessage): Promise<ServiceAnswer> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = 'GET', url = '/', headers } = request
    return this.#service({ method, url, headers, body: Buffer.concat(chunks) })
  }

  /** Answers are spoiled last: they count against the limit like any other. */
  #send(answer: ServiceAnswer, { seen, logged, request, response }: Handled): void {
    const fault = this.#spoiled(answer, { request, response })
    if (fault !== undefined) {
      logged.fault = fault
      const retryAfter = response.getHeader('retry-after')
      // Who has hung up does not hear that it has to wait.
      if (response.statusCode === 429 && !request.socket.destroyed)
        this.checker.refused(seen, retryAfter === undefined ? undefined : String(retryAfter))
      return
    }
    logged.status = answer.status
    const length = answer.status === 204 ? {} : { 'content-length': Buffer.byteLength(answer.body) }
    response.writeHead(answer.status, { ...answer.headers, ...length }).end(answer.body)
  }

  #spoiled(answer: ServiceAnswer, { request, response }: Pick<Handled, 'request' | 'response'>) {
    const path = apiPath(request.url ?? '')
    if (path === undefined || answer.status >= 300) return undefined
    const route = `${request.method} ${basePath}${routeOf(path)?.path ?? path}`
    return this.faults.spoil({
      route,
      isRead: request.method === 'GET',
      answer: { response, body: String(answer.body) },
    })
  }
}

interface Handled {
  readonly seen: SandboxRequest
  readonly logged: LoggedRequest
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

function described({ method = 'GET', url = '/', headers }: IncomingMessage): SandboxRequest {
  const [path = '', query = ''] = url.split('?')
  const asked = new URLSearchParams(query)
  const values = [...new Set(asked.keys())].map(name => {
    const given = asked.getAll(name)
    return [name, given.length === 1 ? given[0] : given] as const
  })
  return {
    method,
    path: path.startsWith(basePath) ? path.slice(basePath.length) : path,
    query: Object.fromEntries(values),
    key: bearerKey(headers.authorization),
    ...(headers['user-agent'] !== undefined && { client: headers['user-agent'] }),
  }
}

function answerRaw(
  interception: Exclude<Interception, undefined>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (interception === 'hang') return
  if (interception === 'reset') {
    request.socket.destroy()
    return
  }
  const headers = { 'content-type': 'application/json', ...interception.headers }
  response.writeHead(interception.status, headers).end(interception.body)
}
