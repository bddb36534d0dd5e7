/** In which order a run reads records by id, how far its requests go, and what it says when they end. */
import { describe, expect, test } from 'vitest'
import { KeyRefused } from '../../../src/api/client/errors.ts'
import { BudgetSpent } from '../../../src/lib/errors.ts'
import type { DueId } from '../../../src/state/by-id/due.ts'
import { ByIdRun, type OpenResource } from '../../../src/sync/by-id/by-id.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import {
  hour,
  type KnownId,
  knownIds,
  type RulesTask,
  rulesTasks,
  starRows,
  type TaskParts,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_trade', 'dim_rate')
const names = ['trades', 'rates'] as const

interface Case {
  /** What a read throws, if anything, after this many reads of the resource. */
  readonly read?: (resource: string, due: readonly DueId[]) => Error | undefined
  readonly resume?: Error
  readonly inAll?: number
  readonly refresh?: number
  readonly onlySignalled?: boolean
  readonly usage?: object
  readonly parts?: TaskParts
}

/** Runs with readers that only note what they are asked for; each id costs one request. */
async function run({ read, resume, usage = {}, parts = {}, ...plan }: Case = {}) {
  const { inAll = Number.POSITIVE_INFINITY, refresh = inAll, onlySignalled = false } = plan
  let requestsThisRun = 7
  const log: string[] = []
  const reads: DueId[] = []
  const counted = () => ({ requestsThisRun, ...usage })
  const tasks: RulesTask[] = []
  const opened: OpenResource[] = []
  for (const name of names) {
    const task = tasks[0]
      ? { ...(await sharing(tasks[0], name)) }
      : await newTask(resourceOf(name), () => undefined, { usage: counted, ...parts })
    tasks.push(task)
    opened.push({
      locked: { task, end: async () => undefined as never },
      asked: new Set(),
      reader: {
        async resume() {
          log.push(`resume ${name}`)
          if (resume && name === 'trades') throw resume
        },
        async read(due) {
          log.push(`${name} ${due.map(({ record_id: id }) => id).join(' ')}`)
          reads.push(...due)
          requestsThisRun += due.length
          task.counters.requests += due.length
          const error = read?.(name, due)
          if (error) throw error
        },
        async close() {
          log.push(`close ${name}`)
        },
      },
    })
  }
  const [first] = tasks as [RulesTask]
  const allowance = { inAll, refresh }
  await new ByIdRun(first.sync, opened, { allowance, onlySignalled, purpose: 'sync' }).run()
  const read_ = log.filter(line => !/^(resume|close)/.test(line))
  const failures = opened.map(({ failure }) => failure?.error)
  return { log, reads: read_, ids: reads, failures, events: first.events, tasks }
}
async function sharing(task: RulesTask, name: string): Promise<RulesTask> {
  return { ...task, resource: resourceOf(name), counters: { ...task.counters, requests: 0, note: null } }
}

const known = (resource: string, ids: readonly string[], parts: KnownId = {}) =>
  knownIds(warehouse, { resource, ids }, parts)
const many = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, n) => `${name}${String(n).padStart(3, '0')}`)
const stored: KnownId = { state: 'stored', fetchedAt: hour(-40 * 24), fetches: 1 }

