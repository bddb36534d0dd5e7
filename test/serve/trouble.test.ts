/** What cannot be stored is not acknowledged; what was begun before a crash is brought in; a command may have the file. */
import { appendFileSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openEventLog } from '../../src/events/event-log.ts'
import { groupCommit } from '../../src/events/group-commit.ts'
import { openIntake } from '../../src/events/intake.ts'
import { Room } from '../../src/events/room.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createEngineHandle } from '../../src/serve/engine-handle.ts'
import { pollInterval } from '../../src/serve/inbox-worker.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { onServer } from '../support/postgres-database.ts'
import { useEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

const still = { quietMs: 600_000, latestMs: 600_000 }

describe('an inbox that fails', () => {
  const made = useEngines()

  test('is answered 503 until it is there again, and every acknowledged event is stored', async () => {
    const warehouse = await made.duckdb()
    const folder = join(warehouse.landing, '..', 'test.inbox')
    const running = await served(warehouse, { intervals: still })
    // A file where the folder was: no user may make another in it, root included.
    rmdirSync(folder)
    writeFileSync(folder, '')
    const health = async () => {
      const answer = await fetch(running.health)
      return { status: answer.status, body: (await answer.json()) as { events: { failed: number } } }
    }
    const delivery = signed(eventBody('evt_1'))
    expect(await Promise.all([post(running.url, delivery), post(running.url, delivery)])).toEqual([503, 503])
    expect(await health()).toMatchObject({ status: 503, body: { events: { failed: 2 } } })
    rmSync(folder)
    mkdirSync(folder)
    expect(await post(running.url, delivery)).toBe(202)
    await expect.poll(async () => (await health()).status).toBe(200)
    await running.stop()
    expect(await warehouse.engine.rows('select event_id, deliveries as n from ops.inbox')).toEqual([
      { event_id: 'evt_1', n: 1 },
    ])
    expect(running.log.join()).toContain('ENOTDIR')
  })
})

describe('a server that ends every session', () => {
  const made = useEngines()

  test('is found again: events are refused for a moment, and none is lost', async () => {
    const warehouse = await made.postgres()
    const running = await served(warehouse, { intervals: still })
    expect(await post(running.url, signed(eventBody('evt_1')))).toBe(202)
    const database = new URL(warehouse.address).pathname.slice(1)
    await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`)
    const statuses: number[] = []
    while (statuses.at(-1) !== 202 && statuses.length < 20) {
      statuses.push(await post(running.url, signed(eventBody('evt_2'))))
      await wait(20)
    }
    expect(statuses.at(-1)).toBe(202)
    expect(statuses.slice(0, -1).every(status => status === 503)).toBe(true)
    await running.stop()
    expect(await warehouse.engine.rows('select event_id from star.fact_webhook_event order by 1')).toEqual([
      { event_id: 'evt_1' },
      { event_id: 'evt_2' },
    ])
  })
})

describe('the log beside a file', () => {
  const made = useEngines()

  test('of a process that died is brought in, but for the line that it did not finish', async () => {
    const warehouse = await made.duckdb()
    const folder = join(warehouse.landing, '..', 'test.inbox')
    const earlier = await served(warehouse, { intervals: still })
    await earlier.stop()
    mkdirSync(folder, { recursive: true })
    const line = (id: string): string =>
      `${JSON.stringify({ id, type: 'invoice_paid', entity: 'invoice', recordId: 'i1', createdAt: null, receivedAt: '2026-11-21T05:00:00.000Z', state: 'new', payload: null })}\n`
    writeFileSync(join(folder, '000000000007.ndjson'), line('evt_a') + line('evt_b'))
    writeFileSync(join(folder, '000000000008.ndjson'), line('evt_b') + line('evt_c').slice(0, 40))
    writeFileSync(join(folder, '000000000009.ndjson'), line('evt_d').slice(0, 10))
    writeFileSync(join(folder, '000000000010.ndjson'), '')
    const later = await served(warehouse, { intervals: still })
    expect(await post(later.url, signed(eventBody('evt_e')))).toBe(202)
    await later.stop()
    expect(await warehouse.engine.rows('select event_id, deliveries as n from ops.inbox order by 1')).toEqual(
      [
        { event_id: 'evt_a', n: 1 },
        { event_id: 'evt_b', n: 2 },
        { event_id: 'evt_e', n: 1 },
      ],
    )
    expect(readdirSync(folder)).toEqual([])
  })

  test('holds what came while a command had the file for hours, and each event becomes one row', async () => {
    const warehouse = await made.duckdb()
    const folder = join(warehouse.landing, '..', 'test.inbox')
    mkdirSync(folder, { recursive: true })
    const lines = Array.from({ length: 12_000 }, (_, index) =>
      JSON.stringify({
        id: `evt_${index}`,
        type: 'trade_amended',
        entity: 'trade',
        recordId: `t${index % 300}`,
        createdAt: null,
        receivedAt: '2026-11-21T05:00:00.000Z',
        state: 'new',
        payload: null,
      }),
    )
    writeFileSync(join(folder, '000000000001.ndjson'), `${lines.join('\n')}\n`)
    const running = await served(warehouse, { intervals: still })
    await running.stop()
    const [facts] = await warehouse.engine.rows<{ n: number; ids: number }>(
      'select count(*) as n, count(distinct event_id) as ids from star.fact_webhook_event',
    )
    expect([Number(facts?.n), Number(facts?.ids)]).toEqual([12_000, 12_000])
    const [due] = await warehouse.engine.rows<{ n: number; signals: number }>(
      'select count(*) as n, sum(signals) as signals from ops.discovered',
    )
    expect([Number(due?.n), Number(due?.signals)]).toEqual([300, 12_000])
  })

  test('goes on in another file once it was sealed, and after those of the process before', async () => {
    const warehouse = await made.duckdb()
    const folder = join(warehouse.landing, '..', 'other.inbox')
    const event = { id: 'e', type: 't' } as InboxEvent
    const log = openEventLog(folder)
    await log.append([event])
    expect(await log.seal()).toEqual([join(folder, '000000000001.ndjson')])
    await log.append([event, event])
    await log.close()
    appendFileSync(join(folder, 'README'), 'not ours')
    const next = openEventLog(folder)
    await next.append([event])
    expect((await next.seal()).map(file => file.slice(-13))).toEqual(
      ['1', '2', '3'].map(number => `00000${number}.ndjson`),
    )
    await next.close()
  })
})

describe('intake', () => {
  const event = (id: string): InboxEvent => ({
    id,
    type: 'x',
    entity: null,
    recordId: null,
    createdAt: null,
    receivedAt: '2026-11-21T05:00:00.000Z',
    state: 'new',
    payload: null,
  })

  test('stores what comes together by one write, and a repetition not at all', async () => {
    const groups: string[][] = []
    const intake = openIntake(
      async events => {
        groups.push(events.map(({ id }) => id))
        await wait(20)
        return []
      },
      new Room({ events: 1000, bytes: 1e6 }),
    )
    const ids = Array.from({ length: 500 }, (_, index) => `e${index}`)
    await Promise.all([...ids, ...ids].map(id => intake.take(event(id))))
    await intake.take(event('e1'))
    expect(groups.flat().sort()).toEqual([...ids].sort())
    expect(groups.length).toBeLessThanOrEqual(2)
    expect(intake.repetitions().get('e1 x ')).toBe(2)
    expect(intake.repetitions().size).toBe(0)
  })

  test('refuses when too many wait, and takes again afterwards', async () => {
    let release: () => void = () => undefined
    const groups = groupCommit<number>(() => new Promise(resolve => (release = resolve)))
    const first = groups.add(0)
    await wait(5)
    const waiting = Array.from({ length: 20_000 }, (_, index) => groups.add(index))
    await expect(groups.add(1)).rejects.toThrow('wait to be stored')
    const done = Promise.all([first, ...waiting])
    const pump = setInterval(() => release(), 1)
    await done
    await Promise.all([groups.add(2), groups.onIdle()])
    clearInterval(pump)
  })
})

describe('a DAG that is due', () => {
  const made = useEngines()

  test('has the warehouse for itself, while events are still taken', async () => {
    const warehouse = await made.duckdb()
    // A third of a second before the full minute.
    const shift = 59_700 - (Date.now() % 60_000)
    const clock = { ...systemClock, now: () => Date.now() + shift }
    const seen: (number | string)[] = []
    const heldNow = async (): Promise<number> => {
      const [row] = await warehouse.engine.rows<{ n: number }>('select count(*) as n from ops.inbox')
      return Number(row?.n)
    }
    const running = await served(warehouse, {
      intervals: still,
      clock,
      schedule: [{ name: 'nightly', schedule: '* * * * *' }],
      runDag: async name => {
        seen.push(name, await post(running.url, signed(eventBody('evt_1'))))
        await wait(200)
        seen.push(await heldNow())
        return 0
      },
    })
    for (let tries = 0; tries < 40 && (await heldNow()) === 0; tries += 1) await wait(50)
    expect([...seen, await heldNow()]).toEqual(['nightly', 202, 0, 1])
    expect(running.log.filter(line => line.includes('DAG'))).toHaveLength(1)
  })

  test('finds the file closed, which is opened again afterwards', async () => {
    const steps: string[] = []
    const open = async () => {
      steps.push('open')
      return {
        kind: 'duckdb',
        isShared: false,
        close: async () => void steps.push('close'),
      } as unknown as Engine
    }
    const handle = createEngineHandle(open)
    await Promise.all([
      handle.use(async () => void steps.push('use')),
      handle.whileReleased(async () => void steps.push('away')),
      handle.use(async () => void steps.push('use')),
    ])
    await handle.close()
    expect(steps).toEqual(['open', 'use', 'close', 'away', 'open', 'use', 'close'])
  })
})

test('reads for events last the day: a tenth of what is left, spread over the rest of it', () => {
  const noon = Date.UTC(2026, 10, 21, 12)
  expect(pollInterval({ requests: 3, remainingToday: 1_000_000, at: noon }, 60_000)).toBe(60_000)
  // 12 hours for 300 requests, three at a time.
  expect(pollInterval({ requests: 3, remainingToday: 3000, at: noon }, 60_000)).toBe(432_000)
  expect(pollInterval({ requests: 3, remainingToday: 0, at: noon }, 60_000)).toBe(3_600_000)
})
