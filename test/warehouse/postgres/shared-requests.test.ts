/** Several processes share one key: they never exceed the limits of a minute or a day, and use them up. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import { type Purpose, reserves } from '../../../src/api/budget/day.ts'
import { type Client, createClient } from '../../../src/api/client/client.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { BudgetSpent } from '../../../src/lib/errors.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { migrate } from '../../../src/state/migrate.ts'
import { type KeyRequests, shareRequests } from '../../../src/state/requests/key-requests.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { thorough } from '../../support/long-suite.ts'
import { type Database, database } from '../../support/postgres-database.ts'

const windowMs = 2_000
const perMinute = 60
const key = { keyId: 'k', perMinute, perDay: 5_000, reserves: reserves, windowMs, slackMs: 1_000 }

let made: Database
let engine: Engine
let scratch: string
const sharing: KeyRequests[] = []

beforeAll(async () => {
  made = await database()
  scratch = mkdtempSync(join(tmpdir(), 'muster-shared-'))
  engine = await openPostgres({ url: made.url, shown: 'test' }, { scratch })
  await migrate(engine, '2026-11-03T00:00:00.000Z')
})
afterEach(async () => {
  for (const one of sharing.splice(0)) await one.close()
  await engine.run('delete from ops.request_budget')
})
afterAll(async () => {
  await engine.close()
  await made.drop()
  rmSync(scratch, { recursive: true, force: true })
})

/** What a process has of its own: a session with the server. */
async function share(change: Partial<typeof key> = {}): Promise<KeyRequests> {
  const shared = await shareRequests(engine, { ...key, ...change })
  if (!shared) throw new Error('PostgreSQL shares requests')
  sharing.push(shared)
  return shared
}

/** A minute of this sandbox is the window of the budget. */
function fastClock(): { now(): number; sleep: typeof systemClock.sleep } {
  const start = Date.now()
  const noon = Date.UTC(2026, 10, 3, 12)
  return {
    now: () => noon + ((Date.now() - start) * 60_000) / windowMs,
    sleep: systemClock.sleep,
  }
}

/** Requests in the fullest window. */
const fullest = (times: readonly number[]): number =>
  Math.max(...times.map(at => times.filter(other => other >= at && other < at + windowMs).length))

async function readUntilSpent(client: Client, purpose: Purpose): Promise<unknown> {
  try {
    for (;;) await client.getPage('/companies', {}, { purpose })
  } catch (error) {
    return error
  }
}

test.runIf(thorough)(
  '8 on one key: the minute is kept, the day is used up to the last request, reserves included',
  async () => {
    const arrived: number[] = []
    const sandbox = await openSandbox({
      scale: 0.01,
      clock: fastClock(),
      rateLimitPerMinute: perMinute,
      rateLimitPerDay: 120,
      onRequest: () => void arrived.push(Date.now()),
    })
    const statuses: number[] = []
    const clients = await Promise.all(
      Array.from({ length: 8 }, async () =>
        createClient({
          baseUrl: sandbox.url,
          apiKey: sandboxKeys.company,
          clock: systemClock,
          rng: () => 0,
          budget: createBudget({ clock: systemClock, shared: await share() }),
          onRequest: ({ status }) => void statuses.push(status ?? 0),
        }),
      ),
    )
    const ends = await Promise.all(clients.map(client => readUntilSpent(client, 'sync')))
    expect(ends.map(end => end instanceof BudgetSpent)).toEqual(Array(8).fill(true))
    // A tenth each is for webhooks and reconciliation; the eight questions to /me have used the operator's own part.
    expect(arrived).toHaveLength(120 - 12 - 12)
    await Promise.all(clients.map(client => readUntilSpent(client, 'webhook')))
    expect(arrived).toHaveLength(120 - 12)
    await Promise.all(clients.map(client => readUntilSpent(client, 'reconcile')))
    expect(arrived).toHaveLength(120)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(fullest(arrived)).toBeLessThanOrEqual(perMinute)
    expect(fullest(arrived)).toBeGreaterThan(perMinute / 2)
    await Promise.all(clients.map(client => client.close()))
  },
  20_000,
)

