/** The answer that a fault spoils, and how one is sent past the web framework. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Rng } from '../../lib/rng.ts'

export interface Answer {
  readonly response: ServerResponse
  /** The right one, as JSON. */
  readonly body: string
  /** The fault's own stream. */
  readonly draw: Rng
}

export interface Fault {
  readonly meaning: string
  /** How many answers in a row it lasts, where that is more than one. */
  readonly longest?: number
  /** Refusals come before a request has any effect: a write that was carried out is not refused afterwards. */
  readonly readsOnly?: boolean
  /** Sends what it makes of the answer; false when there is nothing in it to spoil. */
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
