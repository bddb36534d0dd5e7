/** A service that shows none of the rows of a whole page, which its total counts. */
import { expect, test } from 'vitest'
import { openNights } from '../nights/nights.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { plainRecords } from './plain-records.ts'

const count = 900

interface Case {
  readonly title: string
  readonly isHidden: (index: number) => boolean
  /** Rows that the total counts and that are nowhere. */
  readonly more?: number
}

const cases: readonly Case[] = [
  { title: 'in the middle', isHidden: index => index >= 190 && index < 610 },
  { title: 'at its end', isHidden: index => index >= 560 },
  { title: 'at its beginning', isHidden: index => index < 430 },
  { title: 'at both ends', isHidden: index => index < 230 || index >= 700 },
  { title: 'that are not there', isHidden: () => false, more: 350 },
]

const answer = (data: readonly unknown[], meta: { page: number; limit: number; total: number }) => ({
  status: 200,
  body: JSON.stringify({ success: true, data, meta }),
})

const records = plainRecords({ timesheets: count })
const list = (records.timesheets ?? []) as readonly { readonly createdAt: string }[]

describeOnEngines(
  'a list with pages',
  bench => {
    test.each(cases)('$title is read whole but for them, and counted', async ({ isHidden, more = 0 }) => {
      const shown = new Set(list.filter((_, index) => !isHidden(index)))
      const nights = await openNights(bench, {
        records,
        intercept: ({ path, query }) => {
          if (path !== '/timesheets') return undefined
          const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
          const [from, to] = [String(query.from ?? ''), String(query.to ?? '9')]
          const asked = list.filter(({ createdAt }) => from <= createdAt && createdAt.slice(0, 10) <= to)
          const rows = query.sortOrder === 'desc' ? asked.toReversed() : asked
          const data = rows.slice((page - 1) * limit, page * limit).filter(one => shown.has(one))
          const isWhole = asked.length === count
          return answer(data, { page, limit, total: asked.length + (isWhole ? more : 0) })
        },
      })
      const ran = await nights.nextNight('sync timesheets --quiet')
      expect([ran.code, ran.err]).toEqual([0, ''])
      const held =
        'select (select count(*) from star.fact_timesheet where not is_deleted) as n, hidden_rows as hidden from ops.watermark'
      const expected = [{ n: shown.size, hidden: count + more - shown.size }]
      expect(await nights.rows(held)).toEqual(expected)
      for (const command of ['sync timesheets --quiet', 'sweep timesheets --quiet'])
        expect([(await nights.nextNight(command)).code, command]).toEqual([0, command])
      expect(await nights.rows(held)).toEqual(expected)
    })

    test.each([350, 5_000])('that are empty, one and all, of %i rows is not believed', async total => {
      let isOut = false
      let asked = 0
      const nights = await openNights(bench, {
        records,
        intercept: ({ path, query }) => {
          if (path !== '/timesheets' || !isOut) return undefined
          asked += 1
          return answer([], { page: Number(query.page ?? 1), limit: Number(query.limit ?? 50), total })
        },
      })
      expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
      isOut = true
      for (const command of ['sync timesheets --quiet', 'sweep timesheets --quiet']) {
        const { code, err } = await nights.nextNight(command)
        expect(code, command).not.toBe(0)
        expect(err).not.toBe('')
      }
      expect(asked).toBeLessThan(150)
      expect(await nights.rows('select count(*) as n from star.fact_timesheet where not is_deleted')).toEqual(
        [{ n: count }],
      )
    })
  },
  'all',
)