describe('slots', () => {
  test('of 8 concurrent sessions are spread out after the first burst', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => share()))
    const startedAt = Date.now()
    const due = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        const slot = await all[index % 8]?.take('operator')
        return Date.now() + (slot?.waitMs ?? Number.NaN)
      }),
    )
    due.sort((one, other) => one - other)
    expect(due[0]).toBeLessThan(startedAt + 1_000)
    expect(fullest(due)).toBeLessThanOrEqual(perMinute)
    // 80 slots of 3.04 s / 60.
    expect((due[79] ?? 0) - startedAt).toBeGreaterThan(79 * 50.6 - 41)
  })

  test('that a dead process took expire and block no other process', async () => {
    const [dying, living] = [await share(), await share()]
    for (let n = 0; n < 5; n++) await dying.take('sync')
    await dying.close()
    expect((await living.take('sync'))?.waitMs).toBeLessThan(6 * 51)
  })

  test('do not wait for a transaction that loads rows', async () => {
    const shared = await share()
    await engine.transaction(async engine => {
      await engine.run(`update ops.watermark set watermark = 'x'`)
      expect(await shared.take('sync')).toBeDefined()
    })
  })
})

describe('the day', () => {
  const me = (requestsToday: number) => ({
    rateLimitPerMinute: perMinute,
    rateLimitPerDay: 100,
    usage: { requestsToday, remainingToday: 100 - requestsToday },
  })

  test('counts the requests of other programs', async () => {
    const shared = await share()
    await shared.take('operator')
    await shared.learnLimits(me(60))
    await shared.take('sync')
    // 60 of others, 2 of ours.
    expect(shared.figures).toMatchObject({ perDay: 100, remaining: 38 })
  })

  test('gives events their share and no more, whichever process asks', async () => {
    const [one, other] = [await share({ perDay: 100 }), await share({ perDay: 100 })]
    const slots: unknown[] = []
    for (let turns = 0; turns < 8; turns += 1)
      slots.push(await one.take('webhook'), await other.take('webhook'))
    expect(slots.filter(slot => slot !== undefined)).toHaveLength(10)
    expect(slots.slice(0, 10)).not.toContain(undefined)
    expect(await one.take('sync')).toBeDefined()
    expect(one.figures).toMatchObject({ remaining: 89, forEvents: 0 })
  })

  test('begins again with the UTC day of the server', async () => {
    const shared = await share()
    await shared.learnLimits(me(0))
    await engine.run('update ops.request_budget set day = day - 1, sync = 99, others = 5')
    expect(await shared.take('sync')).toBeDefined()
    expect(shared.figures.remaining).toBe(99)
  })

  test.each([
    ['the next slot lies two hours ahead', `next_at = clock_timestamp() + interval '2 hours'`],
    [
      'it was last written a minute ahead of now',
      `next_at = clock_timestamp() + interval '70 seconds', noted_at = clock_timestamp() + interval '1 minute'`,
    ],
    ['its day is tomorrow, and spent', 'day = day + 1, sync = 5000'],
  ])('drops what is ahead of the clock of the server: %s', async (_name, set) => {
    const shared = await share()
    await shared.take('sync')
    await engine.run(`update ops.request_budget set ${set}`)
    expect((await shared.take('sync'))?.waitMs).toBeLessThan(2_000)
    expect(shared.figures.remaining).toBeGreaterThan(4_000)
  })

  test('keeps the pause that was said last, also when it is shorter', async () => {
    const shared = await share()
    await shared.pause(600_000)
    expect(await shared.pausedFor()).toBeGreaterThan(500_000)
    await shared.pause(2_000)
    expect(await shared.pausedFor()).toBeLessThan(2_001)
    expect((await shared.take('sync'))?.waitMs).toBeLessThan(2_001)
  })

  test('gets back a request that was not sent', async () => {
    const shared = await share({ perDay: 1 })
    expect(await shared.take('sync')).toBeDefined()
    expect(await shared.take('sync')).toBeUndefined()
    await shared.giveBack('sync')
    expect(await shared.take('sync')).toBeDefined()
  })
})

test('a late slot is not used: a process that was stopped sends nothing out of turn', async () => {
  const shared = await share()
  let now = Date.now()
  let stops = 1
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms + (stops-- > 0 ? 60_000 : 0)
    },
  }
  const budget = createBudget({ clock, shared })
  for (let n = 0; n < 4; n++) await budget.take('sync')
  const [row] = await engine.rows<{ sync: number }>('select sync from ops.request_budget')
  expect([stops < 0, row?.sync, budget.usage().requestsThisRun]).toEqual([true, 4, 4])
})
