/** A host that accepts no connection: told after five seconds with the number of attempts, or waited for by whoever asks. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { failure, json, ME, startService } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const nobodyThere = async (): Promise<string> => {
  const gone = await startService(() => {})
  await gone.close()
  return gone.baseUrl
}

const clientOf = (baseUrl: string, more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl, apiKey: 'k', rng: () => 0.5, clock: virtualClock(), ...more })

it('is given up after five seconds, with the number of attempts and a way to wait', async () => {
  const clock = virtualClock()
  const from = clock.now()
  const client = clientOf(await nobodyThere(), { clock })
  const error = await failure(client.getMe())
  expect(clock.now() - from).toBe(5_000)
  expect(error.message).toMatch(
    /accepts no connection \(GET \/me, tried \d+ times in 5 s: ECONNREFUSED\): check host.*--wait 10m keeps trying$/,
  )
  await client.close()
})

it('takes five seconds of a real clock too', async () => {
  const client = clientOf(await nobodyThere(), { clock: systemClock })
  const from = performance.now()
  await failure(client.getMe())
  expect(performance.now() - from).toBeGreaterThan(4_900)
  expect(performance.now() - from).toBeLessThan(15_000)
  await client.close()
})

it.each([60_000, 600_000])(
  'is tried for %i ms by each caller whose deadline allows it, and reported once',
  async patienceMs => {
    const clock = virtualClock()
    const from = clock.now()
    const told: string[] = []
    const onUnreached = (sentence: string) => void told.push(sentence)
    const client = clientOf(await nobodyThere(), { clock, patienceMs, onUnreached })
    const error = await failure(client.getMe())
    expect(clock.now() - from).toBe(patienceMs)
    expect(error.message).toContain(`in ${patienceMs / 1000} s`)
    expect(told).toEqual([
      expect.stringMatching(/accepts no connection, tried \d+ times in 5 s; trying again$/),
    ])
    await client.close()
  },
)

it('is found once it is there', async () => {
  const baseUrl = await nobodyThere()
  const client = clientOf(baseUrl, { clock: systemClock, patienceMs: 30_000 })
  const asking = client.getMe()
  await systemClock.sleep(1_200)
  const server = createServer((_, response) =>
    json(response, 200, { success: true, data: { ...ME, rateLimitPerMinute: 7 } }),
  )
  await new Promise<void>(done => server.listen(Number(new URL(baseUrl).port), '127.0.0.1', done))
  expect((server.address() as AddressInfo).port).toBe(Number(new URL(baseUrl).port))
  expect((await asking).rateLimitPerMinute).toBe(7)
  await client.close()
  server.close()
})

it('that answered before gets the usual number of attempts, as it may only be starting anew', async () => {
  const service = await startService(() => {})
  const attempts: number[] = []
  const client = clientOf(service.baseUrl, { onRequest: ({ attempt }) => void attempts.push(attempt) })
  await client.getMe()
  await service.close()
  expect((await failure(client.getPage('/sites'))).message).toContain('sent 6 times')
  expect(attempts).toEqual([1, 1, 2, 3, 4, 5, 6])
  await client.close()
})
