/** Limits the requests that a web server handles at once: a client may send thousands on one connection without reading. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface InFlightBounds {
  readonly perConnection: number
  readonly inAll: number
}

/** `ignored`: an earlier refusal closes the connection, so no answer can follow. */
export type Admission = 'admitted' | 'refused' | 'ignored'

interface ClientConnection {
  inFlight: number
  isEnding: boolean
}

export class InFlight {
  readonly #bounds: InFlightBounds
  readonly #connections = new Map<Socket, ClientConnection>()
  #inAll = 0

  constructor(bounds: InFlightBounds) {
    this.#bounds = bounds
  }

  /** Counts an admitted request until its response is sent or its connection is closed. */
  admit({ socket }: Pick<IncomingMessage, 'socket'>, response: Pick<ServerResponse, 'once'>): Admission {
    const connection = this.#connections.get(socket) ?? this.#open(socket)
    if (connection.isEnding) return 'ignored'
    const { perConnection, inAll } = this.#bounds
    if (connection.inFlight >= perConnection || this.#inAll >= inAll) {
      connection.isEnding = true
      // Requests parsed already are ignored; no more are read.
      socket.pause()
      return 'refused'
    }
    this.#count(connection, 1)
    response.once('close', () => {
      if (this.#connections.has(socket)) this.#count(connection, -1)
    })
    return 'admitted'
  }

  #open(socket: Socket): ClientConnection {
    const connection = { inFlight: 0, isEnding: false }
    this.#connections.set(socket, connection)
    // Responses queued behind another one get no event when the connection closes.
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#inAll -= connection.inFlight
    })
    return connection
  }

  #count(connection: ClientConnection, change: 1 | -1): void {
    connection.inFlight += change
    this.#inAll += change
  }
}

/** The reply that Fastify passes to hooks. */
interface ServerReply {
  readonly raw: ServerResponse
  /** Leaves the request without an answer. */
  hijack(): unknown
  code(status: number): unknown
  headers(values: Readonly<Record<string, string>>): unknown
  send(): unknown
}

/** A hook that must run before all others. `boundsFor` chooses a request's counter, so that one kind cannot block another. */
export function refuseExcess<Request extends { readonly raw: IncomingMessage }>(
  boundsFor: (request: Request) => InFlight,
) {
  return async (request: Request, reply: ServerReply): Promise<unknown> => {
    const admission = boundsFor(request).admit(request.raw, reply.raw)
    if (admission === 'admitted') return undefined
    if (admission === 'ignored') return reply.hijack()
    reply.code(503)
    reply.headers({ 'retry-after': '1', connection: 'close' })
    return reply.send()
  }
}

/** Browsers and monitoring systems have few requests open at once, one at a time on each connection. */
const pageBounds: InFlightBounds = { perConnection: 8, inAll: 64 }

export const pagesInFlight = (): InFlight => new InFlight(pageBounds)
