/**
 * Serves `muster dashboard`: the page and its answers as JSON, and nothing else. Opens the reader of a warehouse and
 * closes it.
 */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { MusterError, UsageError } from '../lib/errors.ts'
import { isAddressedHere } from '../lib/web/allowed-host.ts'
import { pagesInFlight, refuseExcess } from '../lib/web/in-flight.ts'
import { listen, type Port } from '../lib/web/listen.ts'
import { answerChoices, answerPage, answerPeriods, answerRows, type RowsAnswer } from './answers.ts'
import { toCsv } from './csv.ts'
import { readFilters } from './filters.ts'
import { pageNamed, pages, panelNamed } from './pages/pages.ts'
import { MartReader, type WarehouseSource } from './reader.ts'
import { hasPerspectives } from './statement.ts'
import { hasToken } from './token.ts'
import { readWebFiles, shell } from './web-files.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without the token; all other requests need it, unknown paths included. */
    readonly isPublic?: boolean
  }
}

export interface DashboardOptions extends Port {
  /** Further host names that requests may be addressed to. */
  readonly allowedHosts: readonly string[]
  /** Token that requests must carry; undefined answers every request that reaches the port. */
  readonly token?: string
}

export interface DashboardServer {
  readonly url: string
  /** Accepts no more requests, and resolves when pending ones are answered. */
  close(): Promise<void>
}

/** Charts position their texts by style attributes; scripts come from files alone. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

const rowsShown = 200
const rowsInCsv = 50_000

/** The router's type of a query. */
type RouterQuery = Record<string, unknown>

const queryOf = ({ query }: FastifyRequest): URLSearchParams => query as URLSearchParams

/** Columns of the row that was chosen are `row.NAME`; an empty `null.NAME` stands for a null. */
function chosenIn(query: URLSearchParams): Record<string, string | null> {
  return Object.fromEntries(
    [...query].flatMap(([name, value]): [string, string | null][] => {
      const [, kind, column = ''] = /^(row|null)\.(\w+)$/.exec(name) ?? []
      return kind === undefined ? [] : [[column, kind === 'null' ? null : value]]
    }),
  )
}

function rowsFor(reader: MartReader, request: FastifyRequest, limit: number): Promise<RowsAnswer> {
  const { panel } = request.params as { panel: string }
  const query = queryOf(request)
  return answerRows(reader, {
    panel: panelNamed(panel),
    filters: readFilters(query),
    chosen: chosenIn(query),
    limit,
  })
}

function addPage(app: FastifyInstance): void {
  const { script, style } = readWebFiles()
  const page = shell({
    head: '<link rel="stylesheet" href="/main.css">',
    end: '<script src="/main.js"></script>',
  })
  const send = (path: string, type: string, text: string): void => {
    app.get(path, { config: { isPublic: true } }, async (_, reply) =>
      reply.type(`${type}; charset=utf-8`).send(text),
    )
  }
  send('/', 'text/html', page)
  send('/main.js', 'text/javascript', script)
  send('/main.css', 'text/css', style)
}

function addAnswers(app: FastifyInstance, reader: MartReader): void {
  app.get('/api/pages', async () =>
    pages.map(({ id, title, question, panels }) => ({
      ...{ id, title, question, hasPerspectives: hasPerspectives(panels) },
    })),
  )
  app.get('/api/choices', async () => answerChoices(reader))
  app.get('/api/periods', async () => answerPeriods(reader))
  app.get('/api/pages/:page', async request => {
    const { page } = request.params as { page: string }
    return answerPage(reader, pageNamed(page), readFilters(queryOf(request)))
  })
  app.get('/api/rows/:panel', async request => rowsFor(reader, request, rowsShown))
  app.get('/api/csv/:panel', async (request, reply) => {
    const { columns, rows } = await rowsFor(reader, request, rowsInCsv)
    return reply.type('text/csv; charset=utf-8').send(toCsv(columns, rows))
  })
}

/** Sends the message of a failure that users can act on; for any other only its kind. */
function answerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler(async (_, reply) => reply.code(404).send({ error: 'nothing is at this address' }))
  app.setErrorHandler(async (thrown: Error & { statusCode?: number }, _, reply) => {
    if (thrown instanceof UsageError) return reply.code(400).send({ error: thrown.message })
    if (thrown instanceof MusterError) return reply.code(503).send({ error: thrown.message })
    const status = thrown.statusCode ?? 500
    return reply.code(status).send({ error: status < 500 ? thrown.message : 'the dashboard failed' })
  })
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { host, allowedHosts, token }: DashboardOptions,
): Promise<FastifyReply | undefined> {
  reply.headers(headers)
  // DNS rebinding: a web page can make its own host name point at this port.
  if (!isAddressedHere(request.raw, { host, allowedHosts }))
    return reply.code(421).send({ error: 'this host name is not served here: see --allow-host' })
  // By the chosen route, as an address has many spellings.
  const isPublic = request.routeOptions.config?.isPublic === true
  if (!isPublic && !hasToken(request.headers.authorization, token))
    return reply.code(401).send({ error: 'open the address that muster dashboard printed: it has the token' })
  return undefined
}

export async function startDashboard(
  reader: MartReader,
  options: DashboardOptions,
): Promise<DashboardServer> {
  const app = fastify({
    bodyLimit: 1,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    // An address that cannot be decoded reaches no hook.
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      reply.headers(headers).code(400).send({ error: 'this is not a valid address' }),
    routerOptions: { querystringParser: text => new URLSearchParams(text) as unknown as RouterQuery },
  })
  answerErrors(app)
  const inFlight = pagesInFlight()
  app.addHook(
    'onRequest',
    refuseExcess(() => inFlight),
  )
  app.addHook('onRequest', (request, reply) => admit(request, reply, options))
  addPage(app)
  addAnswers(app, reader)
  return {
    url: `${await listen(app, options)}/`,
    close: () => app.close(),
  }
}

interface ServedParts {
  readonly source: WarehouseSource
  readonly clock: Clock
  /** Whether to report an unreadable warehouse at once, rather than on every page. */
  readonly isReadFirst: boolean
}

export interface ServedMarts {
  readonly url: string
  /** Fragment with the token, which browsers do not send; empty without one. */
  readonly fragment: string
  /** Address and fragment together. */
  readonly address: string
  close(): Promise<void>
}

/** Throws MusterError, or the error of listening. */
export async function serveMarts(
  { source, clock, isReadFirst }: ServedParts,
  options: DashboardOptions,
): Promise<ServedMarts> {
  const reader = new MartReader(source, clock)
  try {
    if (isReadFirst) await reader.read(async () => undefined)
    const { url, close } = await startDashboard(reader, options)
    const fragment = options.token === undefined ? '' : `#token=${options.token}`
    return {
      url,
      fragment,
      address: url + fragment,
      close: async () => {
        await close()
        await reader.close()
      },
    }
  } catch (error) {
    await reader.close()
    throw error
  }
}
