/** A service that leaves records out of its pages after it has cut them, among them all that a short question is about. */
import { expect, test } from 'vitest'
import { openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const count = 700
const [oldest, newest] = [3, 30]

describeOnEngines(
  'a list that hides its newest and its oldest records',
  bench => {
    test('is read completely but for them, and they are counted', async () => {
      const { timesheets = [], ...others } = plainRecords({ timesheets: count })
      const list = timesheets.map((record, n) => {
        const at = new Date(Date.UTC(2026, 0, 1) + n * 3_600_000).toISOString()
        return { ...record, createdAt: at, updatedAt: at }
      })
      const nights = await openDailyRuns(bench, {
        records: { ...others, timesheets: list },
        intercept: ({ path, query }) => {
          if (path !== '/timesheets' || query.from || query.to) return undefined
          const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
          const rows = query.sortOrder === 'desc' ? list.toReversed() : list
          const shown = new Set(list.slice(oldest, -newest))
          const data = rows.slice((page - 1) * limit, page * limit).filter(one => shown.has(one))
          const meta = { page, limit, total: count }
          return { status: 200, body: JSON.stringify({ success: true, data, meta }) }
        },
      })
      const ran = await nights.nextDay('sync timesheets --quiet')
      expect([ran.code, ran.err]).toEqual([0, ''])
      expect(
        await nights.rows(
          'select (select count(*) from star.fact_timesheet) as n, hidden_rows as hidden from ops.watermark',
        ),
      ).toEqual([{ n: count - oldest - newest, hidden: oldest + newest }])
      for (const command of ['plan --quiet', 'sweep --counts --quiet'])
        expect((await nights.run(command)).err).not.toContain('is empty although')
    })
  },
  'all',
)
