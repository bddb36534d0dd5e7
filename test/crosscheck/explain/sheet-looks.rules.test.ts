/** Which lists of timesheets are read so that every differing cell is in one of them. */
import { describe, expect, test } from 'vitest'
import { cheapestLooks, lookAt } from '../../../src/crosscheck/explain/explain-hours.ts'
import type { SheetQuery } from '../../../src/crosscheck/explain/sheets.ts'
import type { Keys } from '../../../src/crosscheck/metrics/group-keys.ts'
import { names } from './explaining.ts'

describe('a look at a cell', () => {
  test.each([
    ['a week and three days more on either side', { week: '2026-05-04' }, {}, '2026-05-01', '2026-05-14'],
    ['a month and three days more', { month: '2026-05' }, {}, '2026-04-28', '2026-06-04'],
    [
      'the week rather than the month',
      { month: '2026-05', week: '2026-05-04' },
      {},
      '2026-05-01',
      '2026-05-14',
    ],
    [
      'the range and three days more',
      {},
      { from: '2026-05-04', to: '2026-05-10' },
      '2026-05-01',
      '2026-05-13',
    ],
    ['the range from a day', {}, { from: '2026-05-04' }, '2026-05-01', '2100-01-01'],
    ['the range to a day', {}, { to: '2026-05-10' }, '1970-01-01', '2026-05-13'],
    ['everything', {}, {}, '1970-01-01', '2100-01-01'],
  ] as const)('has %s', (...[, keys, range, from, to]) => {
    expect(lookAt(keys, range, names)).toEqual({ from, to })
  })

  test('is limited to ids that are known', () => {
    const week = { week: '2026-05-04' }
    const keys = { company: 'c1', project: 'p1', agency: 'a1', ...week }
    expect(lookAt(keys, {}, names)).toMatchObject({ company: 'c1', project: 'p1', agency: 'a1' })
    expect(Object.keys(lookAt({ project: 'Unknown', agency: '-1', ...week }, {}, names))).toEqual([
      'from',
      'to',
    ])
  })
})

describe('the cheapest looks', () => {
  const cell = (project: string, week: string) => ({
    keys: { project, week },
    ours: undefined,
    theirs: undefined,
  })
  const look = (keys: Keys): SheetQuery => lookAt({ ...keys, agency: 'a1' }, {}, names)
  const cells = [cell('p1', '2026-05-04'), cell('p1', '2026-05-18'), cell('p2', '2026-05-04')]
  const everything = { from: '2026-05-01', to: '2026-05-28' }
  const byProject = [
    { project: 'p1', ...everything },
    { project: 'p2', from: '2026-05-01', to: '2026-05-14' },
  ]

  /** By how many timesheets a look has. */
  async function chosen(count: (look: SheetQuery) => number, of = cells) {
    const counted: SheetQuery[] = []
    const countSheets = async (one: SheetQuery) => {
      counted.push(one)
      return count(one)
    }
    return { looks: await cheapestLooks({ countSheets }, of, look), counted: counted.length }
  }

  test('of one cell are its own, without counting', async () => {
    expect(await chosen(() => 999, cells.slice(0, 1))).toEqual({
      looks: [look(cells[0]?.keys ?? {})],
      counted: 0,
    })
    expect(await chosen(() => 999, [])).toEqual({ looks: [], counted: 0 })
  })

  test('are one at everything when that is on one page', async () => {
    expect(await chosen(() => 200)).toStrictEqual({ looks: [everything], counted: 1 })
  })

  test('are one at everything when its two pages are as few as the projects', async () => {
    expect(await chosen(one => (one.project ? 10 : 400))).toStrictEqual({ looks: [everything], counted: 1 })
  })

  test('are one a project when everything takes more pages', async () => {
    expect((await chosen(one => (one.project ? 10 : 401))).looks).toStrictEqual(byProject)
    const latestFirst = [...cells].reverse()
    expect((await chosen(one => (one.project ? 10 : 401), latestFirst)).looks).toStrictEqual(
      byProject.toReversed(),
    )
  })

  test('are one at everything when projects take as many pages', async () => {
    const count = ({ project }: SheetQuery) => (project === undefined ? 401 : project === 'p1' ? 201 : 1)
    expect((await chosen(count)).looks).toEqual([everything])
  })

  test('are one a cell when projects take more pages', async () => {
    const found = await chosen(one => (one.agency ? 0 : 1000))
    expect(found.looks).toEqual(cells.map(({ keys }) => look(keys)))
    expect(found.counted).toBe(1 + 2 + 3)
  })

  test('of cells without a project keep none', async () => {
    const of = [cell('x', '2026-05-04'), cell('x', '2026-05-18'), cell('p1', '2026-05-04')]
    expect((await chosen(one => (one.project ? 10 : 500), of)).looks).toHaveLength(1)
  })
})
