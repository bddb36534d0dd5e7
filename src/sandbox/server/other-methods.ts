/** Every method of HTTP but the one an endpoint has is answered 405, with the one it has in `allow`. */
import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../refusals/api-error.ts'

export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: string): void {
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
