/** A service that shows none of the rows of a whole page, which its total counts. */
import { expect, test } from 'vitest'
import { openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const count = 900

interface Case {
  readonly title: string
  readonly isHidden: (index: number) => boolean
  /** Rows that the total counts and that are nowhere. */
  readonly more?: number
}

const counted: readonly Case[] = [
  { title: 'the last one', isHidden: index => index >= 800 },
  { title: 'the last one, and some of the page before', isHidden: index => index >= 790 },
  { title: 'a last one that is not there', isHidden: () => false, more: 50 },
]

const contradicted: readonly Case[] = [
  { title: 'one in the middle', isHidden: index => index >= 190 && index < 610 },
  { title: 'two at its end', isHidden: index => index >= 560 },
  { title: 'the first one', isHidden: index => index < 230 },
  { title: 'two at its end that are not there', isHidden: () => false, more: 350 },
]

const answer = (data: readonly unknown[], meta: { page: number; limit: number; total: number }) => ({
  status: 200,
  body: JSON.stringify({ success: true, data, meta }),
})

const records = plainRecords({ timesheets: count })
const list = (records.timesheets ?? []) as readonly { readonly createdAt: string }[]

describeOnEngines(
  'a list with pages without rows:',
  bench => {
    const open = ({ isHidden, more = 0 }: Case) =>
      openDailyRuns(bench, {
        records,
        intercept: ({ path, query }) => {
          if (path !== '/timesheets') return undefined
          const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
          const [from, to] = [String(query.from ?? ''), String(query.to ?? '9')]
          const asked = list.filter(({ createdAt }) => from <= createdAt && createdAt.slice(0, 10) <= to)
          const rows = query.sortOrder === 'desc' ? asked.toReversed() : asked
          const onPage = rows.slice((page - 1) * limit, page * limit)
          const data = onPage.filter(one => !isHidden(list.indexOf(one)))
          const isWhole = asked.length === count
          return answer(data, { page, limit, total: asked.length + (isWhole ? more : 0) })
        },
      })

    test.each(counted)('$title, is read without its rows, which are counted', async one => {
      const nights = await open(one)
      const ran = await nights.nextDay('sync timesheets --quiet')
      expect([ran.code, ran.err]).toEqual([0, ''])
      const held =
        'select (select count(*) from star.fact_timesheet where not is_deleted) as n, hidden_rows as hidden from ops.watermark'
      const n = list.filter((_, index) => !one.isHidden(index)).length
      const expected = [{ n, hidden: count + (one.more ?? 0) - n }]
      expect(await nights.rows(held)).toEqual(expected)
      for (const command of ['sync timesheets --quiet', 'sweep timesheets --quiet'])
        expect([(await nights.nextDay(command)).code, command]).toEqual([0, command])
      expect(await nights.rows(held)).toEqual(expected)
    })

    test.each(contradicted)('$title, is incomplete, and says which page', async one => {
      const nights = await open(one)
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextDay('sync timesheets --quiet')
        expect(ran.code).toBe(1)
        expect(ran.err).toMatch(
          /timesheets \(saw .* incomplete: page \d+ was empty although the list has [\d,]+ rows/,
        )
      }
    })

    test('one in the middle, is read once an operator says how many rows it hides', async () => {
      const nights = await open(contradicted[0] as Case)
      const sync = async (option = '') => (await nights.nextDay(`sync timesheets ${option} --quiet`)).code
      expect([await sync(), await sync('--hidden 420'), await sync()]).toEqual([1, 0, 0])
      expect(await nights.rows('select hidden_rows as hidden from ops.watermark')).toEqual([{ hidden: 420 }])
    })

    test.each([350, 5_000])('all of them, of %i rows, is rejected', async total => {
      let isOut = false
      let asked = 0
      const nights = await openDailyRuns(bench, {
        records,
        intercept: ({ path, query }) => {
          if (path !== '/timesheets' || !isOut) return undefined
          asked += 1
          return answer([], { page: Number(query.page ?? 1), limit: Number(query.limit ?? 50), total })
        },
      })
      expect((await nights.nextDay('sync timesheets --quiet')).code).toBe(0)
      isOut = true
      for (const command of ['sync timesheets --quiet', 'sweep timesheets --quiet']) {
        const { code, err } = await nights.nextDay(command)
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
