/** When a scan is proved, judged and given up: each rule on both sides of its boundary. */
import { describe, expect, test } from 'vitest'
import {
  hiddenRows,
  isPlausible,
  isShuffled,
  judge,
  type PassFigures,
  type PassStart,
  provedStart,
  seenAndExpected,
  steadyStart,
  withSteady,
} from '../../../src/sync/paging/proof.ts'

const start = (parts: Partial<PassStart> = {}): PassStart => ({
  ...{ pass: 1, front: 2, total: 400, before: 1000, watermark: null },
  ...parts,
})
const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
  ...{ attempt: 1, starts: [start()], counted: [400], ids: 400, total: 400, excluded: 0, hidden: 0 },
  ...parts,
})

describe('a pass start is proved', () => {
  test.each([
    [399, undefined],
    [400, 1],
    [401, 1],
  ])('by %i of 400 records: pass %s', (counted, pass) => {
    expect(provedStart(figures({ counted: [counted] }))?.pass).toBe(pass)
  })

  test.each([
    [800, true],
    [801, false],
  ])('only when at most twice its total of 400 were seen: %i ids, %s', (ids, isProved) => {
    expect(isPlausible(start(), ids)).toBe(isProved)
    expect(provedStart(figures({ ids })) !== undefined).toBe(isProved)
  })

  test.each([
    [400, true],
    [401, false],
  ])(
    'where the size of pages is inferred, only when no more than its total were seen: %i ids, %s',
    (ids, isProved) => {
      expect(provedStart(figures({ ids, isSizeInferred: true })) !== undefined).toBe(isProved)
      expect(provedStart(figures({ ids, isSizeInferred: false }))).toBeDefined()
    },
  )

  test('not where the service contradicted itself', () => {
    expect(provedStart(figures({ contradiction: 'page 4 showed 32 rows of a list of 30' }))).toBeUndefined()
  })

  test('without the rows that need not be seen, and never by fewer than none', () => {
    expect(provedStart(figures({ counted: [100], excluded: 300 }))).toBeDefined()
    expect(provedStart(figures({ counted: [99], excluded: 300 }))).toBeUndefined()
    expect(provedStart(figures({ counted: [0], excluded: 500, ids: 0 }))).toBeDefined()
  })

  test('not where nothing was counted for it', () => {
    expect(provedStart(figures({ counted: [] }))).toBeUndefined()
  })

  test('the newest one that is proved', () => {
    const starts = [start(), start({ pass: 2 }), start({ pass: 3 })]
    expect(provedStart(figures({ starts, counted: [400, 400, 399] }))?.pass).toBe(2)
  })
})

describe('a scan that is not proved is given up', () => {
  const decided = (lacks: readonly number[], isShuffled = false) =>
    judge({ attempt: lacks.length, isShuffled }, undefined, lacks)
  const falling = (passes: number): number[] => Array.from({ length: passes }, (_, n) => 100 - n)

  test.each([
    [13, false, 'scan again'],
    [14, false, 'refused'],
    [29, true, 'scan again'],
    [30, true, 'refused'],
  ] as const)('after %i passes that each bring something, shuffled %s: %s', (passes, shuffled, decision) => {
    expect(decided(falling(passes), shuffled)).toBe(decision)
  })

  test.each([
    [4, false, 'scan again'],
    [5, false, 'refused'],
    [10, true, 'scan again'],
    [11, true, 'refused'],
  ] as const)('after %i passes that lack the same, shuffled %s: %s', (passes, shuffled, decision) => {
    expect(decided(Array(passes).fill(9), shuffled)).toBe(decision)
  })

  test('when the last four passes lack no less than the best before them', () => {
    expect(decided([9, 3, 4, 5, 6, 7])).toBe('refused')
    expect(decided([9, 3, 4, 5, 6, 2])).toBe('scan again')
  })

  test('immediately where the service contradicted itself', () => {
    expect(judge({ attempt: 1, contradiction: 'page 4 was empty' }, undefined, [9])).toBe('refused')
  })

  test('never when a pass start is proved', () => {
    expect(judge({ attempt: 14 }, start(), Array(14).fill(9))).toBe('accepted')
  })
})

describe('what a scan saw and expected', () => {
  const two = { starts: [start(), start({ pass: 2, total: 390 })] }

  test('is that of the pass start with the smallest shortfall', () => {
    expect(seenAndExpected(figures({ ...two, counted: [300, 389] }))).toEqual({ seen: 389, expected: 390 })
    expect(seenAndExpected(figures({ ...two, counted: [399, 300] }))).toEqual({ seen: 399, expected: 400 })
  })

  test('is that of the newest of those which lack the same', () => {
    expect(seenAndExpected(figures({ ...two, counted: [399, 389] }))).toEqual({ seen: 389, expected: 390 })
    expect(seenAndExpected(figures({ ...two, counted: [401, 395] }))).toEqual({ seen: 395, expected: 390 })
  })

  test('is what the service reports where no pass has started', () => {
    expect(seenAndExpected(figures({ starts: [], counted: [], ids: 200, total: 500 }))).toEqual({
      ...{ seen: 200, expected: 500 },
    })
  })

  test('leaves out rows that need not be seen', () => {
    expect(seenAndExpected(figures({ counted: [90], excluded: 300 }))).toEqual({ seen: 90, expected: 100 })
  })
})

