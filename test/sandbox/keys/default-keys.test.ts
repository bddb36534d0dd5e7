/** The keys that the sandbox prints: each does what it says. */
import { expect, it } from 'vitest'
import { defaultKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ scale: 0.02, provokesViolations: true })
const statuses = async (key: string, ...paths: string[]) =>
  Promise.all(paths.map(async path => (await sandbox.get(path, key)).status))

it.each([
  ['sandbox-company-key', [200, 200, 200]],
  ['sandbox-agency-key', [200, 200, 403]],
  ['sandbox-finance-key', [200, 403, 403]],
  ['sandbox-one-company-key', [200, 200, 200]],
  ['sandbox-agencies-key', [200, 200, 403]],
  ['sandbox-companies-only-key', [200, 403, 403]],
  ['sandbox-no-users-key', [200, 403, 200]],
  ['sandbox-loopback-key', [200, 200, 200]],
  ['sandbox-elsewhere-key', [403, 403, 403]],
  ['sandbox-expired-key', [401, 401, 401]],
  ['sandbox-revoked-key', [401, 401, 401]],
  ['sandbox-inactive-owner-key', [200, 403, 200]],
  ['sandbox-unverified-owner-key', [200, 403, 200]],
])('%s at /me, /users and /projects: %j', async (key, expected) => {
  expect(await statuses(key, '/me', '/users', '/projects')).toEqual(expected)
})

it('describes each of them, also in /me', async () => {
  expect(defaultKeys).toHaveLength(13)
  for (const { key, description } of defaultKeys) {
    expect(description).toMatch(/^[a-z]/)
    const { status, body } = await sandbox.get('/me', key)
    if (status === 200) expect(body.data.description).toBe(description)
  }
})

it('counts what a key has used today, live', async () => {
  const usage = async () => (await sandbox.get('/me', 'sandbox-no-users-key')).body.data
  const first = await usage()
  await sandbox.get('/timesheets', 'sandbox-no-users-key')
  await sandbox.get('/users', 'sandbox-no-users-key')
  const later = await usage()
  expect(later.usage.requestsToday - first.usage.requestsToday).toBe(3)
  expect(later.usage.requestsToday + later.usage.remainingToday).toBe(later.rateLimitPerDay)
  expect(later.usage.resetsAt).toMatch(/T00:00:00\.000Z$/)
  expect(later.lastUsedAt >= first.createdAt).toBe(true)
})

it('accepts IPv4 and IPv6 addresses and ranges', async () => {
  const keys = [
    ['exact', ['127.0.0.1']],
    ['range', ['10.0.0.0/8', '127.0.0.0/30']],
    ['beside', ['127.0.0.2', '128.0.0.0/1']],
    ['six', ['::1', 'fe80::/10']],
    ['mapped', ['::ffff:127.0.0.1']],
  ] as const
  const own = await openSandbox({
    provokesViolations: true,
    records: {},
    keys: keys.map(([key, ipAllowlist]) => ({ key, kind: 'company', ipAllowlist })),
  })
  const seen = await Promise.all(keys.map(async ([key]) => (await own.get('/me', key)).status))
  expect(seen).toEqual([200, 200, 403, 403, 200])
})
