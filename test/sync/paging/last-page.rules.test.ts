/** Where a list ends: which page to ask, whether the answer is the last page, and when smaller pages explain a short one. */
import { describe, expect, test } from 'vitest'
import { findEnd, isLastAgain, searchSize } from '../../../src/sync/paging/last-page.ts'
import type { Answer, End, PassRules, PassState } from '../../../src/sync/paging/pass-state.ts'
import { answer, base, emptyAnswer, end, pass } from './lists.ts'

describe('the page that only smaller pages have is asked for', () => {
  const short = { page: 3, rows: 3 }

  test.each<readonly [string, Partial<PassState>, Partial<Answer>, number | undefined]>([
    ['after a short last page', {}, short, 9],
    ['after a short first page', {}, { page: 1, rows: 9, total: 10 }, 2],
    ['not after a last page with all its rows', {}, { page: 3, rows: 5 }, undefined],
    ['not after a full page', {}, { page: 2, rows: 10 }, undefined],
    ['not after an empty page', {}, { page: 3, rows: 0 }, undefined],
    ['not where an earlier page had more rows', { longest: 4 }, short, undefined],
    ['where no earlier page had more rows', { longest: 3 }, short, 9],
    ['not twice', { end: end({ isSizeSearched: true }) }, short, undefined],
    ['not when no page would tell', {}, { page: 2, rows: 9 }, undefined],
    ['by the total of the pass start', { base: base({ total: 35 }) }, { page: 3, rows: 8 }, 5],
    ['by the total of the answer', { base: base({ total: 25 }) }, { page: 3, rows: 8, total: 35 }, 5],
  ])('%s', (...[, state, parts, expected]) => {
    expect(searchSize(pass(state), answer(parts))).toBe(expected)
  })

  test('not where rows were not counted', () => {
    const { rows: _, ...uncounted } = answer({ page: 3 })
    expect(searchSize(pass(), uncounted)).toBeUndefined()
  })
})

describe('the last page is shown again', () => {
  const seen = { page: 4, first: 'x', rows: 5 }
  const again = answer({ page: 5, first: 'x', rows: 5 })

  test.each<readonly [string, Partial<End>, Partial<Answer>, boolean]>([
    ['when two pages after the total begin alike', { last: seen }, {}, true],
    ['when the first of them begins right after the total', { last: seen }, { total: 30 }, true],
    ['not when the first of them has rows within the total', { last: seen }, { total: 31 }, false],
    ['in either order', { last: { ...seen, page: 5 } }, { page: 4 }, true],
    [
      'not when the second of them has rows within the total',
      { last: { ...seen, page: 5 } },
      { page: 4, total: 31 },
      false,
    ],
    ['not when they begin otherwise', { last: { ...seen, first: 'y' } }, {}, false],
    ['not by the same page', { last: { ...seen, page: 5 } }, {}, false],
    ['also by the greatest full page', { full: 4, first: 'x' }, {}, true],
    [
      'by the page before, where both are known',
      { last: { ...seen, first: 'y' }, full: 4, first: 'x' },
      {},
      false,
    ],
    ['not where no page was seen', {}, {}, false],
  ])('%s', (...[, parts, change, expected]) => {
    expect(isLastAgain(pass({ end: end(parts) }), { ...again, ...change })).toBe(expected)
  })

  test('not when neither page tells its first id', () => {
    const { first: _, ...unnamed } = again
    expect(isLastAgain(pass({ end: end({ last: { ...seen, first: undefined } }) }), unnamed)).toBe(false)
  })

  test.each([
    ['right after the last page, with as many rows', seen, {}, true],
    ['not with other rows', seen, { rows: 4 }, false],
    ['not further on', { ...seen, page: 5 }, { page: 6 }, false],
  ])('to a pass that goes forward: %s', (...[, last, change, expected]) => {
    const state = pass({ end: end({ last }) })
    expect(isLastAgain(state, { ...again, ...change }, 'first to last')).toBe(expected)
    expect(isLastAgain(state, { ...again, ...change }, 'last to first')).toBe(true)
  })
})

