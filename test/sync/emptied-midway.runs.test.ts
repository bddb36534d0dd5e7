/** A service that shows its lists as empty for a while, in the middle of their first reading. */
import { expect, test } from 'vitest'
import { openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const held = 'select count(*) as n from star.fact_timesheet where not is_deleted'

interface Outage {
  readonly count: number
  /** Pages of the list that are answered before the outage. */
  readonly answered: number
  /** The lists are empty in so many answers; in all of them when it is undefined. */
  readonly lasts?: number
}

async function openOutage(bench: Parameters<typeof openDailyRuns>[0], { count, answered, lasts }: Outage) {
  let asked = 0
  let isOver = false
  const nights = await openDailyRuns(bench, {
    records: plainRecords({ timesheets: count }),
    intercept: ({ path, query }) => {
      if (path !== '/timesheets' || isOver) return undefined
      // The first questions are for a few rows: how many there are, and since when.
      const isFirst = asked === 0 && Number(query.limit) < 200
      if (isFirst) return undefined
      asked += 1
      if (asked <= answered || asked > answered + (lasts ?? Number.POSITIVE_INFINITY)) return undefined
      const meta = { page: Number(query.page ?? 1), limit: Number(query.limit ?? 50), total: 0 }
      return { status: 200, body: JSON.stringify({ success: true, data: [], meta }) }
    },
  })
  return {
    ...nights,
    end: () => {
      isOver = true
    },
  }
}

describeOnEngines(
  'a first reading',
  bench => {
    test.each([
      { title: 'of one window', count: 700, answered: 2 },
      { title: 'of several windows', count: 10_600, answered: 41 },
    ])('$title is not whole while the list is shown as empty, and goes on after', async outage => {
      const nights = await openOutage(bench, outage)
      const out = await nights.nextDay('sync timesheets --quiet')
      expect([out.code, out.err]).toEqual([1, expect.stringMatching(/timesheets .* incomplete/)])
      expect((await nights.run('check resources_complete --quiet')).code).toBe(3)
      nights.end()
      expect((await nights.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await nights.rows(held)).toEqual([{ n: outage.count }])
      expect((await nights.run('check resources_complete --quiet')).code).toBe(0)
    })

    // Each line that is printed names the next command.
    test.each([
      { title: 'of one window', count: 700, answered: 2 },
      { title: 'of several windows', count: 10_600, answered: 41 },
      { title: 'of several windows, in its first one', count: 10_600, answered: 8 },
    ])('$title of a list that is emptied for good ends, when somebody says so', async outage => {
      const nights = await openOutage(bench, outage)
      const codes: number[] = []
      let line: string | undefined = 'sync timesheets'
      for (let night = 0; night < 5 && line !== undefined; night += 1) {
        const { code, out, err } = await nights.nextDay(line)
        const named = /muster ((?:sync|sweep) timesheets --max-deletions \d+)/.exec(out + err)?.[1]
        codes.push(code)
        line = code === 1 ? (named ?? 'sync timesheets') : named
      }
      // The words of somebody who knows, and two sweeps: a tombstone needs two pieces of evidence.
      expect(codes).toEqual([1, 0, 0])
      expect((await nights.nextDay('sweep timesheets --max-deletions 10600')).code).toBe(0)
      expect(await nights.rows(held)).toEqual([{ n: 0 }])
      expect((await nights.run('check resources_complete lists_have_rows --quiet')).code).toBe(0)
    })

    test('that broke off goes on with an empty list: it is named until the list has rows', async () => {
      let answers: 'rows, then failures' | 'none' | 'rows' = 'rows, then failures'
      let asked = 0
      const nights = await openDailyRuns(bench, {
        records: plainRecords({ timesheets: 700 }),
        intercept: ({ path, query }) => {
          if (path !== '/timesheets' || answers === 'rows') return undefined
          const meta = { page: Number(query.page ?? 1), limit: Number(query.limit ?? 50), total: 0 }
          if (answers === 'none')
            return { status: 200, body: JSON.stringify({ success: true, data: [], meta }) }
          asked += 1
          return asked > 3
            ? { status: 400, body: '{"success":false,"error":{"code":"BAD_REQUEST","message":"broken"}}' }
            : undefined
        },
      })
      expect((await nights.nextDay('sync timesheets --quiet')).code).toBe(1)
      answers = 'none'
      for (let night = 0; night < 3; night += 1) {
        const { code, err, out } = await nights.nextDay('sync timesheets')
        const isNamed = code === 1 || /the service returns an empty list/.test(err + out)
        const checked = await nights.run('check resources_complete lists_have_rows')
        expect([isNamed, checked.err + checked.out]).toEqual([
          true,
          expect.stringMatching(/1 (error|warning)/),
        ])
      }
      answers = 'rows'
      expect((await nights.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await nights.rows(held)).toEqual([{ n: 700 }])
      expect((await nights.run('check resources_complete lists_have_rows --quiet')).code).toBe(0)
    })

    test('of several windows, one of which is shown as empty once, is complete', async () => {
      const outage = { count: 10_600, answered: 41, lasts: 1 }
      const nights = await openOutage(bench, outage)
      expect((await nights.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await nights.rows(held)).toEqual([{ n: outage.count }])
    })
  },
  'all',
)
