/** The routes of the writes: the key is looked at before the body is read, and no body is larger than the contract allows. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { LARGEST_BODY } from '../lib/file-kind.ts'
import { ApiError } from './api-error.ts'
import type { EndpointRequest } from './endpoints/endpoint.ts'
import { fileUpload } from './endpoints/file-uploads.ts'
import { workerCreate, workerUpdate } from './endpoints/workers.ts'
import type { Desk, WriteEndpoint } from './endpoints/write-endpoint.ts'
import type { Gate } from './gate.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

interface Surroundings {
  readonly basePath: string
  readonly gate: Gate
  readonly desk: Desk
  readonly clock: Clock
}

export function serveWrites(app: FastifyInstance, surroundings: Surroundings): void {
  for (const endpoint of [workerCreate, workerUpdate, fileUpload]) serve(app, endpoint, surroundings)
}

function serve(app: FastifyInstance, endpoint: WriteEndpoint, surroundings: Surroundings): void {
  const { basePath, gate, desk, clock } = surroundings
  const admitted = new WeakMap<FastifyRequest, EndpointRequest>()
  const url = basePath + endpoint.path
  app.route({
    url,
    method: endpoint.method,
    bodyLimit: LARGEST_BODY,
    onRequest: async request => {
      const { headers, ip, params, query } = request
      const visit = { authorization: headers.authorization, address: ip, query }
      admitted.set(request, gate.admit(endpoint, { ...visit, params: params as Record<string, string> }))
    },
    handler: async request => {
      const checked = admitted.get(request) as EndpointRequest
      const answer = endpoint.answer({ ...checked, desk, body: request.body, nowMs: clock.now() })
      return { success: true, ...answer }
    },
  })
  app.route({
    url,
    method: METHODS.filter(method => method !== endpoint.method),
    onRequest: async () => {
      throw new ApiError(405, 'method not allowed', { allow: endpoint.method })
    },
    handler: async () => undefined,
  })
}
