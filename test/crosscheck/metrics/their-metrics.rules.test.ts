/** The figures of the service: how they are asked for and read, page by page, and what each request costs. */
import { describe, expect, test } from 'vitest'
import { createAsker } from '../../../src/crosscheck/metrics/their-metrics.ts'
import { BudgetSpent } from '../../../src/lib/errors.ts'

type Query = Readonly<Record<string, unknown>>

/** A client that gives these pages in turn, and notes what it is asked. */
function service(pages: readonly (readonly object[])[], total = pages.flat().length) {
  const asked: { path: string; query: Query; purpose: unknown }[] = []
  const client = {
    async getPage(path: string, query: Query, { purpose }: { purpose?: unknown }) {
      asked.push({ path, query, purpose })
      const rows = pages[(query.page as number) - 1] ?? []
      return { meta: { total }, records: () => rows }
    },
    async getRecord(path: string, query: Query, { purpose }: { purpose?: unknown }) {
      asked.push({ path, query, purpose })
      return { record: { id: path } }
    },
  } as unknown as Parameters<typeof createAsker>[0]
  return { asked, client }
}

const fill = { metric: 'timeToFill', grouping: ['project', 'week'] } as const
const hours = { metric: 'workersOverHours', grouping: [], threshold: 40 } as const

test('a query names the metric, its keys in order, the range and the threshold of hours', async () => {
  const { asked, client } = service([[]])
  const asker = createAsker(client, 9)
  await asker.ask({
    ...fill,
    grouping: ['week', 'project'],
    from: '2026-01-01',
    agency: 'a1',
    company: undefined,
  })
  await asker.ask({ ...hours, to: '2026-02-01', project: 'p1' })
  await asker.ask({ ...fill, threshold: 40 })
  await asker.ask({ ...hours, threshold: undefined })
  const page = { page: 1, limit: 200 }
  expect(asked.map(({ query }) => query)).toEqual([
    { metric: 'timeToFill', groupBy: 'project,week', from: '2026-01-01', agency: 'a1', ...page },
    {
      metric: 'workersOverHours',
      groupBy: 'all',
      to: '2026-02-01',
      project: 'p1',
      hoursThreshold: '40',
      ...page,
    },
    { metric: 'timeToFill', groupBy: 'project,week', ...page },
    { metric: 'workersOverHours', groupBy: 'all', ...page },
  ])
  expect(new Set(asked.map(({ path, purpose }) => `${path} ${purpose}`))).toEqual(
    new Set(['/requisitions/recruitment-metrics reconcile']),
  )
})

test('a row has its bounds and values as figures; what is no number is unknown', async () => {
  const row = {
    group: { project: 'p1' },
    ...{ rawCount: 3, excludedOutliers: '1', iqrBounds: { lower: -1.5, upper: null } },
    values: { count: 2, averageDays: 4.25, hoursField: 7 },
  }
  const { groups } = await createAsker(service([[row]]).client, 1).ask(fill)
  const none = { medianDays: null, minDays: null, maxDays: null, p25Days: null, p75Days: null }
  expect(groups).toEqual([
    {
      ...{ groupBy: 'project,week', group: { project: 'p1' }, hoursField: undefined },
      figures: {
        ...{ rawCount: 3, excludedOutliers: null, lower: -1.5, upper: null },
        ...{ count: 2, averageDays: 4.25, ...none },
      },
    },
  ])
})

test('a row of hours says which hours it adds up; one without values has no figures', async () => {
  const rows = [{ values: { totalHours: 8, hoursField: 'netHours' } }, {}]
  const { groups } = await createAsker(service([rows]).client, 1).ask(hours)
  expect(groups.map(({ hoursField }) => hoursField)).toEqual(['netHours', undefined])
  expect(groups.map(({ figures }) => figures.totalHours)).toEqual([8, null])
  expect(groups.map(({ group }) => group)).toEqual([{}, {}])
})

describe('pages', () => {
  const [one, two, three] = [{ id: '1' }, { id: '2' }, { id: '3' }]

  test.each([
    ['until the total is reached', [[one, two], [three]], 3, 9, 3, true, 2],
    ['and no further when the first has all', [[one]], 1, 9, 1, true, 1],
    ['until one is empty', [[one], []], 3, 9, 1, true, 2],
    ['up to the limit', [[one], [two], [three]], 3, 2, 2, false, 2],
    ['and the last one allowed may complete the list', [[one], [two]], 2, 2, 2, true, 2],
  ] as const)('are read %s', async (...[, pages, total, limit, rows, isComplete, requests]) => {
    const { asked, client } = service(pages, total)
    const found = await createAsker(client, 9).list('/timesheets', { from: 'x' }, limit)
    expect([found.rows.length, found.isComplete, asked.length]).toEqual([rows, isComplete, requests])
    expect(asked.map(({ query }) => query)).toEqual(
      asked.map((_, index) => ({ from: 'x', page: index + 1, limit: 200 })),
    )
  })

  test('of a list are one unless more are asked for, and of a metric all', async () => {
    const list = service([[one], [two]])
    expect(await createAsker(list.client, 9).list('/timesheets', {})).toEqual({
      rows: [one],
      isComplete: false,
    })
    const metric = service([[one], [two]])
    expect(await createAsker(metric.client, 9).ask(fill)).toMatchObject({ isComplete: true })
    expect(metric.asked).toHaveLength(2)
  })
})

describe('requests', () => {
  test('are counted, and the one beyond the limit is not sent', async () => {
    const { asked, client } = service([[{}]], 9)
    const asker = createAsker(client, 3)
    expect([asker.requests, asker.left]).toEqual([0, 3])
    expect(await asker.read('/requisitions/r1')).toEqual({ id: '/requisitions/r1' })
    await asker.list('/timesheets', {})
    expect([asker.requests, asker.left]).toEqual([2, 1])
    await asker.ask(fill, 1)
    const spent = new BudgetSpent({
      what: 'the 3 requests of the crosscheck are used',
      next: 'raise --max-requests',
    })
    await expect(asker.read('/requisitions/r2')).rejects.toEqual(spent)
    await expect(asker.ask(hours)).rejects.toEqual(spent)
    expect([asker.requests, asker.left, asked.length]).toEqual([3, 0, 3])
    expect(asked[0]).toMatchObject({ query: {}, purpose: 'reconcile' })
  })

  test('are not sent again for an answer that was read to its end', async () => {
    const { asked, client } = service([[{ rawCount: 1 }]])
    const asker = createAsker(client, 9)
    const first = await asker.ask(fill)
    const again = { ...fill, grouping: ['week', 'project'] } as const
    expect(await asker.ask(again, 1)).toEqual({ ...first, query: again })
    await asker.ask({ ...fill, from: '2026-01-01' })
    expect(asked).toHaveLength(2)
  })

  test('are sent again for an answer of which pages were left out', async () => {
    const { asked, client } = service([[{}], [{}]])
    const asker = createAsker(client, 9)
    expect(await asker.ask(fill, 1)).toMatchObject({ isComplete: false })
    expect(await asker.ask(fill)).toMatchObject({ isComplete: true })
    expect(asked).toHaveLength(3)
  })
})
