/** Answers that are cut, garbled, repeated, slow or none at all: the run fails closed, and the next one is whole. */
import type { Rng } from '../../../src/lib/rng.ts'
import type { Interception } from '../../fault-layer/layer.ts'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

const body = (parts: object): string =>
  JSON.stringify({ success: true, data: [], meta: { page: 1, limit: 200, total: 3 }, ...parts })

const answers: readonly ((rng: Rng) => Interception)[] = [
  () => 'reset',
  () => ({ status: 200, body: '<html>maintenance</html>' }),
  () => ({ status: 200, body: '' }),
  () => ({ status: 200, body: '{"success":true,"data":[{"id":"a"' }),
  () => ({ status: 200, body: body({}) }),
  () => ({ status: 200, body: body({ data: {} }) }),
  () => ({ status: 200, body: body({ success: false }) }),
  () => ({ status: 200, body: body({ meta: null }) }),
  () => ({ status: 200, body: body({ meta: { page: '1', limit: '200', total: '3' } }) }),
  () => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: 'this is not gzip' }),
  () => ({ status: 200, headers: { 'content-length': '100000' }, body: '{}' }),
  () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/elsewhere' }, body: '' }),
  () => ({ status: 500, body: 'oops' }),
  () => ({ status: 503, headers: { 'retry-after': '0' }, body: '{}' }),
  () => ({ status: 429, headers: { 'retry-after': '0' }, body: '{}' }),
  () => ({
    ...{ status: 429, headers: { 'retry-after': '0' } },
    body: '{"success":false,"error":{"code":"RATE_LIMITED","message":"too many requests"}}',
  }),
  () => ({ status: 200, body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }),
  rng => ({ status: 200, body: Buffer.from(Array.from({ length: 300 }, () => rng() * 256)) }),
]

/** A record for which the service fails waits an hour, and status counts it: that it is not there at once is no fault. */
const byId = /\/[0-9a-f]{24}$/

export const mutatedAnswers: Trial = async (arena, rng, turn) => {
  const place = turn % 2 === 0 ? await arena.empty() : await arena.fresh()
  const share = drawn(rng, [0.02, 0.1, 0.5])
  let blows = 0
  arena.intercept(({ path }) => {
    if (byId.test(path) || rng() >= share) return undefined
    blows += 1
    return drawn(rng, answers)(rng)
  })
  const end = await arena.run(place, 'sync --quiet --deadline 30s')
  arena.intercept()
  const broken = [complaint(end, [0, 1, 3, 75, 78]), await arena.complaintAtRest(place)]
  await arena.remove(place)
  return { blows, broken: defined(broken) }
}
