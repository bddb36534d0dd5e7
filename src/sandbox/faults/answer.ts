/** The answer that a fault spoils, and how a fault sends its own past the web framework. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Rng } from '../../lib/rng.ts'

export interface Answer {
  readonly response: ServerResponse
  /** The correct body, as JSON. */
  readonly body: string
  /** The random stream of the fault. */
  readonly draw: Rng
}

export interface Fault {
  readonly meaning: string
  /** How many answers in a row it lasts, where that is more than one. */
  readonly longest?: number
  /** A refusal means that the request had no effect, so a write that was carried out is not refused. */
  readonly readsOnly?: boolean
  /** Sends the spoiled answer; false when it has nothing to spoil. */
  readonly send: (answer: Answer) => boolean
}

export const jsonType = 'application/json; charset=utf-8'
export const htmlType = 'text/html; charset=utf-8'

interface Sent {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body: string | Buffer
}

export function respond({ response }: Answer, { status, headers, body }: Sent): true {
  response.statusCode = status
  const all: OutgoingHttpHeaders = {
    'content-type': jsonType,
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  for (const [name, value] of Object.entries(all)) if (value !== undefined) response.setHeader(name, value)
  response.end(body)
  return true
}

export function oneOf<Item>(draw: Rng, items: readonly Item[]): Item {
  return items[Math.floor(draw() * items.length)] as Item
}
