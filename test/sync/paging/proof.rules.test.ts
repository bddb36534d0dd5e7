/** When a scan is proved, judged and given up: each rule on both sides of its boundary. */
import { describe, expect, test } from 'vitest'
import {
  type Base,
  hiddenRows,
  isLikely,
  isShuffled,
  judge,
  type PassFigures,
  provedBase,
  provedForward,
  seenAndExpected,
  steadyMoment,
  withSteady,
} from '../../../src/sync/paging/proof.ts'

const base = (parts: Partial<Base> = {}): Base => ({
  ...{ pass: 1, front: 2, total: 400, before: 1000, watermark: null },
  ...parts,
})
const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
  ...{ attempt: 1, bases: [base()], counted: [400], ids: 400, claimed: 400, excluded: 0, hidden: 0 },
  isCapped: false,
  ...parts,
})

describe('a pass start is proved', () => {
  test.each([
    [399, undefined],
    [400, 1],
    [401, 1],
  ])('by %i of 400 records: pass %s', (counted, pass) => {
    expect(provedBase(figures({ counted: [counted] }))?.pass).toBe(pass)
  })

  test.each([
    [800, true],
    [801, false],
  ])('only when at most twice its total of 400 were seen: %i ids, %s', (ids, isProved) => {
    expect(isLikely(base(), ids)).toBe(isProved)
    expect(provedBase(figures({ ids })) !== undefined).toBe(isProved)
  })

  test.each([
    [400, true],
    [401, false],
  ])('where totals are too low, only when no more than its total were seen: %i ids, %s', (ids, isProved) => {
    expect(provedBase(figures({ ids, isCapped: true })) !== undefined).toBe(isProved)
    expect(provedBase(figures({ ids, isCapped: false }))).toBeDefined()
  })

  test('without the rows that need not be seen, and never by fewer than none', () => {
    expect(provedBase(figures({ counted: [100], excluded: 300 }))).toBeDefined()
    expect(provedBase(figures({ counted: [99], excluded: 300 }))).toBeUndefined()
    expect(provedBase(figures({ counted: [0], excluded: 500, ids: 0 }))).toBeDefined()
  })

  test('not where nothing was counted for it', () => {
    expect(provedBase(figures({ counted: [] }))).toBeUndefined()
  })

  test('the newest one that is proved', () => {
    const bases = [base(), base({ pass: 2 }), base({ pass: 3 })]
    expect(provedBase(figures({ bases, counted: [400, 400, 399] }))?.pass).toBe(2)
  })
})

