/** Told to wait, nobody calls before the time is up: not this run, and not the next one either. */
import { expect, test } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster } from '../support/captured-world.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const perMinute = 10

/** Half a minute past noon: 29 s are left of the service's minute. */
function virtual(): Clock & { readonly slept: number[] } {
  let at = Date.UTC(2026, 10, 3, 12, 0, 31)
  const slept: number[] = []
  return {
    slept,
    now: () => at,
    sleep: async ms => {
      slept.push(ms)
      at += ms
    },
  }
}

/** Another program on the key has spent the minute; it keeps the contract up to there. */
async function spent(retryAfter: 'seconds' | 'absent') {
  const clock = virtual()
  const sandbox = await keptSandbox({
    records: plainRecords({ timesheets: 3 }),
    clock,
    rateLimitPerMinute: perMinute,
    options: { 'retry-after': retryAfter },
    // The first 429 is nobody's fault: Muster cannot know of the other program.
    provokesByMuster: ['over-limit'],
  })
  for (let request = 0; request < perMinute; request += 1)
    await fetch(`${sandbox.url}/me`, { headers: { authorization: `Bearer ${sandboxKeys.company}` } })
  const waited = () => sandbox.violations().filter(({ kind }) => kind === 'told-to-wait')
  return { clock, sandbox, waited }
}

describeOnEngines('a pause that the service asked for', bench => {
  test.each(['seconds', 'absent'] as const)('is kept by the next run, Retry-After %s', async retryAfter => {
    const { clock, sandbox, waited } = await spent(retryAfter)
    const warehouse = await bench.warehouse()
    const request = { resources: ['timesheets'] }
    const limits = { deadline: clock.now() + 2_000 }
    const first = await syncOnce(sandbox, warehouse, { request: { ...request, limits }, effects: { clock } })
    expect(first.failure).toBeInstanceOf(BudgetSpent)
    expect(first.failure?.message).toContain('deadline')
    await warehouse.close()
    await warehouse.open()
    expect(clock.slept).toEqual([])
    const second = await syncOnce(sandbox, warehouse, { request, effects: { clock, rng: () => 0.5 } })
    expect([second.failure, waited()]).toEqual([undefined, []])
    // On a server the pause is its own time, which this test's clock sleeps away at once.
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(
      bench.name === 'duckdb' ? 28_000 : 20_000,
    )
  })
})

test('a command that is no run keeps to it too, and its requests are in the ledger', async () => {
  const { clock, sandbox, waited } = await spent('seconds')
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
  const synced = await muster('sync timesheets --quiet --deadline 5s', { env, clock, rng: () => 0 })
  expect([synced.code, clock.slept]).toEqual([75, []])
  const world = { env, clock, rng: () => 0, cwd: synced.cwd }
  expect((await muster('get me', world)).code).toBe(0)
  expect([waited(), clock.slept.length]).toEqual([[], 1])
  const { out } = await muster('sql --json select sum(requests) as n from ops.sent', world)
  // One of the sync; of `get`, the question about the key and the record.
  expect(JSON.parse(out)).toEqual([{ n: 3 }])
})
