/** Whatever is sent, the answer is one of the contract's: an envelope, or a refusal in its shape. */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { namedRng } from '../../../src/lib/rng.ts'
import { endpoints } from '../../../src/sandbox/endpoints/endpoints.ts'
import { openSandbox } from '../open-sandbox.ts'
import { type Malformed, malformed } from './malformed-requests.ts'

const REQUESTS = 500
const AT_ONCE = 20
/** What the contract names, and nothing else: no 304, no 415, no 417, no 431. */
const statuses = [200, 201, 400, 401, 403, 404, 405, 409, 413, 429]

interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends the bytes as they are, and reads until the other side closes. */
function exchange(port: number, { bytes }: Malformed): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer after 5 s')))
    socket.on('data', piece => pieces.push(piece))
    // The server may close while a long request is still being written: what it said before counts.
    socket.on('error', error => (pieces.length === 0 ? reject(error) : undefined))
    socket.on('close', () => {
      const text = Buffer.concat(pieces).toString('utf8')
      const end = text.indexOf('\r\n\r\n')
      const head = text.slice(0, end)
      // What follows was taken for another request: a body that nobody announced.
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? text.length)
      const body = Buffer.from(text.slice(end + 4))
        .subarray(0, length)
        .toString()
      resolve({ status: Number(text.slice(9, 12)), head, body })
    })
  })
}

/** Undefined when the answer keeps the contract. */
function complaint({ method }: Malformed, { status, head, body }: Answer): string | undefined {
  if (!statuses.includes(status)) return `status ${status}`
  // What is refused before its method could be read gets the body all the same.
  if (method === 'HEAD' && body === '') return undefined
  if (!/^content-type: application\/json/im.test(head)) return 'no JSON'
  try {
    const { success, data, error } = JSON.parse(body)
    if (status < 300) return success === true && data !== undefined ? undefined : 'no envelope'
    const isRefusal = success === false && typeof error.code === 'string' && typeof error.message === 'string'
    return isRefusal ? undefined : 'no refusal'
  } catch {
    return 'no JSON'
  }
}

it(`answers ${REQUESTS} malformed requests as the contract says`, async () => {
  const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000, provokesViolations: true })
  const { port, pathname: basePath } = new URL(sandbox.url)
  const paths = [...new Set(endpoints.map(({ path }) => path))]
  const ids = (['companies', 'projects', 'timesheets', 'expenses'] as const).flatMap(name =>
    sandbox.world
      .all(name)
      .slice(0, 5)
      .map(({ id }) => String(id)),
  )
  const [agency] = sandbox.world.all('agencies')
  const workerIds = [...sandbox.workers.all()].flatMap(worker =>
    worker.agencies.has(String(agency?.id)) ? [worker.id] : [],
  )
  const ground = { basePath, paths, ids, workerIds }
  const writes = new Map<number, number>()
  const rng = namedRng(Number(process.env.FUZZ_SEED ?? 1), 'malformed requests')
  const seen = new Map<number, number>()
  const complaints: object[] = []
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, () => malformed(rng, ground))
    const answers = await Promise.all(requests.map(request => exchange(Number(port), request)))
    for (const [index, answer] of answers.entries()) {
      const request = requests[index] as Malformed
      const why = complaint(request, answer)
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      if (/\/(workers|uploads)/.test(request.target))
        writes.set(answer.status, (writes.get(answer.status) ?? 0) + 1)
      if (why)
        complaints.push({
          why,
          request: request.bytes.toString().slice(0, 300),
          body: answer.body.slice(0, 300),
        })
    }
  }
  expect(complaints).toEqual([])
  // Enough got through to the endpoints, and enough was refused, for this to say something.
  for (const status of [200, 400, 401, 404, 405])
    expect(seen.get(status) ?? 0, `${status}`).toBeGreaterThan(2)
  expect(writes.get(200)).toBeGreaterThan(3)
  expect(writes.get(400)).toBeGreaterThan(60)
  expect((await sandbox.get('/me')).status).toBe(200)
})