describe('the order', () => {
  test('what a killed run landed is loaded first, and what was read is closed last', async () => {
    const { log } = await run()
    expect(log).toEqual(['resume trades', 'resume rates', 'close trades', 'close rates'])
  })

  test('new ids in turns: ten of each resource at first, then up to 500', async () => {
    await known('trades', many(515, 't'))
    await known('rates', many(12, 'r'))
    const { reads } = await run()
    expect(reads.map(line => [line.split(' ')[0], line.split(' ').length - 1])).toEqual([
      ['trades', 10],
      ['rates', 10],
      ['trades', 490],
      ['rates', 2],
    ])
  })

  test('new ids, then those that only events name, then stored records', async () => {
    await known('trades', ['t-new'])
    await known('trades', ['t-event'], { source: 'event trade_created' })
    await known('trades', ['t-old'], stored)
    const { reads, ids } = await run()
    expect(reads).toEqual(['trades t-new', 'trades t-event', 'trades t-old'])
    expect(ids.map(({ isForEvents = false }) => isForEvents)).toEqual([false, true, false])
  })

  test('new ids that the stored records named come in the same run', async () => {
    await known('trades', ['t-old'], stored)
    let isNamed = false
    const { reads } = await run({
      read: () => {
        if (!isNamed) void known('rates', ['r-new'])
        isNamed = true
        return undefined
      },
    })
    expect(reads).toEqual(['trades t-old', 'rates r-new'])
  })

  test('a stored record that was asked for is not asked for again, nor one that stays due', async () => {
    await known('trades', ['t-new'])
    const { reads } = await run()
    expect(reads).toEqual(['trades t-new'])
  })

  test('of a run for events is what they announced, and nothing else', async () => {
    await known('trades', ['t-new'])
    await known('trades', ['t-told'], { ...stored, signals: 1 })
    await known('trades', ['t-event'], { source: 'event trade_created', signals: 1 })
    await known('trades', ['t-old'], stored)
    const { log, events } = await run({ onlySignalled: true })
    expect(log.filter(line => line.startsWith('trades'))).toEqual(['trades t-told t-event'])
    expect(events.filter(({ state }) => state === 'waiting')).toEqual([])
  })
})

describe('requests', () => {
  test.each([
    ['the allowance of the run', { inAll: 2 }],
    ['what may still be spent', { inAll: 100, usage: { spendable: 2 } }],
  ])('end with %s', async (...[, parts]) => {
    await known('trades', many(5, 't'))
    await known('rates', many(5, 'r'))
    const { reads, failures, tasks } = await run(parts)
    expect(reads[0]).toBe('trades t000 t001')
    if ('usage' in parts) return
    expect(reads).toHaveLength(1)
    expect(failures).toEqual([expect.any(BudgetSpent), expect.any(BudgetSpent)])
    expect(failures[0]).toMatchObject({
      report: { what: expect.stringMatching(/^trades: 5 never fetched, as the other/) },
    })
    expect(tasks.map(({ counters }) => counters.note)).toEqual(['5 never fetched', '5 never fetched'])
  })

  test('have no limit of the run where another purpose pays', async () => {
    await known('trades', many(5, 't'))
    const { reads } = await run({ usage: { spendable: 2 } })
    expect(reads).toEqual(['trades t000 t001 t002 t003 t004'])
  })

  test('that are spent while reading end the run, as its error says', async () => {
    await known('trades', many(12, 't'))
    await known('rates', ['r-new'])
    const spent = new BudgetSpent({ what: 'the day is over' })
    const { reads, failures } = await run({ inAll: 100, read: () => spent })
    expect(reads).toHaveLength(1)
    expect(failures).toMatchObject([
      { report: { what: 'trades: 12 never fetched, as the day is over' } },
      { report: {} },
    ])
  })

  test('that end while ids of events are read, end the run; with none of those left they do not', async () => {
    await known('trades', ['t-event'], { source: 'event trade_created' })
    const spent = new BudgetSpent({ what: 'the service says so' })
    const { failures } = await run({ inAll: 100, read: () => spent })
    const what = 'trades: 1 named by events only, which have a share of the day, as the service says so'
    expect(failures).toMatchObject([{ report: { what } }, undefined])
    expect((await run({ inAll: 100 })).failures).toEqual([undefined, undefined])
  })

  test('that are refused are the reason, if there is one', async () => {
    await known('trades', many(5, 't'))
    const refusal = new BudgetSpent({ what: 'the run was paused' })
    const { failures } = await run({ inAll: 2, parts: { refusal } })
    expect(failures[0]).toMatchObject({ report: { what: 'trades: 5 never fetched, as the run was paused' } })
  })

  test('that end where nothing waits are no failure', async () => {
    await known('trades', many(3, 't'), stored)
    const { reads, failures } = await run({ inAll: 2 })
    expect(reads).toHaveLength(1)
    expect(failures).toEqual([undefined, undefined])
  })

  test('that are spent on new ids leave stored records unrated', async () => {
    await known('trades', many(5, 't'))
    await known('trades', ['t-old'], stored)
    const { tasks } = await run({ inAll: 2 })
    expect(tasks.map(({ counters }) => counters.note)).toEqual(['5 never fetched', null])
  })

  test('that are left although records wait are no failure: a later run reads them', async () => {
    await known('trades', ['t-new'])
    const { failures, tasks } = await run({ inAll: 100 })
    expect(failures).toEqual([undefined, undefined])
    expect(tasks[0]?.counters.note).toBe('1 never fetched')
  })

  test.each([
    ['half of it', { usage: { leftForEvents: 80 } }, [30, 10]],
    ['all of few', { usage: { leftForEvents: 4 } }, [4]],
    ['half of the requests of the run', { inAll: 80 }, [30, 10]],
    ['none of none', { usage: { leftForEvents: 0 } }, []],
  ])('for events are a share of what is left: %s', async (...[, parts, expected]) => {
    await known('trades', many(30, 't'), { source: 'event trade_created' })
    await known('rates', many(30, 'r'), { source: 'event rate_created' })
    const { reads } = await run(parts)
    expect(reads.map(line => line.split(' ').length - 1)).toEqual(expected)
  })

  test('for stored records are those that are paced', async () => {
    await known('trades', many(9, 't'), stored)
    const { reads } = await run({ inAll: 100, refresh: 4 })
    expect(reads.map(line => line.split(' ').length - 1)).toEqual([4])
  })

  test('for stored records are spent in turns of 500', async () => {
    await known('trades', many(501, 't'), stored)
    const { reads } = await run()
    expect(reads.map(line => line.split(' ').length - 1)).toEqual([500, 1])
  })
})

