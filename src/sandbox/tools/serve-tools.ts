/** POST /mcp: the tools of the API over streamable HTTP. Every request stands alone, so that there are no sessions. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { callTool } from './call-tool.ts'
import { offeredTools } from './tool-list.ts'

const LONGEST_CALL = 1_048_576

/** `url`, with the base path, is known only once the port is. */
export function serveTools(app: FastifyInstance, url: () => string): void {
  app.route({
    url: '/mcp',
    method: 'POST',
    bodyLimit: LONGEST_CALL,
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

interface Connection {
  readonly url: string
  readonly authorization: string | undefined
}

/** The plain server of the package: its typed one takes no JSON Schema, which the parameters are described in. */
function toolServer(connection: Connection): Server {
  const server = new Server({ name: 'muster-sandbox', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offeredTools.map(({ tool }) => tool) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const offered = offeredTools.find(({ tool }) => tool.name === params.name)
    if (!offered) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`)
    return callTool(offered, params.arguments ?? {}, { ...connection, signal })
  })
  return server
}

const HERE = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i

/** A page of the web whose name was pointed at this machine says its own name here. */
async function refuseStrangers({ headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { host = '', origin } = headers
  const isHere = HERE.test(host) && (origin === undefined || HERE.test(origin.replace(/^https?:\/\//, '')))
  return isHere
    ? undefined
    : reply.code(403).send(rpcError('only for this machine: the Host or Origin is another'))
}

const rpcError = (message: string) => ({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })
