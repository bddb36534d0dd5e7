/**
 * Declares the routes of the endpoints, which check the key before they read the body, and answer 405 to other methods.
 * Declares the storage beside the API too, which needs no key: uploads of granted files, and downloads of documents.
 */
import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import { largestBody, largestFile } from '../../lib/file-kind.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import { ApiError, demand, ParameterError } from '../refusals.ts'
import type { GrantedUpload, Uploads } from '../writes/storage.ts'
import type { Desk } from '../writes/worker-book.ts'
import type { AdmittedRequest, RequestGate } from './gate.ts'

export const basePath = '/api/open/v1'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent on routes beside the API. */
    readonly endpoint?: Endpoint
  }
}

export function serveEndpoints(app: FastifyInstance, gate: RequestGate): void {
  for (const endpoint of endpoints) serve(app, endpoint, gate)
}

function serve(app: FastifyInstance, endpoint: Endpoint, gate: RequestGate): void {
  const admitted = new WeakMap<FastifyRequest, AdmittedRequest>()
  const url = basePath + endpoint.path
  app.route({
    url,
    method: endpoint.method,
    bodyLimit: largestBody,
    config: { endpoint },
    onRequest: async request => {
      const { headers, ip, params, query } = request
      const incoming = { authorization: headers.authorization, address: ip, query }
      admitted.set(request, gate.admit(endpoint, { ...incoming, params: params as Record<string, string> }))
    },
    handler: async request => {
      const checked = admitted.get(request) as AdmittedRequest
      return { success: true, ...endpoint.answer({ ...checked, body: request.body }) }
    },
  })
  refuseOtherMethods(app, url, endpoint.method)
}

function refuseOtherMethods(app: FastifyInstance, url: string, allowed: string): void {
  app.route({
    url,
    // CONNECT asks for a tunnel: Node never hands it to the routes.
    method: METHODS.filter(method => method !== allowed && method !== 'CONNECT'),
    // Runs before the body is read: its type or size must not turn a 405 into another refusal.
    onRequest: async () => {
      throw new ApiError(405, 'method not allowed', { allow: allowed })
    },
    handler: async () => undefined,
  })
}

export async function serveStorage(
  app: FastifyInstance,
  { uploads, files }: Desk,
  clock: Clock,
): Promise<void> {
  // A separate Fastify scope, because everywhere else a body is JSON.
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body)
    scope.put('/storage/uploads/:slot', {
      bodyLimit: largestFile,
      onRequest: async request => void expected(request, uploads, clock.now()),
      handler: async (request, reply) => {
        const upload = expected(request, uploads, clock.now())
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        requireSize(upload, bytes.length)
        upload.bytes = bytes
        return reply.code(200).send()
      },
    })
  })
  app.get('/storage/files/:id', async (request, reply) => {
    const file = files.get((request.params as { id: string }).id)
    if (!file) throw new ApiError(404, 'no such file')
    return reply.type(file.type).send(file.bytes)
  })
}

/** Refuses an upload by its headers alone if they show the fault. */
function expected({ headers, params }: FastifyRequest, uploads: Uploads, nowMs: number): GrantedUpload {
  if (headers.authorization !== undefined) {
    const reason = 'Authorization: the upload address must not be sent the API key'
    throw new ParameterError([{ kind: 'key-at-upload', reason }])
  }
  const upload = uploads.inSlot((params as { slot: string }).slot)
  demand(upload, 'no such upload', 404)
  demand(nowMs < upload.expiresMs, 'the upload link has expired', 403)
  const { contentType } = upload
  demand(headers['content-type'] === contentType, `Content-Type: is not ${contentType}, as declared`)
  if (headers['content-length'] !== undefined) requireSize(upload, Number(headers['content-length']))
  return upload
}

function requireSize({ size }: GrantedUpload, length: number): void {
  demand(length === size, `Content-Length: ${length} bytes where ${size} were declared`)
}
