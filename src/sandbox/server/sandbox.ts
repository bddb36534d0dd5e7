/** The stand-in service over real HTTP on loopback. */
import fastify, { type FastifyInstance } from 'fastify'
import { listen } from '../../lib/web/listen.ts'
import { generateRecords } from '../data/generate.ts'
import { type EventSender, startEvents } from '../events/send-events.ts'
import type { Faults } from '../faults/faults.ts'
import { keepChanging } from '../live/keep-changing.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import type { QuirkSettings } from '../quirks/quirk-options.ts'
import { QuirkBook } from '../quirks/quirks.ts'
import { errorBody } from '../refusals/api-error.ts'
import type { ContractChecker, Violation } from '../refusals/contract-checker.ts'
import { answerWireErrors, asContractError, wireOptions } from '../refusals/wire-errors.ts'
import { World, withAgencies } from '../world.ts'
import { openDesk } from '../writes/desk.ts'
import type { WorkerBook } from '../writes/worker-book.ts'
import { Gate } from './gate.ts'
import { serveOpenApi } from './openapi.ts'
import { serveQuirks } from './quirk-routes.ts'
import { basePath, serveEndpoints } from './routes.ts'
import { type SandboxOptions, type SandboxRequest, settingsOf } from './settings.ts'
import { serveStorage } from './storage-routes.ts'
import { serveTools } from './tools.ts'
import { described, type Route, Watch } from './watch.ts'

export type { SandboxOptions }

export interface Sandbox extends EventSender {
  /** The base URL for a client, with the base path. */
  readonly url: string
  readonly world: World
  /** Workers that timesheets name, and workers that were created since. */
  readonly workers: WorkerBook
  /** Every request that arrived, in order, whatever its answer. */
  readonly requests: readonly SandboxRequest[]
  /** Every method of every path, those answered 405 included. */
  readonly routes: readonly Route[]
  /** Requests that broke the contract so far. */
  violations(): readonly Violation[]
  /** Changes options, all but `rate-window`; those that are not named stay as they are. */
  setOptions(options: Partial<ContractOptions>): void
  /** In place of the quirks before; none ends them. What happens once can happen again. */
  setQuirks(quirks?: QuirkSettings): void
  /** `stop` ends all faults, until `resume`. */
  readonly faults: Pick<Faults, 'stop' | 'resume'>
  close(): Promise<void>
}

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(given)
  const { seed, clock, host, port, live, events: options = {} } = settings
  const world = new World(withAgencies(settings.records) ?? generateRecords(settings))
  const { close: closeEvents, ...events } = startEvents({ world, seed, clock, options })
  const watch = new Watch(settings)
  const desk = openDesk(world, seed)
  const url = () => desk.files.origin + basePath
  const app = fastify({ ...wireOptions, forceCloseConnections: true, exposeHeadRoutes: false })
  answerWireErrors(app)
  answerErrors(app, watch.checker)
  watch.observe(app)
  const quirks = new QuirkBook(settings.quirks, seed)
  serveEndpoints(app, { gate: new Gate(settings, world, desk), quirks })
  await serveStorage(app, desk, clock)
  serveOpenApi(app, url)
  serveQuirks(app, { options: settings.options, quirks })
  serveTools(app, url)
  desk.files.origin = await listen(app, { host, port })
  const changing = live ? keepChanging(world, { live, clock, raise: events.emit }) : undefined
  return {
    url: url(),
    world,
    workers: desk.workers,
    ...events,
    requests: watch.requests,
    routes: watch.routes,
    violations: () => watch.checker.violations(),
    faults: watch.faults,
    setOptions: chosen => void Object.assign(settings.options, chosen),
    setQuirks: (chosen = {}) => quirks.set(chosen),
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