describe('a failure', () => {
  const bug = new Error('a bug')

  test('of one resource leaves the others alone, and closes both', async () => {
    await known('trades', many(12, 't'))
    await known('rates', many(12, 'r'))
    const { log, failures } = await run({ read: name => (name === 'trades' ? bug : undefined) })
    expect(log.filter(line => line.startsWith('trades'))).toHaveLength(1)
    expect(log.filter(line => line.startsWith('rates'))).toHaveLength(2)
    expect(log.slice(-2)).toEqual(['close trades', 'close rates'])
    expect(failures).toEqual([bug, undefined])
  })

  test('of what a killed run left keeps the resource from being read', async () => {
    await known('trades', ['t-new'])
    const { log, failures } = await run({ resume: bug })
    expect(log).not.toContain('trades t-new')
    expect(failures[0]).toBe(bug)
  })

  test('that every other resource would meet ends the run', async () => {
    await known('trades', ['t-new'])
    await known('rates', ['r-new'])
    const refused = new KeyRefused({ request: 'GET' })
    const { reads, failures } = await run({ read: () => refused })
    expect(reads).toEqual(['trades t-new'])
    expect(failures).toEqual([refused, undefined])
  })

  test('of counting the known ids keeps every resource from being read', async () => {
    await known('trades', ['t-new'])
    const { engine } = warehouse
    const counting = new Proxy(engine, {
      get: (_, name) =>
        name === 'rows'
          ? async (sql: string, values?: readonly string[]) => {
              if (sql.includes('group by d.resource, d.source')) throw bug
              return engine.rows(sql, values)
            }
          : Reflect.get(engine, name).bind?.(engine),
    })
    const { reads, failures } = await run({ parts: { sync: { engine: counting } } })
    expect(reads).toEqual([])
    expect(failures).toEqual([bug, bug])
  })

  test('of the first kind is kept when another follows', async () => {
    await known('trades', ['t-new'], { retryAfter: hour(-1) })
    await known('trades', ['t-later'], { retryAfter: hour(1) })
    const { failures } = await run({ read: () => bug })
    expect(failures[0]).toBe(bug)
  })

  test('of the service about some ids leaves the resource incomplete, and not a run for events', async () => {
    await known('trades', ['t-later'], { retryAfter: hour(1) })
    expect((await run()).failures[0]).toMatchObject({ message: expect.stringContaining('saw 0 of 1') })
    expect((await run({ onlySignalled: true })).failures).toEqual([undefined, undefined])
  })
})

