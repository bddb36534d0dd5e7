/** What a sync says when it cannot read all: each reason in its own words, and no figure that the service has not told. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const clock = systemClock
let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await keptSandbox({ seed: 1, scale: 0.05, clock })
})
afterAll(() => sandbox.close())

const sync = (env: Record<string, string>, words = '', cwd = temporaryFolder()) =>
  muster(`sync ${words}`, {
    cwd,
    clock,
    env: { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'sandbox-company-key', ...env },
  })

test('a wrong key: where it is read from, and nothing about requests that are left', async () => {
  const { code, out, err } = await sync({ MUSTER_API_KEY: 'wrong-0123456789' })
  expect(code).toBe(78)
  expect(err).toMatch(
    /the service refuses the API key .* put a valid key in the environment variable MUSTER_API_KEY$/m,
  )
  expect(out + err).not.toMatch(/left today|\b\d,\d{3}\b/)
})

test('doctor names the same place of a wrong key', async () => {
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'wrong-0123456789' }
  const { code, out } = await muster('doctor', { cwd: temporaryFolder(), clock, env })
  expect(code).toBe(78)
  expect(out).toMatch(/^key: .* put a valid key in the environment variable MUSTER_API_KEY$/m)
})

test('the budget of a run', async () => {
  const { code, err } = await sync({}, '--max-requests 40')
  expect(code).toBe(75)
  expect(err).toMatch(
    /the budget of this run is used up, 40 requests: run again to continue, or raise --max-requests$/m,
  )
})

test('its deadline, as a clock time with its zone', async () => {
  const { code, err } = await sync({}, '--deadline 1s')
  expect(code).toBe(75)
  expect(err).toMatch(/the deadline of this run, \d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC, leaves no time/)
})

async function limited(rateLimitPerDay: number, more: object = {}) {
  const service = await keptSandbox({ seed: 1, scale: 0.05, clock, rateLimitPerDay, ...more })
  try {
    return await sync({ MUSTER_BASE_URL: service.url })
  } finally {
    await service.close()
  }
}

test('the quota of a day, and when the next begins', async () => {
  const { code, err } = await limited(40)
  expect(code).toBe(75)
  expect(err).toMatch(
    /the quota of the day has no request left for a sync \(\d+ of 40 used, \d+ reserved for others\): the service starts a new count at \d{4}-\d\d-\d\d 00:00 UTC/,
  )
})

test('pacing: requests that are left are kept, which is no exhaustion', async () => {
  const { code, err, out } = await limited(105)
  expect(code).toBe(75)
  expect(err).toMatch(
    /^muster: [\w-]+: [\d,]+ never fetched.*, as the other [\d,]+ requests? of today (is|are) reserved for the lists of later runs: everything read so far is loaded; the next run continues/m,
  )
  expect(out + err).not.toMatch(/budget (ends|of this run)|quota/)
})

test('a pause that the service asks for, as a clock time', async () => {
  const body = JSON.stringify({ success: false, error: { code: 'UNAVAILABLE', message: 'maintenance' } })
  const server = createServer((_, response) => response.writeHead(503, { 'retry-after': '54000' }).end(body))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/open/v1`
  const { code, err } = await sync({ MUSTER_BASE_URL: url })
  server.close()
  expect(code).toBe(75)
  expect(err).toMatch(/asks not to be called before \d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC/)
  expect(err).not.toMatch(/minutes/)
})

test('an unreachable address ends after five seconds, with the attempts and what to do', async () => {
  const from = performance.now()
  const { code, err } = await sync({ MUSTER_BASE_URL: 'http://127.0.0.1:1/api/open/v1' })
  expect(code).toBe(1)
  expect(performance.now() - from).toBeLessThan(30_000)
  expect(err).toMatch(
    /127\.0\.0\.1:1 accepts no connection \(GET \/me, tried \d+ times in 5 s: ECONNREFUSED\)/,
  )
  expect(err).toContain('--wait 10m keeps trying')
})

test('--wait keeps trying, and says so once', async () => {
  const { code, err } = await sync({ MUSTER_BASE_URL: 'http://127.0.0.1:1/api/open/v1' }, '--wait 8s')
  expect(code).toBe(1)
  expect(err.match(/trying again/g)).toHaveLength(1)
  expect(err).toMatch(/tried \d+ times in 8 s/)
})
