/** Faults of the connection: it breaks, stalls, or ends before the whole body has arrived. */
import type { Answer, Fault } from './answer.ts'
import { jsonType, respond } from './answer.ts'

/** Milliseconds between two pieces of a slow body. */
const pauseMs = 40

function part({ body, draw }: Answer): string {
  return body.slice(0, Math.floor(body.length * draw()))
}

function begin({ response, body }: Answer): void {
  response.writeHead(200, { 'content-type': jsonType, 'content-length': Buffer.byteLength(body) })
}

function reset(answer: Answer): true {
  answer.response.socket?.resetAndDestroy()
  return true
}

function resetLate(answer: Answer): true {
  begin(answer)
  answer.response.flushHeaders()
  setTimeout(() => reset(answer), 1)
  return true
}

function cut(answer: Answer): true {
  begin(answer)
  answer.response.write(part(answer), () => answer.response.socket?.destroy())
  return true
}

function dribble(answer: Answer): true {
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

export const connections = {
  reset: { meaning: 'the connection is reset before the headers', send: reset },
  'reset-late': { meaning: 'the connection is reset after the headers', send: resetLate },
  'cut-body': { meaning: 'the body ends before its content-length', send: cut },
  'short-body': {
    meaning: 'the body breaks off, and its content-length agrees',
    send: answer => respond(answer, { status: 200, body: part(answer) }),
  },
  'slow-body': { meaning: `the body comes in pieces, ${pauseMs} ms apart`, send: dribble },
  hang: { meaning: 'no answer at all', send: () => true },
} as const satisfies Readonly<Record<string, Fault>>