describe('a forward pass over a list whose totals are too low is proved', () => {
  const forward = { ids: 400, inLastPass: 400, isCapped: true, base: base() }
  const isProved = (attempt: number, parts: Partial<typeof forward>): boolean =>
    provedForward(figures({ attempt }), { ...forward, ...parts }) !== undefined

  test.each([
    ['by the second pass that shows each row once', 2, {}, true],
    ['not by the first pass', 1, {}, false],
    ['not when an earlier pass showed other rows', 2, { inLastPass: 399 }, false],
    ['not when it shows other rows than it counts', 2, { base: base({ total: 399 }) }, false],
    ['by the first pass where totals are right', 1, { isCapped: false, inLastPass: 399 }, true],
  ])('%s', (...[, attempt, parts, expected]) => expect(isProved(attempt, parts)).toBe(expected))

  test('not without a pass start', () => {
    expect(
      provedForward(figures({ attempt: 2 }), { ids: 400, inLastPass: 400, isCapped: true }),
    ).toBeUndefined()
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

  test('never when a pass start is proved', () => {
    expect(judge({ attempt: 14 }, base(), Array(14).fill(9))).toBe('accepted')
  })
})

describe('what a scan saw and expected', () => {
  const two = { bases: [base(), base({ pass: 2, total: 390 })] }

  test('is that of the pass start that lacks least', () => {
    expect(seenAndExpected(figures({ ...two, counted: [300, 389] }))).toEqual({ seen: 389, expected: 390 })
    expect(seenAndExpected(figures({ ...two, counted: [399, 300] }))).toEqual({ seen: 399, expected: 400 })
  })

  test('is that of the newest of those which lack the same', () => {
    expect(seenAndExpected(figures({ ...two, counted: [399, 389] }))).toEqual({ seen: 389, expected: 390 })
    expect(seenAndExpected(figures({ ...two, counted: [401, 395] }))).toEqual({ seen: 395, expected: 390 })
  })

  test('is what the service claims where no pass found the end', () => {
    expect(seenAndExpected(figures({ bases: [], counted: [], ids: 200, claimed: 500 }))).toEqual({
      ...{ seen: 200, expected: 500 },
    })
  })

  test('leaves out rows that need not be seen', () => {
    expect(seenAndExpected(figures({ counted: [90], excluded: 300 }))).toEqual({ seen: 90, expected: 100 })
  })
})

describe('hidden rows', () => {
  const pass = { lacking: 48, base: base({ total: 650 }), below: 0, lastTotal: 650 }
  const seen = { attempt: 5, ids: 602, inLastPass: 602, known: undefined, still: 2 }

  test.each([
    ['are counted when passes over pages of two sizes show the same ids', {}, {}, 48],
    ['not before the fifth pass', {}, { attempt: 4 }, 0],
    ['not after one pass that shows the same', {}, { still: 1 }, 0],
    ['not when more ids were seen than the pages showed', {}, { ids: 603 }, 0],
    ['not when fewer ids were seen than the pages showed', {}, { ids: 601 }, 0],
    ['not when the total moved', { lastTotal: 649 }, {}, 0],
    ['not when a page was not counted', { lacking: undefined }, {}, 0],
    ['not when pages lacked nothing', { lacking: 0 }, {}, 0],
    ['not when the list shows no row at all', { lacking: 650 }, { ids: 0, inLastPass: 0, known: 650 }, 0],
    ['without the rows below the end of the pass', { below: 100 }, { ids: 502, inLastPass: 502 }, 48],
    ['at once when an earlier scan knew them', {}, { attempt: 1, still: 0, known: 48 }, 48],
    ['at once when there are fewer than known', { lacking: 47 }, { attempt: 1, still: 0, known: 48 }, 47],
    ['not at once when there are more than known', { lacking: 49 }, { attempt: 1, still: 0, known: 48 }, 0],
    ['not by two passes where ties come in any order', {}, { isShuffled: true }, 0],
    ['not by nine passes where ties come in any order', {}, { isShuffled: true, still: 9 }, 0],
    ['by ten passes where ties come in any order', {}, { isShuffled: true, still: 10 }, 48],
    ['not by nine passes of which the last shows an id twice', {}, { inLastPass: 601, still: 9 }, 0],
    ['by ten passes of which the last shows an id twice', {}, { inLastPass: 601, still: 10 }, 48],
  ])('%s', (...[, pages, ids, expected]) => {
    expect(hiddenRows({ ...pass, ...pages }, { ...seen, ...ids })).toBe(expected)
  })

  test('need a pass start', () => {
    expect(hiddenRows({ lacking: 48, below: 0, lastTotal: 650 }, seen)).toBe(0)
  })
})

describe('an order is shuffled', () => {
  const shown = { isSteady: true, rows: 400, oldRows: 30, below: 0 }

  test.each([
    ['when a steady pass shows fewer ids than rows', {}, 399, true],
    ['not when each row has an id of its own', {}, 400, false],
    ['not when totals moved', { isSteady: false }, 399, false],
    ['not when rows were not counted', { rows: undefined }, 399, false],
    ['old rows of a whole pass count', { below: 0 }, 370, true],
    ['old rows of a pass that ends at known rows do not', { below: 1 }, 370, false],
    ['but its new rows do', { below: 1 }, 369, true],
  ])('%s', (...[, parts, inLastPass, expected]) => {
    expect(isShuffled({ ...shown, ...parts }, inLastPass)).toBe(expected)
  })
})

describe('the steady moment', () => {
  const watermark = '2026-03-01T10:00:00.000Z'

  test('is the watermark of a pass whose total never moved', () => {
    expect(steadyMoment({ isSteady: true, base: base({ pass: 3, watermark }) })).toEqual([
      { pass: 3, before: Date.parse(watermark) },
    ])
  })

  test('is missing when the total moved, without a pass start and without a watermark', () => {
    expect(steadyMoment({ isSteady: false, base: base({ watermark }) })).toEqual([])
    expect(steadyMoment({ isSteady: true })).toEqual([])
    expect(steadyMoment({ isSteady: true, base: base() })).toEqual([])
  })

  test('counts for the last pass start alone, and never lowers its count', () => {
    const bases = [base(), base({ pass: 2 })]
    expect(withSteady(bases, [1, 2])).toEqual([1, 2])
    expect(withSteady(bases, [1, 2, 9])).toEqual([1, 9])
    expect(withSteady(bases, [1, 9, 2])).toEqual([1, 9])
  })
})
