/** Requests per minute and per day, by a clock of the test's own. */
import { expect, it } from 'vitest'
import type { Clock } from '../../../src/lib/clock.ts'
import type { SandboxOptions } from '../../../src/sandbox/server/settings.ts'
import { openSandbox } from '../open-sandbox.ts'

async function limited(options: SandboxOptions) {
  const clock = { at: Date.parse('2026-11-02T10:00:50.000Z') }
  const hands: Clock = { now: () => clock.at, sleep: async () => undefined }
  const sandbox = await openSandbox({ records: {}, clock: hands, provokesViolations: true, ...options })
  const status = async () => (await sandbox.get('/timesheets')).status
  return { clock, sandbox, status }
}

it('counts by the minute of the clock', async () => {
  const { clock, sandbox, status } = await limited({ rateLimitPerMinute: 2 })
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
  const refused = await sandbox.get('/me')
  expect(refused.headers.get('retry-after')).toBe('10')
  expect(refused.body.error.code).toBe('RATE_LIMITED')
  clock.at += 10_000
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
})

it('counts the last sixty seconds under rate-window=sliding', async () => {
  const { clock, sandbox, status } = await limited({
    rateLimitPerMinute: 2,
    options: { 'rate-window': 'sliding' },
  })
  expect(await status()).toBe(200)
  clock.at += 20_000
  expect([await status(), await status()]).toEqual([200, 429])
  expect((await sandbox.get('/me')).headers.get('retry-after')).toBe('40')
  clock.at += 39_999
  expect(await status()).toBe(429)
  clock.at += 1
  expect([await status(), await status()]).toEqual([200, 429])
})

it('starts a new day at midnight UTC and shows the usage', async () => {
  const { clock, sandbox, status } = await limited({ rateLimitPerDay: 3 })
  expect([await status(), await status()]).toEqual([200, 200])
  expect((await sandbox.get('/me')).body.data.usage).toEqual({
    requestsToday: 3,
    remainingToday: 0,
    resetsAt: '2026-11-03T00:00:00.000Z',
  })
  expect((await sandbox.get('/me')).headers.get('retry-after')).toBe(String(13 * 3600 + 59 * 60 + 10))
  clock.at = Date.parse('2026-11-03T00:00:00.000Z')
  expect((await sandbox.get('/me')).body.data.usage).toMatchObject({ requestsToday: 1, remainingToday: 2 })
})

it('counts refusals of other kinds, but not those for the rate', async () => {
  const { clock, sandbox, status } = await limited({ rateLimitPerMinute: 2 })
  expect((await sandbox.get('/timesheets?page=0')).status).toBe(400)
  expect([await status(), await status(), await status()]).toEqual([200, 429, 429])
  clock.at += 60_000
  expect((await sandbox.get('/me')).body.data.usage.requestsToday).toBe(3)
})

it('leaves Retry-After out when told to, and applies the limits of a key', async () => {
  const keys = [{ key: 'small', kind: 'company' as const, rateLimitPerMinute: 1 }]
  const { sandbox } = await limited({ options: { 'retry-after': 'absent' }, keys })
  expect((await sandbox.get('/me', 'small')).body.data.rateLimitPerMinute).toBe(1)
  const refused = await sandbox.get('/me', 'small')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBeNull()
})
