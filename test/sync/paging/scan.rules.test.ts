/** The loop that reads lists: pages in turn, what it keeps and saves, and passes until the scan is decided. */
import { describe, expect, test } from 'vitest'
import type { PassRules } from '../../../src/sync/paging/pass-state.ts'
import type { Decision } from '../../../src/sync/paging/proof.ts'
import {
  anotherPass,
  type Progress,
  readPass,
  type ScannedPage,
  type Strategy,
  scan,
  withBase,
} from '../../../src/sync/paging/scan.ts'
import { answer, base, emptyAnswer, pass } from './lists.ts'

const begun = (parts: Partial<Progress> = {}): Progress => ({
  ...{ pass: pass({ nextPage: 3 }), attempt: 1, bases: [], sequence: 0 },
  ...parts,
})

interface Told {
  readonly asked: number[]
  readonly kept: Progress[]
  readonly saved: Progress[]
  readonly seeksEnd: (boolean | undefined)[]
}

/** Reads a list of 25 rows in memory. */
function reader(
  parts: {
    readonly rules?: (progress: Progress) => PassRules & { readonly size?: number }
    readonly page?: (page: number, progress: Progress) => ScannedPage
    readonly decisions?: Decision[]
    readonly asksTwice?: boolean
  } = {},
): { strategy: Strategy<ScannedPage>; told: Told } {
  const told: Told = { asked: [], kept: [], saved: [], seeksEnd: [] }
  const { decisions = [], asksTwice, rules = () => ({}) } = parts
  const list = (page: number): ScannedPage => answer({ page, rows: page === 3 ? 5 : 10 })
  const strategy: Strategy<ScannedPage> = {
    rules,
    ...(asksTwice !== undefined && { asksTwice }),
    ask: async (page, progress) => {
      told.asked.push(page)
      return (parts.page ?? list)(page, progress)
    },
    keep: async (_, progress) => void told.kept.push(progress),
    save: async progress => void told.saved.push(progress),
    decide: async () => decisions.shift() ?? 'accepted',
  }
  return { strategy, told }
}

describe('the pass starts of a scan', () => {
  const bases = [base({ pass: 1 }), base({ pass: 2 }), base({ pass: 3 })]
  const numbers = (parts: Parameters<typeof pass>[0]) => withBase(bases, pass(parts)).map(one => one.pass)

  test.each([
    ['gain that of this pass', { base: base({ pass: 4 }) }, [1, 2, 3, 4]],
    ['have that of this pass once', { base: base({ pass: 3 }) }, [1, 2, 3]],
    ['lose one that is void', { voided: 2 }, [1, 3]],
    ['lose those before the first that is valid', { validSince: 2 }, [2, 3]],
    ['stay where the pass has none', {}, [1, 2, 3]],
    ['lose each for its own reason', { base: base({ pass: 3 }), voided: 2, validSince: 1 }, [1, 3]],
  ])('%s', (...[, parts, expected]) => expect(numbers(parts)).toEqual(expected))

  test('are those of this pass as it stands now', () => {
    const now = base({ pass: 3, total: 99 })
    expect(withBase(bases, pass({ base: now })).at(-1)).toEqual(now)
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
      bases: [{ pass: 1, front: 3 }],
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

  test('that is interrupted is saved as far as it came, and tells why', async () => {
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
      bases: [{ pass: 1, total: 7 }],
      pass: { base: { total: 7 } },
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
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 1, base: base({ front: 3 }) }) }))
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 2, base: base({ front: 1 }) }) }))
    await readPass(strategy, begun({ pass: pass({ nextPage: 0, pages: 1 }) }))
    expect(told.asked).toEqual([])
  })
})

describe('another pass', () => {
  const over = begun({ pass: pass({ nextPage: 0, lastTotal: 25 }), attempt: 2, bases: [base()], sequence: 7 })

  test('is the next attempt of the same scan', () => {
    const next = anotherPass(over, { rules: () => ({}) })
    expect(next).toMatchObject({
      attempt: 3,
      bases: [base()],
      sequence: 7,
      pass: { number: 2, nextPage: 3, size: 10 },
    })
  })

  test('follows the rules of that attempt', () => {
    const rules = ({ attempt }: Progress) =>
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
