/** Runs the web server of `muster serve`: takes webhooks at one path, and serves `/health` and `/metrics`. */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Intake } from '../events/intake.ts'
import { InboxFull } from '../events/room.ts'
import type { DeliveryRefusal, SignatureClaim, Verifier } from '../events/verify.ts'
import type { Clock } from '../lib/clock.ts'
import { isAddressedHere, isOwnRequest } from '../lib/web/allowed-host.ts'
import { computedOnce } from '../lib/web/computed-once.ts'
import { InFlight, pagesInFlight, refuseExcess } from '../lib/web/in-flight.ts'
import { listen, type Port } from '../lib/web/listen.ts'
import type { DeliveryCounters } from './counters.ts'

export interface ReceiverOptions extends Port {
  /** Where events are posted. */
  readonly path: string
  /** Further host names that only accept webhooks. */
  readonly allowedHosts: readonly string[]
  /** Further host names that also serve state and figures. */
  readonly figuresHosts: readonly string[]
  /** Milliseconds for a request, from first byte to last; default 5000. */
  readonly longestRequestMs?: number
}

export interface ReceiverParts {
  readonly clock: Clock
  readonly intake: Pick<Intake, 'take'>
  /** Without one, no events are accepted. */
  readonly verifier?: Verifier
  readonly counters: DeliveryCounters
  /** The answer of `/health`, and whether all is well. */
  readonly health: () => { readonly isWell: boolean; readonly body: object }
  /** The answer of `/metrics`. */
  readonly metrics: () => Promise<Metrics>
}

export interface Metrics {
  readonly contentType: string
  readonly text: string
}

type ReceiverContext = ReceiverParts & { readonly verifier: Verifier }

export interface WebhookReceiver {
  /** The address with the path, as senders use it. */
  readonly url: string
  /** Stops taking requests, and resolves when those under way are answered. */
  close(): Promise<void>
}

/** Events carry ids only: a few hundred bytes. */
const largestBody = 65_536
const defaultLongestMs = 5000

const limits = (longestMs: number) => ({
  bodyLimit: largestBody,
  requestTimeout: longestMs,
  keepAliveTimeout: longestMs,
  // How long a client that does not read its answer keeps the connection.
  connectionTimeout: 2 * longestMs,
  // Idle connections are cut when the server closes; requests under way get their answer.
  forceCloseConnections: 'idle' as const,
  return503OnClosing: true,
  exposeHeadRoutes: false,
  // An undecodable URL reaches no hook, and the framework's own answer would quote it.
  frameworkErrors: (_error: Error, _request: FastifyRequest, reply: FastifyReply) => reply.code(400).send(),
  http: {
    headersTimeout: longestMs,
    // Node's default for checking late requests is 30 s.
    connectionsCheckingInterval: longestMs / 5,
    maxHeaderSize: 8192,
  },
})

/** Answers other methods before a body is read. */
function refuseOthers(app: FastifyInstance, path: string, method: 'GET' | 'POST'): void {
  const others = app.supportedMethods.filter(other => other !== method)
  app.route({
    method: others,
    url: path,
    onRequest: async (_, reply) => reply.code(405).header('allow', method).send(),
    handler: async () => undefined,
  })
}

function refuse(
  reply: FastifyReply,
  { refused, why }: DeliveryRefusal,
  counters: DeliveryCounters,
): FastifyReply {
  counters.refused(refused, why)
  return reply.code(refused === 'body' ? 400 : 401).send()
}

/** Property of the request that stores the claim of its headers until the body arrives. */
const claimOf = 'claim'

/** Rejects most of a flood before a body is read or allocated. */
async function readHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, verifier, counters }: ReceiverContext,
): Promise<FastifyReply | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) {
    counters.refused('request', 'answered 413')
    // Closes the connection, because the body may still follow.
    return reply.code(413).header('connection', 'close').send()
  }
  const claim = verifier.claim({ rawHeaders: request.raw.rawHeaders, nowMs: clock.now() })
  if ('refused' in claim) return refuse(reply, claim, counters)
  request.setDecorator(claimOf, claim)
  return undefined
}

