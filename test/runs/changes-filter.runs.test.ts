/** A service that filters lists by their default date, whatever `dateField` it is asked to filter by. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { type DailyRuns, openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

const lists = ['timesheets', 'expenses'] as const
type List = (typeof lists)[number]

const day = (number: number): string => new Date(Date.UTC(2026, 9, 1 + number, 9)).toISOString()

/** A day apart, the last one the day before the first run; some changed long after they were created. */
function records(list: List, changedLate: number): WorldRecords {
  const { companies = [], [list]: plain = [] } = plainRecords({ [list]: 30 })
  const made = plain.map((record, n) => ({
    ...record,
    ...{ date: day(n), createdAt: day(n), updatedAt: n < changedLate ? day(20 + n) : day(n) },
  }))
  return { companies, [list]: made }
}

const requests = (ran: { readonly requests: readonly string[] }, list: List): string[] =>
  ran.requests.filter(one => one.startsWith(`/${list} `))

const isFiltered = (request: string): boolean => request.includes('"dateField":"updatedAt"')

describeOnEngines(
  'changes of old records',
  bench => {
    const stored = async (runs: DailyRuns, list: List): Promise<unknown> =>
      (
        await runs.rows(`select count(*) as n from star.fact_${list.slice(0, -1)} where status = 'approved'`)
      )[0]?.n

    /** Approves the oldest records, each on a day of its own; the requests of the next run. */
    async function approveOne(runs: DailyRuns, list: List, n: number): Promise<readonly string[]> {
      const { world } = runs.sandbox
      const [record] = world.all(list).filter(({ id }) => String(id).endsWith(`${n}`))
      world.upsert(list, {
        ...record,
        status: 'approved',
        updatedAt: new Date(runs.now()).toISOString(),
      } as never)
      const ran = await runs.nextDay(`sync ${list} --quiet`)
      expect([ran.code, ran.err]).toEqual([0, ''])
      return requests(ran, list)
    }

    test.each(lists.flatMap(list => [0, 5].map(changedLate => ({ list, changedLate }))))(
      'of $list are read where the filter is ignored, $changedLate of them being known',
      async ({ list, changedLate }) => {
        const runs = await openDailyRuns(bench, {
          records: records(list, changedLate),
          quirks: { [list]: { 'date-field': 'ignored' } },
        })
        const first = await runs.nextDay(`sync ${list} --quiet`)
        expect(first.code).toBe(0)
        const asked: (readonly string[])[] = [requests(first, list)]
        for (let n = 0; n < 4; n += 1) {
          asked.push(await approveOne(runs, list, n))
          expect(await stored(runs, list)).toBe(n + 1)
        }
        // One request finds it out, and is not asked again.
        expect(asked.flat().filter(isFiltered)).toHaveLength(1)
        expect(await runs.rows('select changes_filter from ops.watermark')).toEqual([
          { changes_filter: 'ignored' },
        ])
      },
    )

    test('of a service that answers nothing about the filter are read all the same, and it is asked again', async () => {
      let isRefused = true
      const runs = await openDailyRuns(bench, {
        records: records('timesheets', 5),
        intercept: ({ query }) =>
          isRefused && query.dateField === 'updatedAt'
            ? { status: 400, body: '{"success":false,"error":{"code":"BAD_REQUEST","message":"no"}}' }
            : undefined,
      })
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      const learnt = () => runs.rows('select changes_filter from ops.watermark')
      for (const n of [0, 1]) {
        await approveOne(runs, 'timesheets', n)
        expect(await stored(runs, 'timesheets')).toBe(n + 1)
        expect(await learnt()).toEqual([{ changes_filter: null }])
      }
      isRefused = false
      await approveOne(runs, 'timesheets', 2)
      expect(await learnt()).toEqual([{ changes_filter: 'honoured' }])
    })

    test.each([
      { what: 'ignores the filter', found: 'ignored' },
      { what: 'moves them to another page while it is asked', found: 'honoured' },
    ])('of a service that $what are read, and it is asked again a week later', async ({ found }) => {
      let moves = found === 'honoured'
      const moved = records('timesheets', 0).timesheets!.slice(0, 1)
      const runs: DailyRuns = await openDailyRuns(bench, {
        records: records('timesheets', 5),
        ...(found === 'ignored' && { quirks: { timesheets: { 'date-field': 'ignored' } } }),
        intercept: ({ query }) => {
          const { world } = runs.sandbox
          if (!moves || query.fields !== 'id') return undefined
          moves = false
          const at = new Date(runs.now()).toISOString()
          for (let n = 0; n < 200; n += 1)
            world.upsert('timesheets', {
              ...moved[0],
              id: `more-${n}`,
              createdAt: at,
              updatedAt: at,
            } as never)
          return undefined
        },
      })
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      const filter = async () =>
        (await runs.rows('select changes_filter from ops.watermark'))[0]?.changes_filter
      for (let n = 0; n < 6; n += 1) {
        expect((await approveOne(runs, 'timesheets', n)).filter(isFiltered)).toEqual([])
        expect(await filter()).toBe('ignored')
      }
      expect((await approveOne(runs, 'timesheets', 6)).filter(isFiltered)).toHaveLength(1)
      expect(await filter()).toBe(found)
      await approveOne(runs, 'timesheets', 7)
      expect(await filter()).toBe(found)
      expect(await stored(runs, 'timesheets')).toBe(8)
    })

    test.each([
      { always: ['t27', 't28', 't29'], known: 3 },
      { always: [], known: null },
    ])(
      'that a filtered list hides are read from the complete one, which hides $always',
      async ({ always, known }) => {
        const hidden = (isAsked: boolean): readonly string[] => (isAsked ? ['t0', 't1', 't2'] : always)
        const runs: DailyRuns = await openDailyRuns(bench, {
          records: records('timesheets', 5),
          intercept: async ({ path, query, client }) => {
            if (path !== '/timesheets' || !client?.startsWith('muster/')) return undefined
            const asked = new URLSearchParams(query as Record<string, string>)
            const headers = { authorization: `Bearer ${sandboxKeys.company}` }
            const answer = await fetch(`${runs.sandbox.url}${path}?${asked}`, { headers })
            const list = (await answer.json()) as { data: { id: string }[] }
            const left = hidden('dateField' in query)
            return {
              status: answer.status,
              body: JSON.stringify({ ...list, data: list.data.filter(({ id }) => !left.includes(id)) }),
            }
          },
        })
        expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
        const learnt = 'select hidden_rows, changes_filter from ops.watermark'
        expect(await runs.rows(learnt)).toEqual([{ hidden_rows: known, changes_filter: 'honoured' }])
        for (const n of [0, 1, 5]) await approveOne(runs, 'timesheets', n)
        expect(await stored(runs, 'timesheets')).toBe(3)
      },
    )

    test('are looked for on the page that has them where pages are smaller than asked for', async () => {
      const runs = await openDailyRuns(bench, {
        records: records('timesheets', 1),
        quirks: { timesheets: { 'page-cap': 5 } },
      })
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await runs.rows('select page_size, changes_filter from ops.watermark')).toEqual([
        { page_size: 5, changes_filter: 'honoured' },
      ])
    })

    test.each(lists)('of %s are asked for by the filter once it has shown one', async list => {
      const runs = await openDailyRuns(bench, { records: records(list, 0) })
      expect((await runs.nextDay(`sync ${list} --quiet`)).code).toBe(0)
      const asked: (readonly string[])[] = []
      for (let n = 0; n < 3; n += 1) {
        asked.push(await approveOne(runs, list, n))
        expect(await stored(runs, list)).toBe(n + 1)
      }
      expect(asked.map(requests => requests.filter(isFiltered).length)).toEqual([1, 1, 1])
      const atRest = await runs.nextDay(`sync ${list} --quiet`)
      expect(requests(atRest, list)).toHaveLength(1)
    })
  },
  'all',
)
