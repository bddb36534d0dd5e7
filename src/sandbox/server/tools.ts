/** POST /mcp: the endpoints that the contract offers as tools, over streamable HTTP. Every request stands alone. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAddressedHere } from '../../lib/web/allowed-host.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import { querySchemas } from '../declare/parameters.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import { operationIdOf, summaryOf } from './openapi.ts'

/** Bytes. */
const largestCall = 1_048_576

const offered = endpoints.filter(({ tool }) => tool !== undefined)

/** `url`, with the base path, is known only once the port is. */
export function serveTools(app: FastifyInstance, url: () => string): void {
  app.route({
    url: '/mcp',
    method: 'POST',
    bodyLimit: largestCall,
    onRequest: refuseStrangers,
    handler: async (request, reply) => {
      const server = toolServer({ url: url(), authorization: request.headers.authorization })
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      reply.hijack()
      reply.raw.on('close', () => void server.close())
      // The package's own types disagree about what may be undefined.
      await server.connect(transport as Transport)
      await transport.handleRequest(request.raw, reply.raw, request.body)
    },
  })
  // Clients ask for a stream of the server's own messages, and take 405 to mean that there is none.
  app.route({
    url: '/mcp',
    method: ['GET', 'DELETE'],
    handler: async (_, reply) =>
      reply.code(405).header('allow', 'POST').send(rpcError('only POST is served')),
  })
}

/** Only the sandbox's own addresses; a proxy has no reason to forward to it. */
const served = { host: '127.0.0.1', allowedHosts: [] }
const localOrigin = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i

/** A web page whose name was pointed at this machine sends its own name as Host or Origin. */
async function refuseStrangers({ raw, headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const isLocal =
    isAddressedHere(raw, served) && (headers.origin === undefined || localOrigin.test(headers.origin))
  return isLocal
    ? undefined
    : reply.code(403).send(rpcError('only for this machine: the Host or Origin is another'))
}

const rpcError = (message: string) => ({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })

interface Connection {
  /** With the base path. */
  readonly url: string
  readonly authorization: string | undefined
}

/** The low-level server of the package: the high-level one does not take JSON Schema. */
function toolServer(connection: Connection): Server {
  const server = new Server({ name: 'muster-sandbox', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map(toolOf) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const endpoint = offered.find(one => operationIdOf(one) === params.name)
    if (!endpoint) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`)
    const address = addressOf(endpoint.path, params.arguments ?? {})
    return 'refusal' in address ? refused(address.refusal) : called(address.path, connection, signal)
  })
  return server
}

/** Without an output schema: the schemas of all records are too long for an assistant to read. */
function toolOf(endpoint: Endpoint): Tool {
  const hasId = endpoint.path.includes(':id')
  return {
    name: operationIdOf(endpoint),
    description: summaryOf(endpoint),
    inputSchema: {
      type: 'object',
      properties: {
        ...(hasId && { id: { type: 'string', description: 'Id or short id.' } }),
        ...querySchemas(endpoint.parameters),
      },
      ...(hasId && { required: ['id'] }),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

type Address = { readonly path: string } | { readonly refusal: string }

function addressOf(path: string, given: Readonly<Record<string, unknown>>): Address {
  const query = new URLSearchParams()
  let filled = path
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    const text = textOf(value)
    if (text === undefined)
      return { refusal: `${name}: is neither text, number, true or false, nor a list of these` }
    if (path.includes(`:${name}`)) filled = filled.replace(`:${name}`, () => encodeURIComponent(text))
    else query.append(name, text)
  }
  const missing = /:(\w+)/.exec(filled)?.[1]
  if (missing !== undefined) return { refusal: `${missing}: is required` }
  return { path: query.size === 0 ? filled : `${filled}?${query}` }
}

/** The API takes a list as text with commas. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const parts = value.map(part => (Array.isArray(part) ? undefined : textOf(part)))
    return parts.includes(undefined) ? undefined : parts.join(',')
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

/**
 * The call goes over HTTP like every request, so key, limits, options, faults and the contract checker apply. A refusal
 * becomes a result with its status and code.
 */
async function called(path: string, { url, authorization }: Connection, signal: AbortSignal) {
  const headers = { ...(authorization === undefined ? {} : { authorization }), 'user-agent': 'tool-server' }
  try {
    const answer = await fetch(url + path, { headers, signal })
    return resultOf(answer.status, await answer.text())
  } catch (error) {
    // A fault may break any connection; the client hears of it, unless it gave the call up.
    if (signal.aborted) throw error
    return refused('no answer: the connection broke; call the tool again')
  }
}

interface Body {
  readonly success?: boolean
  readonly error?: { readonly code?: string; readonly message?: string }
}

function resultOf(status: number, text: string): CallToolResult {
  const body = parsed(text)
  if (body?.success === true) return { content: [{ type: 'text', text }], structuredContent: { ...body } }
  if (!body) return refused(`${status}: the answer is not JSON; call the tool again`)
  const advice = status === 401 ? '; connect with the header Authorization: Bearer KEY' : ''
  return refused(`${status} ${body.error?.code}: ${body.error?.message}${advice}`)
}

function parsed(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    // Some faults send bodies that are not JSON.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const refused = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
