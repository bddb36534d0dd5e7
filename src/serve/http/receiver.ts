/** The web server of `muster serve`: takes webhooks at one path, tells its state at another, and nothing else. */
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Intake } from '../../events/intake.ts'
import type { Claim, Refusal, Verifier } from '../../events/verify.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Tally } from '../counters.ts'
import { isAllowedHost } from './hosts.ts'

export interface ReceiverOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Where events are posted. */
  readonly path: string
  /** Names besides the own ones that a request may be addressed to. */
  readonly allowedHosts: readonly string[]
  /** Milliseconds for a whole request, from its first byte to its last; 5000 unless given. */
  readonly longestRequestMs?: number
}

export interface ReceiverParts {
  readonly clock: Clock
  readonly intake: Pick<Intake, 'take'>
  readonly verifier: Verifier
  readonly tally: Tally
  /** What `/health` answers, and whether all is well. */
  readonly health: () => { readonly isWell: boolean; readonly body: object }
}

export interface Receiver {
  /** With the path, as a sender would spell it. */
  readonly url: string
  /** Takes no more, and resolves when what was begun has its answer. */
  close(): Promise<void>
}

/** Events carry ids only: a few hundred bytes. */
const largestBody = 65_536
const usualLongestMs = 5000

const limits = (longestMs: number) => ({
  bodyLimit: largestBody,
  requestTimeout: longestMs,
  keepAliveTimeout: longestMs,
  // Idle connections are cut when the server closes; requests under way get their answer.
  forceCloseConnections: 'idle' as const,
  return503OnClosing: true,
  exposeHeadRoutes: false,
  http: {
    headersTimeout: longestMs,
    // Node looks for late requests every 30 s unless told otherwise.
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

function refuse(reply: FastifyReply, { refused, why }: Refusal, tally: Tally): FastifyReply {
  tally.refused(refused, why)
  return reply.code(refused === 'body' ? 400 : 401).send()
}

/** Where the headers of a request are kept until its body is there. */
const claimOf = 'claim'

/** Most of a flood ends here: no body of it is read, and nothing made for one. */
async function readHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, verifier, tally }: ReceiverParts,
): Promise<FastifyReply | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) {
    tally.refused('request', 'answered 413')
    // What was announced may come all the same.
    return reply.code(413).header('connection', 'close').send()
  }
  const claim = verifier.claim({ rawHeaders: request.raw.rawHeaders, nowMs: clock.now() })
  if ('refused' in claim) return refuse(reply, claim, tally)
  request.setDecorator(claimOf, claim)
  return undefined
}

async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, intake, verifier, tally }: ReceiverParts,
): Promise<FastifyReply> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const verdict = verifier.judge(request.getDecorator<Claim>(claimOf), { body, nowMs: clock.now() })
  if (!('event' in verdict)) return refuse(reply, verdict, tally)
  try {
    await intake.take(verdict.event)
  } catch (error) {
    tally.failed(error)
    return reply.code(503).header('retry-after', '10').send()
  }
  tally.taken(verdict.event.receivedAt)
  return reply.code(202).send()
}

/** Texts of errors quote what was sent: the status says enough. */
function answerErrors(app: FastifyInstance, tally: Tally): void {
  app.setNotFoundHandler(async (_, reply) => reply.code(404).send())
  app.setErrorHandler(async (thrown: Error & { statusCode?: number }, _, reply) => {
    const status = thrown.statusCode ?? 500
    if (status >= 500) tally.failed(thrown)
    else tally.refused('request', `answered ${status}`)
    return reply.code(status).send()
  })
}

export async function startReceiver(options: ReceiverOptions, parts: ReceiverParts): Promise<Receiver> {
  const { host, port, path, longestRequestMs = usualLongestMs } = options
  const app = fastify(limits(longestRequestMs))
  answerErrors(app, parts.tally)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    // A page in somebody's browser can reach this port under a name of its own.
    if (!isAllowedHost(request.headers.host, options)) return reply.code(421).send()
    // What is packed would have to be unpacked before its signature is known.
    if (request.headers['content-encoding'] !== undefined) return reply.code(415).send()
    return undefined
  })
  app.decorateRequest(claimOf, null)
  app.post(path, {
    onRequest: (request, reply) => readHeaders(request, reply, parts),
    handler: (request, reply) => receive(request, reply, parts),
  })
  refuseOthers(app, path, 'POST')
  app.get('/health', async (_, reply) => {
    const { isWell, body } = parts.health()
    return reply
      .code(isWell ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(body)
  })
  refuseOthers(app, '/health', 'GET')
  await app.listen({ host, port })
  const { port: taken } = app.server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${path}`,
    close: () => app.close(),
  }
}
