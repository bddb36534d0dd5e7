/** Clocks that are wrong, jump, or differ between machines lose no record and hold up no run. */
import { expect, test } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Interception } from '../fault-layer/layer.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster } from '../support/captured-world.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const noon = Date.UTC(2026, 10, 3, 12)

/** The true time, which the service has, and machines that are wrong by so much. */
function world() {
  let now = noon
  const slept: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms)
    now += ms
  }
  const elapsed = (): number => now
  const service: Clock = { now: () => now, elapsed, sleep }
  return {
    service,
    slept,
    pass: (ms: number) => {
      now += ms
    },
    machine: (shift: number): Clock => ({ now: () => now + shift, elapsed, sleep }),
    /** Its clock is set after it was read so many times. */
    settling: (first: number, reads: number, later: number): Clock => {
      let read = 0
      return { now: () => now + (read++ < reads ? first : later), elapsed, sleep }
    },
  }
}

/** Three pages: the last minutes of changes reach back over all of them. */
const changes = () =>
  plainRecords({ timesheets: 450 }, { start: noon - 10 * minuteMs, minutesApart: 0.02 }).timesheets ?? []

const request = { resources: ['timesheets'] }

async function storedLate({ engine }: Warehouse): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from star.fact_timesheet where timesheet_id like 'late%'`,
  )
  return Number(row?.n)
}

/** Committed now, with times of some minutes ago, as a busy service does. */
function commitLate(sandbox: Awaited<ReturnType<typeof keptSandbox>>): void {
  const [pattern] = changes()
  for (const minutes of [9, 7, 5]) {
    const at = new Date(noon - minutes * minuteMs).toISOString()
    sandbox.world.upsert('timesheets', { ...pattern!, id: `late${minutes}`, createdAt: at, updatedAt: at })
  }
}

const shifts = [
  ['two days behind, then right', -2 * dayMs, 0],
  ['two hours behind, then right', -2 * hourMs, 0],
  ['right, then two hours ahead', 0, 2 * hourMs],
  ['right, then two days ahead', 0, 2 * dayMs],
  ['two days behind, then two days ahead', -2 * dayMs, 2 * dayMs],
] as const

describeOnEngines(
  'records that are committed late',
  bench => {
    test.each(shifts)('are read by machines whose clocks are %s', async (_name, first, later) => {
      const { service, machine, pass } = world()
      const sandbox = await keptSandbox({ records: { timesheets: changes() }, clock: service })
      const warehouse = await bench.warehouse()
      for (const shift of [first, later, later]) {
        const { failure } = await syncOnce(sandbox, warehouse, {
          request,
          effects: { clock: machine(shift) },
        })
        expect(failure).toBeUndefined()
        pass(minuteMs)
      }
      commitLate(sandbox)
      await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(later) } })
      expect(await storedLate(warehouse)).toBe(3)
    })

    test('are read when the clock is set in the middle of each run', async () => {
      const { service, settling, pass } = world()
      const sandbox = await keptSandbox({ records: { timesheets: changes() }, clock: service })
      const warehouse = await bench.warehouse()
      for (const reads of [3, 20, 60]) {
        const clock = settling(-2 * hourMs, reads, 2 * dayMs)
        expect((await syncOnce(sandbox, warehouse, { request, effects: { clock } })).failure).toBeUndefined()
        pass(minuteMs)
      }
      commitLate(sandbox)
      await syncOnce(sandbox, warehouse, { request, effects: { clock: settling(2 * dayMs, 9, 0) } })
      expect(await storedLate(warehouse)).toBe(3)
    })

    test.each([
      ['none', () => undefined],
      ['no date', () => 'soon'],
      ['1970', () => new Date(0).toUTCString()],
      ['9999', () => 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ])(
      'are read although the Date of the answers is %s and the clock two hours behind',
      async (_name, dateHeader) => {
        const { service, machine, pass } = world()
        const sandbox = await keptSandbox({ records: { timesheets: changes() }, clock: service, dateHeader })
        const warehouse = await bench.warehouse()
        for (const shift of [-2 * hourMs, 0, 0]) {
          await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(shift) } })
          pass(minuteMs)
        }
        commitLate(sandbox)
        await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(0) } })
        expect(await storedLate(warehouse)).toBe(3)
      },
    )

    test('cost nothing once twice the lookback has passed on the clock of the service, whatever the machine says', async () => {
      const { service, machine, pass } = world()
      const sandbox = await keptSandbox({ records: { timesheets: changes() }, clock: service })
      const warehouse = await bench.warehouse()
      const requests: number[] = []
      for (const shift of [2 * dayMs, -2 * dayMs, 0, 2 * hourMs]) {
        const run = await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(shift) } })
        requests.push(run.requests)
        pass(31 * minuteMs)
      }
      expect(requests.slice(1)).toEqual([4, 2, 2])
    })
  },
  'all',
)

/** One 429 that asks for two seconds. */
function limitedOnce(): () => Interception {
  let isOver = false
  return () => {
    if (isOver) return undefined
    isOver = true
    const body = JSON.stringify({
      success: false,
      error: { code: 'RATE_LIMITED', message: 'too many requests' },
    })
    return { status: 429, headers: { 'retry-after': '2' }, body }
  }
}

describeOnEngines(
  'a pause that was asked for',
  bench => {
    test.each([-2 * dayMs, -2 * hourMs, 2 * hourMs, 2 * dayMs])(
      'by a machine that was wrong by %s ms is no longer than what was said',
      async shift => {
        const { service, machine, slept } = world()
        const sandbox = await keptSandbox({
          records: plainRecords({ timesheets: 3 }),
          clock: service,
          intercept: limitedOnce(),
        })
        const warehouse = await bench.warehouse()
        const wrong = machine(shift)
        const limits = { deadline: wrong.now() + 1_000 }
        const stopped = await syncOnce(sandbox, warehouse, {
          request: { ...request, limits },
          effects: { clock: wrong },
        })
        expect(stopped.failure).toBeInstanceOf(BudgetSpent)
        const again = await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(0) } })
        expect(again.failure).toBeUndefined()
        // On a server the pause is its own time, which this clock sleeps away at once, again and again.
        const most = bench.name === 'duckdb' ? 4_000 : 12_000
        expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(most)
      },
    )

    test('is over for requests that were dated ahead of now, and their day with them', async () => {
      const { service, machine, slept, pass } = world()
      const sandbox = await keptSandbox({ records: plainRecords({ timesheets: 3 }), clock: service })
      const warehouse = await bench.warehouse()
      const ahead = Math.floor(noon / 1000) + 7_200
      await warehouse.engine.run(`insert into ops.sent values (${ahead}, 3000), (${ahead + 1}, 3000)`)
      const first = await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(0) } })
      await warehouse.engine.run(
        `update ops.request_budget set next_at = now() + interval '2 days', day = day + 1, sync = 50000`,
      )
      pass(1_000)
      const second = await syncOnce(sandbox, warehouse, { request, effects: { clock: machine(0) } })
      expect([first.failure, second.failure]).toEqual([undefined, undefined])
      expect(slept.filter(ms => ms > 1_000)).toEqual([])
      const left = await warehouse.engine.rows(`select * from ops.sent where second >= ${ahead}`)
      expect(left).toEqual([])
    })
  },
  'all',
)

test.each([
  [-2 * hourMs, '2 hours behind'],
  [2 * dayMs, '2 days ahead of'],
  [-90_000, '2 minutes behind'],
])('a clock that is wrong by %s ms is said by the summary of a run and by doctor', async (shift, said) => {
  const { service, machine, pass } = world()
  const sandbox = await keptSandbox({ records: plainRecords({ timesheets: 3 }), clock: service })
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
  const clock = machine(shift)
  const synced = await muster('sync timesheets', { env, clock })
  expect(synced.out + synced.err).toContain(`the clock of this machine is ${said} the service's`)
  pass(1_000)
  const doctor = await muster('doctor', { env, clock, cwd: synced.cwd })
  expect(doctor.out).toContain(`the clock of this machine is ${said} the service's`)
  const json = await muster('sync timesheets --json', { env, clock, cwd: synced.cwd })
  expect(JSON.parse(json.out).clockAheadMs).toBe(shift)
})

test('doctor shows a pause that the service asked for, and when it ends', async () => {
  const { service, pass } = world()
  const sandbox = await keptSandbox({
    records: plainRecords({ timesheets: 3 }),
    clock: service,
    intercept: limitedOnce(),
  })
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
  const { code, cwd } = await muster('sync timesheets --deadline 1s', { env, clock: service, rng: () => 0 })
  pass(500)
  const doctor = await muster('doctor', { env, clock: service, rng: () => 0, cwd })
  expect([code, doctor.code]).toEqual([75, 0])
  expect(doctor.out).toContain('the service asked to receive no request until 2026-11-03 12:00:02 UTC')
})
