/** The stand-in service over real HTTP on loopback. */
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { generateRecords } from '../data/generate.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import type { Desk } from '../declare/write-endpoint.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import { type EventSender, startEvents } from '../events/send-events.ts'
import type { Faults } from '../faults/faults.ts'
import { Gate } from '../keys/gate.ts'
import { keepChanging } from '../live/keep-changing.ts'
import { serveOpenApi } from '../openapi/serve.ts'
import { errorBody } from '../refusals/api-error.ts'
import type { Violation } from '../refusals/contract-checker.ts'
import { answerWireErrors, asContractError, wireOptions } from '../refusals/wire-errors.ts'
import { serveTools } from '../tools/serve-tools.ts'
import { serveStorage } from '../uploads/storage-routes.ts'
import { UploadDesk } from '../uploads/upload-desk.ts'
import { FileStore } from '../workers/file-store.ts'
import { WorkerBook } from '../workers/worker-book.ts'
import { World } from '../world.ts'
import { withAgencies } from '../world-agencies.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { type SandboxOptions, type SandboxRequest, type Settings, settingsOf } from './settings.ts'
import { BASE_PATH, described, observe, type Route, type Watch, watchOf } from './watch.ts'
import { serveWrites } from './write-routes.ts'

export type { SandboxOptions }

export interface Sandbox extends EventSender {
  /** With the base path: what a client takes as its base URL. */
  readonly url: string
  readonly world: World
  /** Those that timesheets name, and those that were created since. */
  readonly workers: WorkerBook
  /** Every request that arrived, in order, whatever its answer. */
  readonly requests: readonly SandboxRequest[]
  /** Every method of every path, those answered 405 included. */
  readonly routes: readonly Route[]
  /** Requests that broke the contract so far. */
  violations(): readonly Violation[]
  /** What spoils answers; `stop` ends it. */
  readonly faults: Pick<Faults, 'stop'>
  close(): Promise<void>
}

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(given)
  const world = new World(withAgencies(settings.records) ?? generateRecords(settings))
  const { seed, clock, events: options = {} } = settings
  const events = startEvents({ world, seed, clock, options })
  const watch = watchOf(settings)
  const app = fastify({ ...wireOptions, forceCloseConnections: true, exposeHeadRoutes: false })
  answerWireErrors(app)
  answerErrors(app, watch)
  observe(app, watch)
  const gate = new Gate(settings, world)
  for (const endpoint of endpoints) serve(app, gate, endpoint)
  const desk = deskOf(world, settings)
  serveWrites(app, { basePath: BASE_PATH, gate, desk, clock })
  await serveStorage(app, { ...desk, clock })
  const url = () => desk.files.origin + BASE_PATH
  serveOpenApi(app, url)
  serveTools(app, url)
  await app.listen({ host: settings.host, port: settings.port })
  const live = settings.live
    ? keepChanging(world, { live: settings.live, clock, raise: events.emit })
    : undefined
  const { close: closeEvents, ...sender } = events
  const { port } = app.server.address() as AddressInfo
  desk.files.origin = `http://${settings.host}:${port}`
  return {
    url: url(),
    world,
    workers: desk.workers,
    ...sender,
    requests: watch.log.requests,
    routes: watch.routes,
    violations: () => watch.checker.violations(),
    faults: watch.faults,
    close: async () => {
      await live?.stop()
      await closeEvents()
      await app.close()
    },
  }
}

function deskOf(world: World, settings: Settings): Desk {
  const files = new FileStore()
  return { files, uploads: new UploadDesk(), workers: new WorkerBook(world, settings.seed, files) }
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
  refuseOtherMethods(app, url, 'GET')
}

function answerErrors(app: FastifyInstance, { checker }: Watch): void {
  app.setNotFoundHandler(async (request, reply) => {
    checker.violation('unknown-path', 'no such route', described(request))
    return reply.code(404).send(errorBody(404, 'no such route'))
  })
  app.setErrorHandler(async (thrown: Error & { statusCode?: number }, request, reply) => {
    const error = asContractError(thrown)
    reply.headers(error.headers)
    checker.judge(described(request), error)
    const message = error.status === 500 ? 'unexpected internal error' : error.message
    return reply.code(error.status).send(errorBody(error.status, message, error.code))
  })
}
