/** Faults in answers with status 200: the content is wrong or has another type than stated. */
import { type Answer, type Fault, htmlType, oneOf, respond } from './answer.ts'

interface Meta {
  readonly page: number
  readonly limit: number
  readonly total: number
}

const loginPage = '<!doctype html><html><body><form action="/login"><input name="user"></form></body></html>'

function metaOf(
  body: string,
): { readonly envelope: Record<string, unknown>; readonly meta: Meta } | undefined {
  const envelope = JSON.parse(body) as Record<string, unknown>
  return envelope.meta === undefined ? undefined : { envelope, meta: envelope.meta as Meta }
}

/** Rewrites `meta`; an answer without it cannot be spoiled. */
function withMeta(answer: Answer, change: (meta: Meta, rows: number) => unknown): boolean {
  const found = metaOf(answer.body)
  if (!found) return false
  const { envelope, meta } = found
  const changed = change(meta, (envelope.data as unknown[]).length)
  return respond(answer, { status: 200, body: JSON.stringify({ ...envelope, meta: changed }) })
}

function wrongTotal(answer: Answer): boolean {
  const by = oneOf(answer.draw, [-250, -40, -3, -1, 1, 3, 40, 250])
  return withMeta(answer, meta => ({ ...meta, total: Math.max(0, meta.total + by) }))
}

function noRows(answer: Answer): boolean {
  const found = metaOf(answer.body)
  if (!found) return false
  const { envelope, meta } = found
  const body = JSON.stringify({ ...envelope, data: [], meta: { ...meta, total: 0 } })
  return respond(answer, { status: 200, body })
}

function oddMeta(answer: Answer): boolean {
  return withMeta(answer, (meta, rows) =>
    oneOf<unknown>(answer.draw, [
      { ...meta, page: meta.page + 1 },
      { ...meta, limit: meta.limit - 1 },
      { ...meta, total: rows === 0 ? meta.page * meta.limit + 1 : 0 },
      { ...meta, total: -1 },
      { ...meta, total: String(meta.total) },
      { page: meta.page, limit: meta.limit },
      null,
    ]),
  )
}

/** JSON allows a control character nowhere, so the damaged body never parses as another value. */
function broken(answer: Answer): true {
  const at = Math.floor(answer.body.length * (0.3 + 0.4 * answer.draw()))
  const body = `${answer.body.slice(0, at)}\u0001${answer.body.slice(at)}`
  return respond(answer, { status: 200, body })
}

function garbage(answer: Answer): true {
  const body = Buffer.from(Array.from({ length: 600 }, () => Math.floor(answer.draw() * 256)))
  return respond(answer, { status: 200, headers: { 'content-encoding': 'gzip' }, body })
}

function notSuccess(answer: Answer): true {
  const body = oneOf(answer.draw, [
    '{"success":false,"error":{"code":"INTERNAL_ERROR","message":"try again"}}',
    '{"success":false}',
    answer.body.replace('"success":true', '"success":false'),
  ])
  return respond(answer, { status: 200, body })
}

export const contradictions = {
  'wrong-total': { meaning: '`meta.total` is wrong, in this answer only', send: wrongTotal },
  'no-rows': { meaning: 'no rows and a total of 0, in this answer only', send: noRows },
  'odd-meta': { meaning: '`meta` contradicts the request, the rows or itself', send: oddMeta },
  'not-success': { meaning: '200 with `success` false', send: notSuccess },
  'wrong-type': {
    meaning: 'the right body as text/html',
    send: answer =>
      respond(answer, { status: 200, headers: { 'content-type': htmlType }, body: answer.body }),
  },
  'html-page': {
    meaning: '200 with a login page',
    send: answer => respond(answer, { status: 200, headers: { 'content-type': htmlType }, body: loginPage }),
  },
  'gzip-garbage': { meaning: 'bytes that claim to be gzip and are nothing', send: garbage },
  'broken-json': { meaning: 'a byte in the middle that JSON forbids', send: broken },
} as const satisfies Readonly<Record<string, Fault>>
