/** The routes of the endpoints: the key is checked before the body is read, and every other method is answered 405. */
import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { largestBody } from '../../lib/file-kind.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import type { QuirkBook } from '../quirks/quirks.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { Admitted, Gate } from './gate.ts'

export const basePath = '/api/open/v1'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent on routes beside the API. */
    readonly endpoint?: Endpoint
  }
}

interface Service {
  readonly gate: Gate
  readonly quirks: QuirkBook
}

export function serveEndpoints(app: FastifyInstance, service: Service): void {
  for (const endpoint of endpoints) serve(app, endpoint, service)
}

function serve(app: FastifyInstance, endpoint: Endpoint, { gate, quirks }: Service): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>()
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
      const checked = admitted.get(request) as Admitted
      return { success: true, ...quirks.answer(endpoint, { ...checked, body: request.body }) }
    },
  })
  refuseOtherMethods(app, url, endpoint.method)
}

function refuseOtherMethods(app: FastifyInstance, url: string, allowed: string): void {
  app.route({
    url,
    // CONNECT asks for a tunnel: Node never hands it to the routes.
    method: METHODS.filter(method => method !== allowed && method !== 'CONNECT'),
    // Before the body is read: its type or size must not turn a 405 into another refusal.
    onRequest: async () => {
      throw new ApiError(405, 'method not allowed', { allow: allowed })
    },
    handler: async () => undefined,
  })
}