describe('hidden rows', () => {
  const pass = { shown: { missing: 48 }, start: start({ total: 650 }), below: 0, lastTotal: 650 }
  const seen = { attempt: 5, ids: 602, inLastPass: 602, known: undefined, still: 2 }

  test.each([
    ['are counted when passes over pages of two sizes show the same ids', {}, {}, 48],
    ['not before the fifth pass', {}, { attempt: 4 }, 0],
    ['not after one pass that shows the same', {}, { still: 1 }, 0],
    ['not when more ids were seen than the pages showed', {}, { ids: 603 }, 0],
    ['not when fewer ids were seen than the pages showed', {}, { ids: 601 }, 0],
    ['not when the total moved', { lastTotal: 649 }, {}, 0],
    ['not when a page was not counted', { shown: undefined }, {}, 0],
    ['not when pages lacked nothing', { shown: { missing: 0 } }, {}, 0],
    [
      'not when the list shows no row at all',
      { shown: { missing: 650 } },
      { ids: 0, inLastPass: 0, known: 650 },
      0,
    ],
    ['not when more are hidden than shown', { shown: { missing: 326 } }, { ids: 324, inLastPass: 324 }, 0],
    ['when as many are hidden as shown', { shown: { missing: 325 } }, { ids: 325, inLastPass: 325 }, 325],
    [
      'where all that is new is known to be hidden',
      { shown: { missing: 3 }, below: 647 },
      { ids: 0, inLastPass: 0, known: 3 },
      3,
    ],
    ['without the rows below the end of the pass', { below: 100 }, { ids: 502, inLastPass: 502 }, 48],
    ['at once when an earlier scan knew them', {}, { attempt: 1, still: 0, known: 48 }, 48],
    [
      'at once when there are fewer than known',
      { shown: { missing: 47 } },
      { attempt: 1, still: 0, known: 48 },
      47,
    ],
    [
      'not at once when there are more than known',
      { shown: { missing: 49 } },
      { attempt: 1, still: 0, known: 48 },
      0,
    ],
    ['not by two passes where ties come in any order', {}, { isShuffled: true }, 0],
    ['not by nine passes where ties come in any order', {}, { isShuffled: true, still: 9 }, 0],
    ['by ten passes where ties come in any order', {}, { isShuffled: true, still: 10 }, 48],
    ['not by nine passes of which the last shows an id twice', {}, { inLastPass: 601, still: 9 }, 0],
    ['by ten passes of which the last shows an id twice', {}, { inLastPass: 601, still: 10 }, 48],
  ])('%s', (...[, pages, ids, expected]) => {
    expect(hiddenRows({ ...pass, ...pages }, { ...seen, ...ids })).toBe(expected)
  })

  test('need a pass start', () => {
    expect(hiddenRows({ shown: { missing: 48 }, below: 0, lastTotal: 650 }, seen)).toBe(0)
  })
})

describe('an order is shuffled', () => {
  const steady = { isSteady: true, shown: { rows: 400, old: 30 }, below: 0 }

  test.each([
    ['when a steady pass shows fewer ids than rows', {}, 399, true],
    ['not when each row has an id of its own', {}, 400, false],
    ['not when totals moved', { isSteady: false }, 399, false],
    ['not when rows were not counted', { shown: undefined }, 399, false],
    ['old rows of a whole pass count', { below: 0 }, 370, true],
    ['old rows of a pass that ends at known rows do not', { below: 1 }, 370, false],
    ['but its new rows do', { below: 1 }, 369, true],
  ])('%s', (...[, parts, inLastPass, expected]) => {
    expect(isShuffled({ ...steady, ...parts }, inLastPass)).toBe(expected)
  })
})

describe('the steady moment', () => {
  const watermark = '2026-03-01T10:00:00.000Z'

  test('is the watermark of a pass whose total never moved', () => {
    expect(steadyStart({ isSteady: true, start: start({ pass: 3, watermark }) })).toEqual([
      { pass: 3, before: Date.parse(watermark) },
    ])
  })

  test('is missing when the total moved, without a pass start and without a watermark', () => {
    expect(steadyStart({ isSteady: false, start: start({ watermark }) })).toEqual([])
    expect(steadyStart({ isSteady: true })).toEqual([])
    expect(steadyStart({ isSteady: true, start: start() })).toEqual([])
  })

  test('counts for the last pass start alone, and never lowers its count', () => {
    const starts = [start(), start({ pass: 2 })]
    expect(withSteady(starts, [1, 2])).toEqual([1, 2])
    expect(withSteady(starts, [1, 2, 9])).toEqual([1, 9])
    expect(withSteady(starts, [1, 9, 2])).toEqual([1, 9])
  })
})
