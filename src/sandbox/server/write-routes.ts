/** The routes of the writes: the key is looked at before the body is read, and no body is larger than the contract allows. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import { LARGEST_BODY } from '../../lib/file-kind.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import type { Desk, WriteEndpoint } from '../declare/write-endpoint.ts'
import { fileUpload } from '../endpoints/file-uploads.ts'
import { workerCreate, workerUpdate } from '../endpoints/workers.ts'
import type { Gate } from '../keys/gate.ts'
import { refuseOtherMethods } from './other-methods.ts'

interface Surroundings {
  readonly basePath: string
  readonly gate: Gate
  readonly desk: Desk
  readonly clock: Clock
}

export const writeEndpoints: readonly WriteEndpoint[] = [workerCreate, workerUpdate, fileUpload]

export function serveWrites(app: FastifyInstance, surroundings: Surroundings): void {
  for (const endpoint of writeEndpoints) serve(app, endpoint, surroundings)
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
  refuseOtherMethods(app, url, endpoint.method)
}
