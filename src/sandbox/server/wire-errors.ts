/** Refuses bad HTTP, paths and bodies before an endpoint is reached, with the contract's statuses and body. */
import { METHODS, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply } from 'fastify'
import { ApiError, errorBody, refusals } from '../refusals.ts'

/** Turns any error into a refusal that the contract knows: another 4xx becomes 400. */
export function asContractError(thrown: Error & { statusCode?: number }): ApiError {
  if (thrown instanceof ApiError) return thrown
  const status = thrown.statusCode ?? 500
  if (refusals[status]) return new ApiError(status, thrown.message)
  return new ApiError(status < 500 ? 400 : 500, thrown.message)
}

/** Before routing there is no request object, only a socket. */
function refuseOnSocket(socket: Duplex, status: number, message: string): void {
  // Nothing else reads from this socket or listens to it: without these lines it would never close.
  socket.on('error', () => socket.destroy())
  socket.resume()
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(errorBody(status, message))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

export const wireOptions = {
  // Otherwise Node itself answers a request without a Host header, and sends no body.
  http: { requireHostHeader: false },
  clientErrorHandler: (_error, socket) => refuseOnSocket(socket, 400, 'the request is not HTTP'),
  frameworkErrors: (error, _request, reply: FastifyReply) => {
    const { status, message } = asContractError(error)
    return reply.code(status).send(errorBody(status, message))
  },
} satisfies FastifyHttpOptions<Server>

/** Lets the routes answer 405 to unusual methods, too. */
export function answerWireErrors(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method)
  }
  app.server.on('connect', (_request, socket) => refuseOnSocket(socket, 405, 'method not allowed'))
  // Otherwise Node answers 417 to an unknown expectation.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}
