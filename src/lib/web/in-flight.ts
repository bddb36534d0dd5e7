/** Bounds the requests that a web server answers at once: a client may send thousands on one connection and read no answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface InFlightBounds {
  readonly perConnection: number
  readonly inAll: number
}

/** `ignored`: the connection ends with an earlier refusal, so that no answer can follow it. */
export type Admission = 'admitted' | 'refused' | 'ignored'

interface Connection {
  inFlight: number
  isEnding: boolean
}

export class InFlight {
  readonly #bounds: InFlightBounds
  readonly #connections = new Map<Socket, Connection>()
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
      // What is already parsed is ignored; nothing more is read.
      socket.pause()
      return 'refused'
    }
    this.#count(connection, 1)
    response.once('close', () => {
      if (this.#connections.has(socket)) this.#count(connection, -1)
    })
    return 'admitted'
  }

  #open(socket: Socket): Connection {
    const connection = { inFlight: 0, isEnding: false }
    this.#connections.set(socket, connection)
    // Responses that wait behind another one get no event of their own when the connection closes.
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#inAll -= connection.inFlight
    })
    return connection
  }

  #count(connection: Connection, change: 1 | -1): void {
    connection.inFlight += change
    this.#inAll += change
  }
}

/** What a server of Fastify gives its hooks. */
interface Reply {
  readonly raw: ServerResponse
  /** Leaves the request without an answer. */
  hijack(): unknown
  code(status: number): unknown
  headers(values: Readonly<Record<string, string>>): unknown
  send(): unknown
}

/** A hook that comes before all others. `boundsFor` chooses the counter of a request, so that one kind leaves room for another. */
export function refuseExcess<Request extends { readonly raw: IncomingMessage }>(
  boundsFor: (request: Request) => InFlight,
) {
  return async (request: Request, reply: Reply): Promise<unknown> => {
    const admission = boundsFor(request).admit(request.raw, reply.raw)
    if (admission === 'admitted') return undefined
    if (admission === 'ignored') return reply.hijack()
    reply.code(503)
    reply.headers({ 'retry-after': '1', connection: 'close' })
    return reply.send()
  }
}

/** Browsers and monitoring systems have a few requests under way, and wait for each before the next on its connection. */
const pageBounds: InFlightBounds = { perConnection: 8, inAll: 64 }

export const pagesInFlight = (): InFlight => new InFlight(pageBounds)
