/** What the checker counts, and what it lets pass. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Clock } from '../../../src/lib/clock.ts'
import { type OpenOptions, type OpenSandbox, openSandbox } from '../open-sandbox.ts'

async function watched(options: OpenOptions = {}) {
  const at = { ms: Date.parse('2026-11-02T10:00:50.000Z') }
  const clock: Clock = { now: () => at.ms, sleep: async () => undefined }
  const sandbox = await openSandbox({ records: {}, clock, provokesViolations: true, ...options })
  return { at, sandbox, kinds: () => kindsOf(sandbox) }
}

const kindsOf = (sandbox: OpenSandbox) => sandbox.violations().map(({ kind }) => kind)

it.each([
  ['/timesheets?limit=201', ['limit']],
  ['/timesheets?limit=0', ['limit']],
  ['/timesheets?page=0', ['page']],
  ['/timesheets?nonsense=1', ['unknown-parameter']],
  ['/timesheets?page=1&page=2', ['repeated-parameter']],
  ['/timesheets?status=done', ['enum']],
  ['/requisitions/recruitment-metrics?groupBy=month,moon', ['enum']],
  ['/timesheets?from=2026-02-30', ['date']],
  ['/timesheets?to=1.1.2026', ['date']],
  ['/timesheets?worker=a%20b', ['bad-parameter']],
  ['/timesheets?limit=500&status=done', ['limit', 'enum']],
  ['/companies/not%20an%20id', ['bad-request']],
  ['/nothing', ['unknown-path']],
  ['/timesheets?limit=200&page=1&status=pending&from=2026-01-01', []],
  ['/expenses/unknown', []],
])('GET %s is %j', async (path, expected) => {
  const { sandbox, kinds } = await watched()
  await sandbox.get(path)
  expect([...kinds()].sort()).toEqual([...expected].sort())
})

it('counts a missing key and a wrong method, but no invalid key', async () => {
  const { sandbox, kinds } = await watched()
  await fetch(`${sandbox.url}/me`)
  await sandbox.get('/me', 'nonsense')
  await sandbox.send('DELETE', '/timesheets')
  expect(kinds()).toEqual(['key-missing', 'method'])
})

it('counts requests over the limit, and requests before the end of Retry-After', async () => {
  const { at, sandbox, kinds } = await watched({ rateLimitPerMinute: 1 })
  await sandbox.get('/me')
  await sandbox.get('/me')
  expect(kinds()).toEqual(['over-limit'])
  // Another request may have been on its way; the same one cannot.
  await sandbox.get('/timesheets')
  expect(kinds()).toEqual(['over-limit', 'over-limit'])
  await sandbox.get('/timesheets')
  expect(kinds().slice(2)).toEqual(['told-to-wait', 'over-limit'])
  at.ms += 9_999
  await sandbox.get('/companies')
  expect(kinds().slice(4)).toEqual(['told-to-wait', 'over-limit'])
  at.ms += 1
  await sandbox.get('/timesheets')
  expect(kinds()).toHaveLength(6)
})

it.each(['date', 'absent'] as const)('follows Retry-After in the form %s', async retryAfter => {
  const options = { 'retry-after': retryAfter }
  const { at, sandbox, kinds } = await watched({ rateLimitPerMinute: 1, options })
  await sandbox.get('/me')
  const told = (await sandbox.get('/me')).headers.get('retry-after')
  expect(told).toBe(retryAfter === 'date' ? 'Mon, 02 Nov 2026 10:01:00 GMT' : null)
  at.ms += 1_000
  await sandbox.get('/companies')
  expect(kinds()).toEqual(['over-limit', 'told-to-wait', 'over-limit'])
  at.ms += 9_000
  expect((await sandbox.get('/me')).status).toBe(200)
  expect(kinds()).toHaveLength(3)
})

it('applies the same rules during a storm of 429', async () => {
  const { at, sandbox, kinds } = await watched({ faults: { 'limit-storm': 1 } })
  const told = Number((await sandbox.get('/me')).headers.get('retry-after'))
  at.ms += told * 1000
  await sandbox.get('/me')
  expect(kinds()).toEqual([])
  await sandbox.get('/me')
  expect(kinds()).toEqual(['told-to-wait'])
})

it('checks every test: each opens its sandboxes through openSandbox or keptSandbox', () => {
  const root = new URL('../..', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.startsWith('bench'),
  )
  const opening = files.filter(name =>
    /start(Faulty)?Sandbox\(/.test(readFileSync(new URL(name, root), 'utf8')),
  )
  expect(opening.toSorted()).toEqual([
    'fault-layer/start.ts',
    'sandbox/open-sandbox.ts',
    'simulation/service.ts',
    'torture/arena.ts',
  ])
})
