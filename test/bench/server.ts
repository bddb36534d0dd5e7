/**
 * Serves timesheets from memory, as a process of its own: `server.ts COUNT with|without [CHANGED] [OLDER]`. Prints its
 * address. The first CHANGED of them were changed after all others were created, so that they come last. The list claims so
 * many OLDER ones before them, which it cannot show: a page of them is refused.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Calendar, timesheet } from './timesheet.ts'

const count = Number(process.argv[2] ?? 1000)
const timelogs = process.argv[3] === 'with' ? 'with' : 'without'
const changed = Number(process.argv[4] ?? 0)
const older = Number(process.argv[5] ?? 0)
const calendar = new Calendar(count)

/** As many as fit a sensible memory are made before; those beyond them when they are asked for. */
const kept = Math.min(count, 100_000)

const made = (index: number): Record<string, unknown> => timesheet(index, calendar.createdAt(index), timelogs)

/** The timesheet at a place of the order by time of change. */
function inOrder(place: number): Record<string, unknown> {
  if (place < count - changed) return made(place + changed)
  const index = place - (count - changed)
  const updatedAt = new Date(calendar.createdAt(count) + index * 1000).toISOString()
  return { ...made(index), netHours: 41.25, version: 4, updatedAt }
}

/** Records lie side by side with a comma between, so that a page is one slice of bytes. */
const chunks: Buffer[] = []
const offsets = [0]
for (let index = 0; index < kept; index += 1) {
  const bytes = Buffer.from(`${JSON.stringify(inOrder(index))},`)
  chunks.push(bytes)
  offsets.push((offsets[index] ?? 0) + bytes.length)
}
const records = Buffer.concat(chunks)

function rows(from: number, to: number): Buffer {
  if (to <= from) return Buffer.alloc(0)
  if (to <= kept) return records.subarray(offsets[from], (offsets[to] ?? 1) - 1)
  const texts = Array.from({ length: to - from }, (_, place) => JSON.stringify(inOrder(from + place)))
  return Buffer.from(texts.join(','))
}

const me = {
  name: 'bench',
  description: '',
  scopes: [],
  rateLimitPerMinute: 100_000,
  rateLimitPerDay: 10_000_000,
  usage: { requestsToday: 0, remainingToday: 10_000_000, resetsAt: '2099-01-01T00:00:00.000Z' },
  companies: [],
}

const dayMs = 86_400_000
const clamp = (index: number): number => Math.min(count, Math.max(0, index))

function answer(url: URL): Buffer | undefined {
  if (url.pathname.endsWith('/me')) return Buffer.from(JSON.stringify({ success: true, data: me }))
  const query = url.searchParams
  const page = Number(query.get('page') ?? 1)
  const limit = Number(query.get('limit') ?? 50)
  const empty = !url.pathname.endsWith('/timesheets')
  const day = (name: string): number | undefined =>
    query.get(name) ? Date.parse(`${query.get(name)}T00:00:00Z`) : undefined
  const first = empty ? 0 : clamp(calendar.createdBefore(day('from') ?? 0) - changed)
  const last = empty ? 0 : clamp(calendar.createdBefore((day('to') ?? 4e12) + dayMs))
  const before = first === 0 && !empty ? older : 0
  const total = before + Math.max(0, last - first)
  const begin = Math.min(total, (page - 1) * limit)
  const end = Math.min(total, begin + limit)
  const isDescending = query.get('sortOrder') === 'desc'
  const from = isDescending ? last - end : first - before + begin
  if (from < first) return undefined
  const slice = rows(from, from + end - begin)
  const head = Buffer.from('{"success":true,"data":[')
  return Buffer.concat([
    head,
    slice,
    Buffer.from(`],"meta":{"page":${page},"limit":${limit},"total":${total}}}`),
  ])
}

const server = createServer((request, response) => {
  const body = answer(new URL(request.url ?? '/', 'http://localhost'))
  if (!body) return response.writeHead(500).end()
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/open/v1`),
)
