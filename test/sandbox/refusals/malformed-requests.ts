/** Requests that no client should send, as bytes: drawn by seed, from the routes that a sandbox declares. */
import { METHODS } from 'node:http'
import type { Rng } from '../../../src/lib/rng.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { mutatedWrite } from './mutated-bodies.ts'

/** Every parameter of the contract, and names that have undone servers. */
const names = [
  ...['page', 'limit', 'company', 'status', 'query', 'from', 'to', 'sortBy', 'sortOrder', 'fields'],
  ...['dateField', 'includeConfig', 'includeTimelogs', 'includeRates', 'includeCompetencyMatrix'],
  ...[
    'includeStageTracking',
    'projectId',
    'project',
    'site',
    'agency',
    'role',
    'action',
    'groupBy',
    'region',
  ],
  ...['sector', 'worker', 'timesheet', 'assignment', 'category', 'metric', 'hoursThreshold', 'invoiceType'],
  ...['mspInvoiceType', '__proto__', 'constructor', 'toString', 'page[]', 'page[x]', '', ' page', 'Page'],
]

const values = [
  ...['1', '200', '201', '0', '-1', '1.5', '1e9', '999999999999999999999', 'NaN', 'Infinity', '0x10', ' 1'],
  ...['true', 'TRUE', 'yes', 'null', 'undefined', '', ',', ',,', 'asc', 'desc', 'name', 'updatedAt', 'rows'],
  ...[
    '2026-02-30',
    '2026-01-01',
    '0000-00-00',
    '9999-12-31',
    '+275760-09-13',
    '01/02/2026',
    '2026-01-01T00:00',
  ],
  ...[
    '%',
    '%zz',
    '%ff%fe',
    '%00',
    '%E2%80%AE',
    '%F0%9F%92%A5',
    '..%2F..%2Fetc',
    "'%20or%201=1--",
    '%0d%0aX:%20y',
  ],
  ...[
    'id',
    'a.b.c',
    '.',
    'a..b',
    '__proto__',
    'constructor.prototype',
    '$where',
    '{"a":1}',
    '[1,2]',
    '*',
    '(.*)+',
  ],
  ...[
    'project',
    'month,moon',
    'all,company',
    'role',
    'pending',
    'PENDING',
    'active',
    'ffffffffffffffffffffffff',
  ],
]

const bodies = [
  ...[
    '',
    '{',
    '{"a":',
    '[]',
    'null',
    '"text"',
    '0',
    '{"a":1}}',
    '{"__proto__":{"x":1}}',
    '{"constructor":1}',
  ],
  ...[
    '{"firstName":5}',
    '{"email":"none","consent":"yes"}',
    '{"trades":"x","dob":"2026-13-01"}',
    '\u0000',
    '\ufeff{}',
  ],
  ...['{"resource":"invoice","size":-1}', '{"resource":"worker","recordId":{},"fileName":""}', 'a=1&b=2'],
]

const types = [
  'application/json',
  'application/json; charset=utf-7',
  'text/plain',
  'multipart/form-data',
  '*/*',
  '',
]

const heads = [
  ...[
    'If-None-Match: *',
    'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT',
    'Range: bytes=0-1',
    'Expect: nonsense',
  ],
  ...[
    'Upgrade: websocket',
    'Accept: image/png',
    'Accept-Encoding: nothing',
    'X-HTTP-Method-Override: DELETE',
  ],
  ...[
    'Transfer-Encoding: nonsense',
    'Content-Length: -1',
    'Content-Length: x',
    'Host: a, b',
    'No colon here',
    'X: \u0001',
  ],
]

const keys = [
  ...[
    `Bearer ${sandboxKeys.company}`,
    `Bearer ${sandboxKeys.company}`,
    `Bearer ${sandboxKeys.company}`,
    `Bearer ${sandboxKeys.agency}`,
  ],
  ...[
    'Bearer',
    'Bearer  ',
    `Basic ${sandboxKeys.company}`,
    `bearer ${sandboxKeys.company}`,
    'Bearer nobody',
    `Bearer ${'k'.repeat(9000)}`,
  ],
]

const methods = [...METHODS, 'FOO', 'get', 'G ET', '']

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)] as Item

function idText(rng: Rng, known: readonly string[]): string {
  if (rng() < 0.3 && known.length > 0) return pick(rng, known)
  return pick(rng, [
    ...values.filter(Boolean),
    'x'.repeat(101),
    'x'.repeat(20_000),
    'ид',
    'a%2Fb',
    ';',
    '?',
    '#',
  ])
}

function queryText(rng: Rng): string {
  const count = Math.max(0, Math.floor(rng() * 5) - 1)
  const pairs = Array.from({ length: count }, () => {
    const value =
      rng() < 0.05 ? 'v'.repeat(30_000) : rng() < 0.1 ? `a${',b'.repeat(3000)}` : pick(rng, values)
    return `${pick(rng, names)}=${value}`
  })
  if (pairs.length > 0 && rng() < 0.2) pairs.push(pairs[0] as string)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

export interface Malformed {
  readonly method: string
  readonly target: string
  readonly bytes: Buffer
}

export interface Ground {
  readonly basePath: string
  readonly paths: readonly string[]
  /** Ids of records that there are. */
  readonly ids: readonly string[]
  /** Of workers of the agency. */
  readonly workerIds: readonly string[]
}

/** Of the requests, writes with a body that was right but for a few places. */
const WRITES = 0.3

export function malformed(rng: Rng, ground: Ground): Malformed {
  return rng() < WRITES ? malformedWrite(rng, ground) : anyMalformed(rng, ground)
}

function malformedWrite(rng: Rng, ground: Ground): Malformed {
  const [method, path, body] = mutatedWrite(rng, ground)
  const target = ground.basePath + path + (rng() < 0.1 ? queryText(rng) : '')
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...['Connection: close', 'Host: localhost', `Authorization: Bearer ${sandboxKeys.agency}`],
    ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
  ]
  return { method, target, bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`) }
}

function anyMalformed(rng: Rng, { basePath, paths, ids }: Ground): Malformed {
  const method = rng() < 0.6 ? pick(rng, ['GET', 'GET', 'POST', 'PATCH']) : pick(rng, methods)
  const path = pick(rng, paths).replace(/:\w+/g, () => idText(rng, ids))
  const place =
    rng() < 0.95 ? basePath + path : pick(rng, ['*', '/', '//', '/api', `${basePath}/${idText(rng, ids)}`])
  const target = place + queryText(rng)
  const lines = [`${method} ${target} HTTP/1.1`, 'Connection: close']
  if (rng() < 0.95) lines.push('Host: localhost')
  if (rng() < 0.95) lines.push(`Authorization: ${pick(rng, keys)}`)
  if (rng() < 0.3) lines.push(pick(rng, heads))
  const hasBody = rng() < 0.35
  const body = hasBody ? (rng() < 0.05 ? `"${'b'.repeat(2_000_000)}"` : pick(rng, bodies)) : ''
  if (hasBody) lines.push(`Content-Type: ${pick(rng, types)}`, `Content-Length: ${Buffer.byteLength(body)}`)
  return { method, target, bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`) }
}
