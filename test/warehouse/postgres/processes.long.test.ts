/** Eight programs sync with one key: the service sees no request too many in any 60 s, and the day is used exactly. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { database } from '../../support/postgres-database.ts'
import { startSync } from './sync-process.ts'

const resources = [
  'timesheets',
  'expenses',
  'invoices',
  'metric-rows',
  'competency-matrix',
  'projects',
  'sites',
  'users',
]

const minuteMs = 60_000

/** Requests in the fullest minute that begins with any of them. */
const fullest = (times: readonly number[]): number =>
  Math.max(...times.map(at => times.filter(other => other >= at && other < at + minuteMs).length))

interface Limits {
  readonly rateLimitPerMinute: number
  readonly rateLimitPerDay: number
}

async function eight(limits: Limits) {
  const { url: warehouse, drop } = await database()
  const arrived: number[] = []
  const sandbox = await openSandbox({ ...limits, onRequest: () => void arrived.push(Date.now()) })
  const landing = mkdtempSync(join(tmpdir(), 'muster-eight-'))
  const place = { url: sandbox.url, warehouse, landing }
  // Only one of them can make the tables: the others would wait for it, which is not what is asked here.
  const first = await startSync(place, 'key').ended
  const before = arrived.length
  const ends = await Promise.all(resources.map(resource => startSync(place, resource).ended))
  return { first, before, arrived, ends, drop }
}

test('the minute', async () => {
  const perMinute = 40
  const { first, arrived, ends, drop } = await eight({
    rateLimitPerMinute: perMinute,
    rateLimitPerDay: 5_000,
  })
  expect([first.code, ...ends.map(({ code }) => code)]).toEqual(Array(9).fill(0))
  console.log(
    `${arrived.length} requests in ${Math.round(((arrived.at(-1) ?? 0) - (arrived[0] ?? 0)) / 1000)} s, ${fullest(arrived)} of ${perMinute} in the fullest minute`,
  )
  expect(arrived.length).toBeGreaterThan(2 * perMinute)
  expect(fullest(arrived)).toBeLessThanOrEqual(perMinute)
  await drop()
}, 900_000)

test('the day', async () => {
  const perDay = 100
  const { arrived, ends, drop } = await eight({ rateLimitPerMinute: 2_000, rateLimitPerDay: perDay })
  expect(ends.some(({ code }) => code === 75)).toBe(true)
  console.log(`${arrived.length} of ${perDay} requests: a tenth each is kept for webhooks and reconciliation`)
  // The nine questions to /me have used up the twentieth that is the operator's.
  expect(arrived).toHaveLength(perDay - perDay / 5)
  await drop()
}, 120_000)