const found = (state: Partial<PassState>, parts: Partial<Answer>, rules: PassRules = {}) =>
  findEnd(pass(state), answer(parts), rules)

describe('an empty page', () => {
  const asked = (parts: Partial<End>, page: number, total = 25) =>
    findEnd(pass({ end: end(parts) }), emptyAnswer({ page, total }), {})

  test('1 is the whole list', () => {
    expect(asked({}, 1)).toEqual({ end: end(), isProbed: false })
  })

  test.each([
    ['leads to the last page by the total', {}, 5, 25, 3],
    ['leads to the page before, where the total says more', {}, 2, 45, 1],
    ['beyond the total leads to the middle of full and empty', { isBeyond: true, full: 3 }, 8, 25, 5],
    ['beyond the total leads to page 1 where none is known to be full', { isBeyond: true }, 2, 25, 1],
    ['below a full page leads to the last one by the total', { isBeyond: true, full: 8 }, 8, 25, 3],
    ['above a full page within the total leads to the last one by the total', { full: 3 }, 8, 25, 3],
  ])('%s', (...[, parts, page, total, ask]) => {
    expect(asked(parts, page, total)).toEqual({ ask, end: { ...end(parts), empty: page }, isProbed: false })
  })
})

describe('a page before the first data page', () => {
  test('is the last one when it ends where the total says', () => {
    expect(found({}, { page: 3, rows: 5 })).toEqual({ end: end(), isProbed: false })
  })

  test.each([
    ['when it is full', { page: 3, total: 30 }, {}],
    ['when a pass looks for the end', { page: 3, rows: 5 }, { seeksEnd: true }],
  ])('is probed: %s', (...[, parts, rules]) => {
    expect(found({}, parts, rules)).toEqual({ end: end(), isProbed: true })
  })

  test('leads to the last page by its own total, and is remembered', () => {
    const expected = { ask: 5, end: end({ guess: { page: 3, first: 'first of 3' } }), isProbed: false }
    expect(found({}, { page: 3, total: 45 })).toEqual(expected)
  })

  test('leads to no page that was empty', () => {
    expect(found({ end: end({ empty: 6 }) }, { page: 3, total: 45 }).ask).toBe(5)
    expect(found({ end: end({ empty: 5 }) }, { page: 3, total: 45 })).toEqual({
      ...{ end: end({ empty: 5 }), isProbed: true },
    })
  })

  test('that is short leads to the page that only smaller pages have, unless the list hides rows', () => {
    const expected = { ask: 9, end: end({ tried: { size: 3, back: 3 } }), isProbed: false }
    expect(found({}, { page: 3, rows: 3 })).toEqual(expected)
    expect(found({}, { page: 3, rows: 3 }, { hidesRows: true })).toEqual({ end: end(), isProbed: false })
  })
})

describe('the page before is answered again', () => {
  const guess = { page: 3, first: 'x' }
  const asked = (parts: Partial<Answer>, one: End['guess'] = guess) =>
    found({ end: end({ guess: one }) }, { page: 5, total: 45, rows: 5, ...parts })

  test('when another page begins with the same row: it is asked for again', () => {
    const expected = { ask: 5, end: end({ guess: { page: 5, first: 'x' } }), isProbed: false }
    expect(asked({ first: 'x' })).toEqual(expected)
  })

  test('not when it begins with another row, or is the same page', () => {
    expect(asked({ first: 'y' }).ask).toBeUndefined()
    expect(asked({ page: 3, first: 'x', rows: 10 })).toMatchObject({ ask: 5, end: { guess: { page: 3 } } })
  })

  test('not where neither names its first row', () => {
    const { first: _, ...unnamed } = answer({ page: 5, total: 45, rows: 5 })
    const state = pass({ end: end({ guess: { page: 3, first: undefined } }) })
    expect(findEnd(state, unnamed, {}).ask).toBeUndefined()
  })
})