test('a stopped run reads nothing', async () => {
  await known('trades', ['t-new'])
  await known('trades', ['t-old'], stored)
  const { reads } = await run({ parts: { sync: { signal: AbortSignal.abort() } } })
  expect(reads).toEqual([])
})

describe('a quarantined record', () => {
  const quarantined = (id: string) =>
    warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('${id}', 'trades', '${id}', '', '', '', '', 'before', timestamptz '${hour(-30)}')`,
    )

  test('is looked at once a day before all others, and the look is recorded', async () => {
    await quarantined('t-bad')
    await quarantined('t-worse')
    await known('trades', ['t-new'])
    const { reads } = await run()
    expect(reads).toEqual(['trades t-bad', 'trades t-new'])
    const [look] = await warehouse.rows(
      'select resource, looked_at, place, page, total from ops.quarantine_look',
    )
    expect({ ...look, page: Number(look?.page), total: Number(look?.total) }).toEqual({
      ...{ resource: 'trades', looked_at: hour(0), place: 't-bad', page: 1, total: 1 },
    })
  })

  test.each([
    ['if its id is not safe', 't bad', false],
    ['by a run for events', 't-bad', true],
  ])('is not looked at %s', async (...[, id, onlySignalled]) => {
    await quarantined(id)
    expect((await run({ onlySignalled })).reads).toEqual([])
    expect(await warehouse.rows('select * from ops.quarantine_look')).toEqual([])
  })
})

describe('observers are notified', () => {
  const heard = async (parts: Case = {}) =>
    (await run(parts)).events
      .filter(({ state }) => state === 'waiting')
      .map(({ resource, pagesTotal, pagesMost }) => [resource, pagesTotal, pagesMost])

  test('how many records will be read, before each turn', async () => {
    await known('trades', many(12, 't'))
    const events = await heard()
    expect(events.slice(0, 2)).toEqual([
      ['trades', 12, 12],
      ['rates', 0, 0],
    ])
    expect(events.length).toBeGreaterThan(4)
  })

  test('that stored records follow, as many as the rest of the requests will pay for', async () => {
    await known('trades', many(3, 't'))
    await known('rates', many(9, 'r'), stored)
    const events = await heard({ inAll: 8 })
    expect(events.slice(0, 2)).toEqual([
      ['trades', 3, 3],
      ['rates', 5, 5],
    ])
  })

  test('of stored records when nothing is new', async () => {
    await known('rates', many(9, 'r'), stored)
    const events = await heard({ inAll: 8 })
    expect(events.at(1)?.[1]).toBe(0)
    expect(events.at(3)).toEqual(['rates', 8, 8])
  })
})

test.each([
  ['stored records', false],
  ['records that events announced', true],
])('%s just fetched, a minute ago at most, are not fetched again', async (...[, onlySignalled]) => {
  await starRows(warehouse, { resource: resourceOf('trades'), ids: ['t-now', 't-ago'] })
  await known('trades', ['t-now'], { ...stored, signals: 1, fetchedAt: hour(-1 / 60) })
  await known('trades', ['t-ago'], { ...stored, signals: 1, fetchedAt: hour(-1.001 / 60) })
  expect((await run({ onlySignalled })).reads).toEqual(['trades t-ago'])
})
