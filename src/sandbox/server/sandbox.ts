/** Runs the stand-in service over real HTTP on loopback. */
import fastify, { type FastifyInstance } from 'fastify'
import { listen } from '../../lib/web/listen.ts'
import { generateRecords } from '../data/generate.ts'
import { type EventSender, startEvents } from '../events/send-events.ts'
import { keepChanging } from '../live/mutate-world.ts'
import type { ContractOptions } from '../options.ts'
import { errorBody } from '../refusals.ts'
import { World } from '../world.ts'
import { openDesk, type WorkerBook } from '../writes/worker-book.ts'
import type { ContractChecker, Violation } from './contract-checker.ts'
import { RequestGate } from './gate.ts'
import { serveOpenApi } from './openapi.ts'
import { basePath, serveEndpoints, serveStorage } from './routes.ts'
import { type SandboxOptions, type SandboxRequest, settingsOf } from './settings.ts'
import { serveTools } from './tools.ts'
import { described, Watch } from './watch.ts'
import { answerWireErrors, asContractError, wireOptions } from './wire-errors.ts'

export type { SandboxOptions }

export interface Sandbox extends EventSender {
  /** The base URL for a client, with the base path. */
  readonly url: string
  readonly world: World
  /** Workers that timesheets name, and workers that were created since. */
  readonly workers: WorkerBook
  /** Every request in order of arrival, refused or not. */
  readonly requests: readonly SandboxRequest[]
  /** Requests that broke the contract so far. */
  violations(): readonly Violation[]
  /** Changes the named options, any except `rate-window`; the others stay the same. */
  setOptions(options: Partial<ContractOptions>): void
  close(): Promise<void>
}

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(given)
  const { seed, clock, port, live, events: options = {} } = settings
  const world = new World(settings.records ?? generateRecords(settings))
  const { close: closeEvents, ...events } = startEvents({ world, seed, clock, options })
  const watch = new Watch(settings)
  const desk = openDesk(world, seed)
  const url = () => desk.files.origin + basePath
  const app = fastify({ ...wireOptions, forceCloseConnections: true, exposeHeadRoutes: false })
  answerWireErrors(app)
  answerErrors(app, watch.checker)
  watch.observe(app)
  serveEndpoints(app, new RequestGate(settings, world, desk))
  await serveStorage(app, desk, clock)
  serveOpenApi(app, url)
  serveTools(app)
  desk.files.origin = await listen(app, { host: '127.0.0.1', port })
  const changing = live ? keepChanging(world, { live, clock, raise: events.emit }) : undefined
  return {
    url: url(),
    world,
    workers: desk.workers,
    ...events,
    requests: watch.requests,
    violations: () => watch.checker.violations(),
    setOptions: chosen => void Object.assign(settings.options, chosen),
    close: async () => {
      await changing?.stop()
      await closeEvents()
      await app.close()
    },
  }
}

function answerErrors(app: FastifyInstance, checker: ContractChecker): void {
  app.setNotFoundHandler(async (request, reply) => {
    checker.report('unknown-path', 'no such route', described(request))
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