async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, intake, verifier, counters }: ReceiverContext,
): Promise<FastifyReply> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const verified = verifier.verify(request.getDecorator<SignatureClaim>(claimOf), {
    body,
    nowMs: clock.now(),
  })
  if (!('event' in verified)) return refuse(reply, verified, counters)
  try {
    await intake.take(verified.event)
  } catch (error) {
    if (error instanceof InboxFull) counters.refused('full', error.message)
    else counters.failed(error)
    return reply.code(503).header('retry-after', '10').send()
  }
  counters.taken(verified.event.receivedAt)
  return reply.code(202).send()
}

/** Answers with the status only, because error texts quote the request. */
function answerErrors(app: FastifyInstance, counters: DeliveryCounters): void {
  app.setNotFoundHandler(async (_, reply) => reply.code(404).send())
  app.setErrorHandler(async (thrown: Error & { statusCode?: number }, _, reply) => {
    const status = thrown.statusCode ?? 500
    if (status >= 500) counters.failed(thrown)
    else counters.refused('request', `answered ${status}`)
    return reply.code(status).send()
  })
}

function takeEvents(app: FastifyInstance, path: string, parts: ReceiverContext): void {
  app.decorateRequest(claimOf, null)
  app.post(path, {
    onRequest: (request, reply) => readHeaders(request, reply, parts),
    handler: (request, reply) => receive(request, reply, parts),
  })
  refuseOthers(app, path, 'POST')
}

/** State and figures are computed at most twice a second, however many requests ask for them. */
const figuresMs = 500

function answerState(app: FastifyInstance, { health, metrics, clock }: ReceiverParts): void {
  const every = { everyMs: figuresMs, clock }
  const state = computedOnce(async () => {
    const { isWell, body } = health()
    return { status: isWell ? 200 : 503, contentType: 'application/json', text: JSON.stringify(body) }
  }, every)
  const figures = computedOnce(async () => ({ status: 200, ...(await metrics()) }), every)
  for (const [path, compute] of [
    ['/health', state],
    ['/metrics', figures],
  ] as const) {
    app.get(path, async (_, reply) => {
      const { status, contentType, text } = await compute()
      const headers = { 'content-type': contentType, 'cache-control': 'no-store' }
      return reply.code(status).headers(headers).send(text)
    })
    refuseOthers(app, path, 'GET')
  }
}

/** Separate limits for events, so that requests for state and figures cannot use them up. */
const eventBounds = { perConnection: 64, inAll: 4096 }

export async function startReceiver(
  options: ReceiverOptions,
  parts: ReceiverParts,
): Promise<WebhookReceiver> {
  const { path, longestRequestMs = defaultLongestMs } = options
  const app = fastify(limits(longestRequestMs))
  answerErrors(app, parts.counters)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  const [events, others] = [new InFlight(eventBounds), pagesInFlight()]
  const isEvents = (request: FastifyRequest): boolean => request.routeOptions.url === path
  app.addHook(
    'onRequest',
    refuseExcess((request: FastifyRequest) => (isEvents(request) ? events : others)),
  )
  app.addHook('onRequest', async (request, reply) => {
    // DNS rebinding: a web page can make its own host name point at this port.
    const isAllowed = isEvents(request)
      ? isAddressedHere(request.raw, options)
      : isOwnRequest(request.raw, options.figuresHosts)
    if (!isAllowed) return reply.code(421).send()
    // A compressed body would have to be decompressed before its signature is checked.
    if (request.headers['content-encoding'] !== undefined) return reply.code(415).send()
    return undefined
  })
  const { verifier } = parts
  if (verifier) takeEvents(app, path, { ...parts, verifier })
  answerState(app, parts)
  return {
    url: (await listen(app, options)) + path,
    close: () => app.close(),
  }
}
