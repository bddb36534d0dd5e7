/**
 * A service whose timesheets change while they are read, as a process of its own: `moving-source.ts COUNT`. Prints its address.
 * After every page one of them changes, and now and then one is added or removed, until it is told to rest.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRng } from '../../src/lib/rng.ts'
import { Calendar, timesheet } from '../bench/timesheet.ts'

interface Held {
  readonly index: number
  readonly created: number
  updated: number
  version: number
}

const count = Number(process.argv[2] ?? 1000)
const calendar = new Calendar(count)
const rng = seededRng(1)
let rows: Held[] = Array.from({ length: count }, (_, index) => {
  const created = calendar.createdAt(index)
  return { index, created, updated: created, version: 1 }
})
let next = count
let pages = 0
let isResting = false

const anyOf = (): Held => rows[Math.floor(rng() * rows.length)] as Held

/** One changed a page; one added every third page, one removed every hundredth. */
function move(): void {
  if (isResting) return
  pages += 1
  const now = Date.now()
  const changed = anyOf()
  changed.updated = now
  changed.version += 1
  if (pages % 3 === 0) rows.push({ index: next++, created: now, updated: now, version: 1 })
  if (pages % 100 === 0) {
    const removed = anyOf()
    rows = rows.filter(row => row !== removed)
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()
const recordOf = ({ index, created, updated, version }: Held): Record<string, unknown> => ({
  ...timesheet(index, created, 'without'),
  createdAt: iso(created),
  updatedAt: iso(updated),
  version,
})
const idOf = (row: Held): string => String(recordOf(row).id)

function list(query: URLSearchParams): unknown {
  const key = query.get('dateField') === 'updatedAt' ? 'updated' : 'created'
  const order = query.get('sortBy') === 'createdAt' ? 'created' : 'updated'
  const day = (name: string, otherwise: number): number =>
    query.get(name) ? Date.parse(`${query.get(name)}T00:00:00Z`) : otherwise
  const [from, to] = [day('from', 0), day('to', 4e12) + 86_400_000]
  const sign = query.get('sortOrder') === 'desc' ? -1 : 1
  const found = rows
    .filter(row => row[key] >= from && row[key] < to)
    .sort((left, right) => sign * (left[order] - right[order] || left.index - right.index))
  const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 50)]
  const data = found.slice((page - 1) * limit, page * limit).map(recordOf)
  return { success: true, data, meta: { page, limit, total: found.length } }
}

const me = {
  name: 'peers',
  description: '',
  scopes: [],
  rateLimitPerMinute: 100_000,
  rateLimitPerDay: 10_000_000,
  usage: { requestsToday: 0, remainingToday: 10_000_000, resetsAt: '2099-01-01T00:00:00.000Z' },
  companies: [],
}

function answer({ pathname, searchParams }: URL): unknown {
  if (pathname === '/rest') {
    isResting = true
    return rows.map(row => [idOf(row), row.updated])
  }
  if (pathname.endsWith('/me')) return { success: true, data: me }
  if (pathname.endsWith('/timesheets')) return list(searchParams)
  const found = rows.find(row => pathname.endsWith(`/timesheets/${idOf(row)}`))
  return found && { success: true, data: recordOf(found) }
}

function send(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body ?? { success: false, error: 'not found' })
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(text)
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  send(response, answer(url))
  if (url.pathname.endsWith('/timesheets')) move()
})
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/open/v1`),
)
