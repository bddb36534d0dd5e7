/** The loop that reads lists: pages in turn, what it keeps and saves, and passes until the scan is decided. */
import { describe, expect, test } from 'vitest'
import type { PassRules } from '../../../src/sync/paging/pass.ts'
import type { ScanDecision } from '../../../src/sync/paging/proof.ts'
import {
  anotherPass,
  readPass,
  type ScannedPage,
  type ScanProgress,
  type Strategy,
  scan,
  withStart,
} from '../../../src/sync/paging/scan.ts'
import { answer, emptyAnswer, pass, start } from './lists.ts'

const begun = (parts: Partial<ScanProgress> = {}): ScanProgress => ({
  ...{ pass: pass({ nextPage: 3 }), attempt: 1, starts: [], sequence: 0, pageSize: 10 },
  ...parts,
})

interface Told {
  readonly asked: number[]
  readonly dropped: number[]
  readonly kept: ScanProgress[]
  readonly saved: ScanProgress[]
  readonly seeksEnd: (boolean | undefined)[]
}

/** Reads a list of 25 rows in memory. */
function reader(
  parts: {
    readonly rules?: (progress: ScanProgress) => PassRules & { readonly size?: number }
    readonly page?: (page: number, progress: ScanProgress) => ScannedPage
    readonly decisions?: ScanDecision[]
    readonly asksTwice?: boolean
  } = {},
): { strategy: Strategy<ScannedPage>; told: Told } {
  const told: Told = { asked: [], dropped: [], kept: [], saved: [], seeksEnd: [] }
  const { decisions = [], asksTwice, rules = () => ({}) } = parts
  const list = (page: number): ScannedPage => answer({ page, rows: page === 3 ? 5 : 10 })
  const strategy: Strategy<ScannedPage> = {
    rules,
    ...(asksTwice !== undefined && { asksTwice }),
    ask: async (page, progress) => {
      told.asked.push(page)
      return (parts.page ?? list)(page, progress)
    },
    drop: async ({ page }) => void told.dropped.push(page),
    keep: async (_, progress) => void told.kept.push(progress),
    save: async progress => void told.saved.push(progress),
    decide: async () => decisions.shift() ?? 'accepted',
  }
  return { strategy, told }
}

describe('the pass starts of a scan', () => {
  const starts = [start({ pass: 1 }), start({ pass: 2 }), start({ pass: 3 })]
  const numbers = (parts: Parameters<typeof pass>[0]) => withStart(starts, pass(parts)).map(one => one.pass)

  test.each([
    ['gain that of this pass', { start: start({ pass: 4 }) }, [1, 2, 3, 4]],
    ['have that of this pass once', { start: start({ pass: 3 }) }, [1, 2, 3]],
    ['stay where the pass has none', {}, [1, 2, 3]],
  ])('%s', (...[, parts, expected]) => expect(numbers(parts)).toEqual(expected))

  test('are those of this pass as it stands now', () => {
    const now = start({ pass: 3, total: 99 })
    expect(withStart(starts, pass({ start: now })).at(-1)).toEqual(now)
  })
})

describe('a pass', () => {
  test('is read page by page; each page is kept with the progress that includes it', async () => {
    const { strategy, told } = reader()
    const progress = await readPass(strategy, begun({ sequence: 4 }))
    expect(told.asked).toEqual([3, 2, 1])
    expect(told.kept.map(({ sequence, pass: { pages } }) => [sequence, pages])).toEqual([
      [5, 1],
      [6, 2],
      [7, 3],
    ])
    expect(progress).toMatchObject({
      sequence: 7,
      attempt: 1,
      starts: [{ pass: 1, front: 3 }],
      pass: { nextPage: 0 },
    })
    expect(told.saved).toEqual([])
  })

  test('that is over asks for nothing', async () => {
    const { strategy, told } = reader()
    const over = begun({ pass: pass({ nextPage: 0 }) })
    expect(await readPass(strategy, over)).toEqual(over)
    expect(told.asked).toEqual([])
  })

  test('counts a page by the place where an earlier run landed it', async () => {
    const { strategy } = reader({
      page: page => ({ ...answer({ page, rows: page === 3 ? 5 : 10 }), sequence: 9 }),
    })
    expect((await readPass(strategy, begun())).sequence).toBe(9)
  })

  test.each([
    [4, [3, 2, 1]],
    [5, [3, 4, 2, 1]],
    [6, [3, 4, 2, 1]],
  ])('of attempt %i asks for the pages %j', async (attempt, asked) => {
    const page = (number: number) =>
      number === 4 ? emptyAnswer({ page: 4 }) : answer({ page: number, rows: number === 3 ? 5 : 10 })
    const { strategy, told } = reader({ page })
    await readPass(strategy, begun({ attempt }))
    expect(told.asked).toEqual(asked)
  })

  test('follows the rules of its strategy', async () => {
    const { strategy, told } = reader({ rules: () => ({ order: 'first to last' }) })
    await readPass(strategy, begun({ pass: pass({ nextPage: 1 }) }))
    expect(told.asked).toEqual([1, 2, 3])
  })

  test('asks a page again that contradicts its total, and believes an answer that counts what it showed', async () => {
    const totals = [25, 26]
    const page = (number: number) =>
      number === 3
        ? answer({ page: 3, rows: 6, total: totals.shift() ?? 0 })
        : answer({ page: number, total: 26 })
    const { strategy, told } = reader({ page, rules: () => ({ hidesRows: true }) })
    const progress = await readPass(strategy, begun())
    expect([told.asked, told.dropped]).toEqual([[3, 3, 2, 1], [3]])
    expect(progress).toMatchObject({ sequence: 3, starts: [{ total: 26 }], pass: { nextPage: 0 } })
    expect(progress.pass.contradiction).toBeUndefined()
  })

  test.each([
    [25, 6],
    [24, 4],
  ])('ends where the second answer has %i records and shows %i on its page', async (total, rows) => {
    const answers = [answer({ page: 3, rows: 6 }), answer({ page: 3, rows, total })]
    const page = () => answers.shift() as ScannedPage
    const { strategy, told } = reader({ page, rules: () => ({ hidesRows: true }) })
    const { pass: ended } = await readPass(strategy, begun())
    expect(told.asked).toEqual([3, 3])
    expect(ended).toMatchObject({ nextPage: 0, contradiction: 'page 3 showed 26 rows of a list of 25' })
  })

  test('reports to the scan how many rows its pages have', async () => {
    const { strategy } = reader({ page: page => answer({ page, limit: 5, rows: 5 }) })
    expect(await readPass(strategy, begun())).toMatchObject({ pageSize: 5, pass: { size: 5 } })
    const other = begun({ pass: pass({ nextPage: 3, size: 10 }), pageSize: 12 })
    expect((await readPass(reader().strategy, other)).pageSize).toBe(12)
  })

  test('asks a smaller size twice, and believes the second answer', async () => {
    const limits = [5, 10]
    const page = (number: number) => {
      const limit = number === 3 ? (limits.shift() ?? 10) : 10
      return answer({ page: number, limit, rows: number === 3 ? 5 : 10 })
    }
    const { strategy, told } = reader({ page })
    expect(await readPass(strategy, begun())).toMatchObject({ pageSize: 10, starts: [{ front: 3 }] })
    expect([told.asked, told.dropped]).toEqual([[3, 3, 2, 1], [3]])
  })

  test('that is interrupted is saved as far as it came, and says why', async () => {
    const { strategy, told } = reader({
      page: page => {
        if (page === 1) throw new Error('stopped')
        return answer({ page, rows: page === 3 ? 5 : 10 })
      },
    })
    await expect(readPass(strategy, begun())).rejects.toThrow('stopped')
    expect(told.saved.map(({ sequence, pass: { nextPage } }) => [sequence, nextPage])).toEqual([[2, 1]])
  })
})

