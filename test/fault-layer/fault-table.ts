/** The faults: what each sends in place of a correct answer. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Rng } from '../../src/lib/rng.ts'
import { errorBody } from '../../src/sandbox/refusals.ts'

export interface SpoiledAnswer {
  readonly response: ServerResponse
  /** The correct body, as JSON. */
  readonly body: string
  /** The random stream of the fault. */
  readonly draw: Rng
}

export interface Fault {
  /** At most this many answers in a row, where that is more than one. */
  readonly longest?: number
  /** A refusal means that the request had no effect, so a write that was carried out is not refused. */
  readonly readsOnly?: boolean
  /** Sends the spoiled answer; false when it has nothing to spoil. */
  readonly send: (answer: SpoiledAnswer) => boolean
}

const jsonType = 'application/json; charset=utf-8'
const htmlType = 'text/html; charset=utf-8'
const errorPage =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'
const loginPage = '<!doctype html><html><body><form action="/login"><input name="user"></form></body></html>'

/** JSON that is no envelope. */
const bare = [
  '{"error":"something went wrong"}',
  '{"message":"internal","code":"E1"}',
  '[]',
  '"internal"',
  'null',
]

/** Our client repeats a request five times, so some storms outlast it. */
const longestStorm = 7

/** Milliseconds between two pieces of a slow body. */
const pauseMs = 160

interface Sent {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body: string | Buffer
}

function respond({ response }: SpoiledAnswer, { status, headers, body }: Sent): true {
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

function oneOf<Item>(draw: Rng, items: readonly Item[]): Item {
  return items[Math.floor(draw() * items.length)] as Item
}

function storm(answer: SpoiledAnswer, headers: Record<string, string>): true {
  const body = JSON.stringify(errorBody(429, 'rate limit exceeded'))
  return respond(answer, { status: 429, headers, body })
}

function part({ body, draw }: SpoiledAnswer): string {
  return body.slice(0, Math.floor(body.length * draw()))
}

function begin({ response, body }: SpoiledAnswer): void {
  response.writeHead(200, { 'content-type': jsonType, 'content-length': Buffer.byteLength(body) })
}

function reset(answer: SpoiledAnswer): true {
  answer.response.socket?.resetAndDestroy()
  return true
}

function resetLate(answer: SpoiledAnswer): true {
  begin(answer)
  answer.response.flushHeaders()
  setTimeout(() => reset(answer), 1)
  return true
}

function cut(answer: SpoiledAnswer): true {
  begin(answer)
  answer.response.write(part(answer), () => answer.response.socket?.destroy())
  return true
}

function dribble(answer: SpoiledAnswer): true {
  const { response, draw } = answer
  const bytes = Buffer.from(answer.body)
  const pieces = 3 + Math.floor(draw() * 6)
  const size = Math.ceil(bytes.length / pieces)
  begin(answer)
  const next = (at: number): void => {
    if (response.destroyed) return
    if (at >= bytes.length) {
      response.end()
      return
    }
    response.write(bytes.subarray(at, at + size))
    setTimeout(() => next(at + size), pauseMs)
  }
  next(0)
  return true
}

interface Meta {
  readonly page: number
  readonly limit: number
  readonly total: number
}

interface Envelope {
  readonly data: readonly unknown[]
  readonly meta: Meta
}

/** Rewrites an envelope; an answer without `meta` cannot be spoiled. */
function rewritten(answer: SpoiledAnswer, change: (envelope: Envelope) => object): boolean {
  const envelope = JSON.parse(answer.body) as Envelope
  if (envelope.meta === undefined) return false
  return respond(answer, { status: 200, body: JSON.stringify({ ...envelope, ...change(envelope) }) })
}

function wrongTotal(answer: SpoiledAnswer): boolean {
  const by = oneOf(answer.draw, [-250, -40, -3, -1, 1, 3, 40, 250])
  return rewritten(answer, ({ meta }) => ({ meta: { ...meta, total: Math.max(0, meta.total + by) } }))
}

function oddMeta(answer: SpoiledAnswer): boolean {
  return rewritten(answer, ({ meta, data }) => ({
    meta: oneOf<unknown>(answer.draw, [
      { ...meta, page: meta.page + 1 },
      { ...meta, limit: meta.limit - 1 },
      { ...meta, total: data.length === 0 ? meta.page * meta.limit + 1 : 0 },
      { ...meta, total: -1 },
      { ...meta, total: String(meta.total) },
      { page: meta.page, limit: meta.limit },
      null,
    ]),
  }))
}

/** JSON allows a control character nowhere, so the damaged body never parses as another value. */
function broken(answer: SpoiledAnswer): true {
  const at = Math.floor(answer.body.length * (0.3 + 0.4 * answer.draw()))
  const body = `${answer.body.slice(0, at)}\u0001${answer.body.slice(at)}`
  return respond(answer, { status: 200, body })
}

function garbage(answer: SpoiledAnswer): true {
  const body = Buffer.from(Array.from({ length: 600 }, () => Math.floor(answer.draw() * 256)))
  return respond(answer, { status: 200, headers: { 'content-encoding': 'gzip' }, body })
}

function notSuccess(answer: SpoiledAnswer): true {
  const body = oneOf(answer.draw, [
    '{"success":false,"error":{"code":"INTERNAL_ERROR","message":"try again"}}',
    '{"success":false}',
    answer.body.replace('"success":true', '"success":false'),
  ])
  return respond(answer, { status: 200, body })
}

const html = (status: number, bodyOf: (answer: SpoiledAnswer) => string): Fault => ({
  send: answer => respond(answer, { status, headers: { 'content-type': htmlType }, body: bodyOf(answer) }),
})

const json = (status: number, bodyOf: (answer: SpoiledAnswer) => string): Fault => ({
  send: answer => respond(answer, { status, body: bodyOf(answer) }),
})

/** Runs of 429. */
const stormy = (headersOf: (answer: SpoiledAnswer) => Record<string, string>): Fault => ({
  longest: longestStorm,
  readsOnly: true,
  send: answer => storm(answer, headersOf(answer)),
})

export const faultTable = {
  'error-html': html(500, () => errorPage),
  'error-empty': json(500, () => ''),
  'error-bare': json(500, ({ draw }) => oneOf(draw, bare)),
  'error-cut': json(500, () => '{"success":false,"error":{"code":"INTERN'),
  'limit-storm': stormy(({ draw }) => ({ 'retry-after': oneOf(draw, ['1', '2']) })),
  'silent-storm': stormy(() => ({})),
  /** The connection is reset before the headers, or after them. */
  reset: { send: reset },
  'reset-late': { send: resetLate },
  /** The body ends before its content-length, or breaks off and its content-length agrees. */
  'cut-body': { send: cut },
  'short-body': json(200, part),
  'slow-body': { send: dribble },
  hang: { send: () => true },
  'wrong-total': { send: wrongTotal },
  'no-rows': {
    send: answer => rewritten(answer, ({ meta }) => ({ data: [], meta: { ...meta, total: 0 } })),
  },
  /** `meta` contradicts the request, the rows or itself. */
  'odd-meta': { send: oddMeta },
  'not-success': { send: notSuccess },
  'wrong-type': html(200, ({ body }) => body),
  'html-page': html(200, () => loginPage),
  'gzip-garbage': { send: garbage },
  'broken-json': { send: broken },
} as const satisfies Readonly<Record<string, Fault>>
