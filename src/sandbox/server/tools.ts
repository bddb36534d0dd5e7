/** Serves POST /mcp: the endpoints that the contract offers as tools, over streamable HTTP and without sessions. */
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
import { basePath } from './routes.ts'

/** Bytes. */
const largestCall = 1_048_576

const offered = endpoints.filter(({ tool }) => tool !== undefined)

export function serveTools(app: FastifyInstance): void {
  app.route({
    url: '/mcp',
    method: 'POST',
    bodyLimit: largestCall,
    onRequest: refuseStrangers,
    handler: async (request, reply) => {
      const { headers, ip } = request
      const server = toolServer({ app, authorization: headers.authorization, address: ip })
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      reply.hijack()
      reply.raw.on('close', () => void server.close())
      // The package's own types disagree about what may be undefined.
      await server.connect(transport as Transport)
      await transport.handleRequest(request.raw, reply.raw, request.body)
    },
  })
  // Clients request a stream of the server's own messages, and accept 405 as the answer that it has no stream.
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

/** Prevents DNS rebinding: a web page whose name resolves to this machine sends its own name as Host or Origin. */
async function refuseStrangers({ raw, headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const isLocal =
    isAddressedHere(raw, served) && (headers.origin === undefined || localOrigin.test(headers.origin))
  return isLocal
    ? undefined
    : reply.code(403).send(rpcError('only for this machine: the Host or Origin is a different one'))
}

const rpcError = (message: string) => ({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })

interface ToolConnection {
  readonly app: FastifyInstance
  readonly authorization: string | undefined
  /** IP address of the caller. */
  readonly address: string
}

/** The low-level server of the package: the high-level one does not take JSON Schema. */
function toolServer(connection: ToolConnection): Server {
  const server = new Server({ name: 'muster-sandbox', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map(toolOf) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const endpoint = offered.find(one => operationIdOf(one) === params.name)
    if (!endpoint) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`)
    const address = addressOf(endpoint.path, params.arguments ?? {})
    return 'refusal' in address ? refused(address.refusal) : called(address.path, connection)
  })
  return server
}

/** Omits the output schema, because the schemas of all records are too long for an assistant to read. */
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

type ToolAddress = { readonly path: string } | { readonly refusal: string }

function addressOf(path: string, given: Readonly<Record<string, unknown>>): ToolAddress {
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

/** A call is a request like every other, so key, limits, options and the contract checker apply. */
async function called(
  path: string,
  { app, authorization, address }: ToolConnection,
): Promise<CallToolResult> {
  const headers = { ...(authorization === undefined ? {} : { authorization }), 'user-agent': 'tool-server' }
  const answer = await app.inject({ method: 'GET', url: basePath + path, headers, remoteAddress: address })
  const body = answer.json<ToolBody>()
  if (body.success) return { content: [{ type: 'text', text: answer.body }], structuredContent: { ...body } }
  const { code, message } = body.error ?? {}
  const advice = answer.statusCode === 401 ? '; connect with the header Authorization: Bearer KEY' : ''
  return refused(`${answer.statusCode} ${code}: ${message}${advice}`)
}

interface ToolBody {
  readonly success: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

const refused = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