describe('the only page of a list', () => {
  const one = begun({ pass: pass({ nextPage: 1 }) })
  const answers = (...totals: number[]) => {
    const left = [...totals]
    return () => answer({ total: left.shift() ?? 0, rows: 5 })
  }

  test('is asked for twice, and the greater total must be seen', async () => {
    const { strategy, told } = reader({ asksTwice: true, page: answers(5, 7) })
    const progress = await readPass(strategy, one)
    expect(told.asked).toEqual([1, 1])
    expect(told.kept).toHaveLength(2)
    expect(told.kept[1]).toEqual(progress)
    expect(progress).toMatchObject({
      sequence: 1,
      attempt: 1,
      starts: [{ pass: 1, total: 7 }],
      pass: { start: { total: 7 } },
    })
  })

  test.each([
    ['where the strategy trusts one answer', { asksTwice: false }],
    ['where the strategy does not say', {}],
    ['in a short pass', { asksTwice: true, rules: () => ({ isShort: true }) }],
  ])('is asked for once %s', async (...[, parts]) => {
    const { strategy, told } = reader({ ...parts, page: answers(5, 5) })
    await readPass(strategy, one)
    expect(told.asked).toEqual([1])
  })

  test('is not one of three', async () => {
    const { strategy, told } = reader({ asksTwice: true })
    await readPass(strategy, begun())
    expect(told.asked).toEqual([3, 2, 1])
  })

  test('is not the page where a pass ended that began elsewhere', async () => {
    const { strategy, told } = reader({ asksTwice: true })
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 1, start: start({ front: 3 }) }) }))
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 2, start: start({ front: 1 }) }) }))
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 1 }) }))
    const contradicted = { nextPage: 0, pages: 1, start: start({ front: 1 }), contradiction: 'c' }
    await readPass(strategy, begun({ pass: pass(contradicted) }))
    expect(told.asked).toEqual([])
  })
})

describe('another pass', () => {
  const over = begun({
    pass: pass({ nextPage: 0, lastTotal: 25 }),
    attempt: 2,
    starts: [start()],
    sequence: 7,
    pageSize: 12,
  })

  test('is the next attempt of the same scan', () => {
    const next = anotherPass(over, { rules: () => ({}) })
    expect(next).toMatchObject({
      attempt: 3,
      starts: [start()],
      sequence: 7,
      pageSize: 12,
      pass: { number: 2, nextPage: 3, size: 10 },
    })
  })

  test('follows the rules of that attempt', () => {
    const rules = ({ attempt }: ScanProgress) =>
      attempt === 3 ? { order: 'first to last' as const, size: 8 } : { size: 5 }
    expect(anotherPass(over, { rules }).pass).toMatchObject({ nextPage: 1, size: 8 })
  })
})

describe('a scan', () => {
  test.each(['accepted', 'refused'] as const)(
    'is read until it is %s, and saved after each pass',
    async end => {
      const { strategy, told } = reader({ decisions: ['scan again', 'scan again', end] })
      expect(await scan(strategy, begun())).toBe(end)
      expect(told.saved.map(({ attempt, sequence }) => [attempt, sequence])).toEqual([
        [1, 3],
        [2, 6],
        [3, 9],
      ])
      expect(told.asked).toEqual([3, 2, 1, 3, 2, 1, 3, 2, 1])
    },
  )
})