describe('rows beyond the total', () => {
  const beyond = (parts: Partial<End>, change: Partial<Answer> = {}) =>
    found({ end: end({ isBeyond: true, ...parts }) }, { page: 5, first: 'x', ...change })

  test.each<readonly [string, Partial<PassState>, Partial<Answer>, boolean]>([
    ['begin with one row more than the total', {}, { page: 3, rows: 6 }, true],
    ['not with as many rows as the total', {}, { page: 3, rows: 5 }, false],
    ['are expected where totals are too low', { isCapped: true }, { page: 3, rows: 5 }, true],
    ['are expected once they were seen', { end: end({ isBeyond: true }) }, { page: 3, rows: 5 }, true],
  ])('%s', (...[, state, parts, isBeyond]) => {
    expect(found(state, parts)).toEqual({ end: { ...end(), isBeyond }, isProbed: isBeyond })
  })

  test.each([
    [2, { end: end({ isBeyond: true, missedEnds: 2 }), isProbed: true }],
    [3, { ask: 6, end: end({ isBeyond: true, missedEnds: 3, full: 5, first: 'x' }), isProbed: false }],
  ])('end at a short page unless %i of them had rows behind', (missedEnds, expected) => {
    expect(beyond({ missedEnds }, { rows: 4 })).toEqual(expected)
  })

  test('may end at a page whose rows were not counted', () => {
    const { rows: _, ...uncounted } = answer({ page: 5, first: 'x' })
    const state = pass({ end: end({ isBeyond: true, missedEnds: 9 }) })
    expect(findEnd(state, uncounted, {})).toEqual({ end: state.end, isProbed: true })
  })

  test.each([
    ['the next page', {}, 6],
    ['twice as far as the step before', { full: 4 }, 7],
    ['twice as far again', { full: 2 }, 11],
    ['the middle of a full and an empty page', { full: 4, empty: 9 }, 7],
    ['the next page where an earlier one was empty', { empty: 5 }, 6],
  ])('a full page leads to %s', (...[, parts, ask]) => {
    const full = { ...end({ isBeyond: true, ...parts }), full: 5, first: 'x' }
    expect(beyond(parts)).toEqual({ ask, end: full, isProbed: false })
  })

  test('end at a full page before an empty one', () => {
    expect(beyond({ empty: 6 })).toEqual({
      ...{ end: end({ isBeyond: true, empty: 6, full: 5, first: 'x' }), isProbed: true },
    })
  })

  test('of a full page without ids leave no first row', () => {
    const { first: _, ...unnamed } = answer({ page: 5 })
    const state = pass({ end: end({ isBeyond: true }) })
    expect(findEnd(state, unnamed, {}).end).toEqual(end({ isBeyond: true, full: 5 }))
  })

  test.each<readonly [string, Partial<End>, Partial<Answer>, boolean]>([
    ['when another full page began alike', { full: 4, first: 'x' }, {}, true],
    ['not when the same page did', { full: 5, first: 'x' }, {}, false],
    ['not when it began otherwise', { full: 4, first: 'y' }, {}, false],
    ['not when no id is known of it', { full: 4 }, {}, false],
    ['on a page that no list has', {}, { page: 2 ** 24 + 1 }, true],
    ['not on the last page that a list may have', {}, { page: 2 ** 24 }, false],
  ])('have no end %s', (...[, parts, change, isRepeated]) => {
    const result = beyond(parts, change)
    expect(result.end.isRepeated ?? false).toBe(isRepeated)
    if (isRepeated)
      expect(result).toEqual({ end: { ...end({ isBeyond: true, ...parts }), isRepeated }, isProbed: false })
  })

  test('of two pages without ids prove no repetition', () => {
    const { first: _, ...unnamed } = answer({ page: 5 })
    const state = pass({ end: end({ isBeyond: true, full: 4 }) })
    expect(findEnd(state, unnamed, {}).end.isRepeated).toBeUndefined()
  })
})
