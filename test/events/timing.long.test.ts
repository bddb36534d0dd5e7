/** How long a signature takes to be refused tells nothing of how much of it was right. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createVerifier, type SignatureClaim } from '../../src/events/verify.ts'

const secret = 'timing-planted-secret'
const nowMs = Date.parse('2026-11-21T05:00:00.000Z')
const timestamp = String(nowMs)
const body = Buffer.from(
  JSON.stringify({ id: 'evt_1', type: 'trade_amended', data: { trade: { id: 't1' } } }),
)
const right = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

/** The right digest with one byte changed, so that the bytes before it are right. */
function wrongAt(place: number): SignatureClaim {
  const digest = Buffer.from(right)
  digest.writeUInt8((digest[place] ?? 0) ^ 0xff, place)
  return { timestamp, digest }
}

const median = (times: readonly number[]): number =>
  [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0

test('10,000 samples do not distinguish a wrong first byte from a wrong last one', () => {
  const { verify } = createVerifier({ headerPrefix: 'X-Service', secrets: [secret] })
  const kinds = [wrongAt(0), wrongAt(31)]
  const times: number[][] = [[], []]
  for (let sample = 0; sample < 12_000; sample += 1) {
    // In turn, so that whatever else the machine does meets both; the first two thousand warm up.
    const kind = sample % 2
    const started = process.hrtime.bigint()
    const verified = verify(kinds[kind] as SignatureClaim, { body, nowMs })
    const taken = Number(process.hrtime.bigint() - started)
    expect(verified).toHaveProperty('refused')
    if (sample >= 2000) times[kind]?.push(taken)
  }
  const [first, last] = times.map(median) as [number, number]
  console.log(`median ns: first byte wrong ${first}, last byte wrong ${last}`)
  expect(Math.abs(first - last) / first).toBeLessThan(0.05)
})
