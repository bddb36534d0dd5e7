/** What a page shows: its first id, its times, its known rows, and how much of the list. */
import { describe, expect, test } from 'vitest'
import { factsOf } from '../../../src/sync/paging/page-facts.ts'
import type { Answer, End, PassState } from '../../../src/sync/paging/pass-state.ts'
import { isBeyondTotal, isHollow, rowsAgreed, shown, withSight } from '../../../src/sync/paging/shown.ts'
import { answer, at, emptyAnswer, end, ms, pass } from './lists.ts'

describe('the facts of a page', () => {
  const records = [
    { id: 'a', changed: at(9) },
    { id: 'b', changed: at(10) },
    { id: 'c', changed: at(11) },
  ]
  const reading = { updatedAt: 'changed', known: { before: ms(10) }, now: ms(20) }

  test('are its rows, its first id, its times and the rows older than what is known', () => {
    expect(factsOf(records, reading)).toEqual({
      ...{ rows: 3, first: 'a', oldest: at(9), newest: at(11), inOrder: true, old: 1 },
    })
  })

  test('count rows at the very time, without a time and of no kind as not older', () => {
    expect(factsOf([{ id: 'a', changed: at(10) }, { id: 'b' }, null], reading).old).toBe(0)
  })

  test('are without old rows where nothing is known', () => {
    expect(factsOf(records, { ...reading, known: undefined })).toEqual({
      ...{ rows: 3, first: 'a', oldest: at(9), newest: at(11), inOrder: true },
    })
  })

  test('are without times where records have none', () => {
    expect(factsOf(records, { ...reading, updatedAt: undefined })).toEqual({ rows: 3, first: 'a' })
  })

  test.each([[[]], [[null]], [[{ id: 7 }]], [[{}]]])('are without a first id: %j', page => {
    expect(factsOf(page, { ...reading, updatedAt: undefined })).toEqual({ rows: page.length })
  })
})

describe('a page shows', () => {
  test.each([
    [3, 5, 25],
    [1, 10, 10],
    [3, 0, 0],
  ])('page %i with %i rows: %i rows of the list', (page, rows, expected) => {
    expect(shown(answer({ page, rows }), 10)).toBe(expected)
  })

  test('nothing of the list where its rows were not counted', () => {
    const { rows: _, ...uncounted } = answer({ page: 3 })
    expect(shown(uncounted, 10)).toBe(0)
  })
})

describe('a page is hollow', () => {
  test.each<readonly [string, Partial<Answer>, boolean]>([
    ['when it is empty within the total', { page: 3, total: 21 }, true],
    ['not when it is empty after the total', { page: 3, total: 20 }, false],
    ['not when it has rows', { page: 3, total: 21, empty: false }, false],
    ['when pages turn out smaller', { page: 3, total: 11, limit: 5 }, true],
    ['not by pages that the service calls greater', { page: 3, total: 20, limit: 20 }, false],
  ])('%s', (...[, parts, expected]) => {
    expect(isHollow({ ...emptyAnswer(), ...parts }, 10)).toBe(expected)
  })
})

test('a page is hollow also where the service names no size', () => {
  const { limit: _, ...unnamed } = emptyAnswer({ page: 3, total: 21 })
  expect(isHollow(unnamed, 10)).toBe(true)
})

describe('the answers agree on the length of the list', () => {
  test.each<readonly [string, Partial<End>, boolean, number | undefined]>([
    ['at rest', {}, false, 25],
    ['not where totals are too low', {}, true, undefined],
    ['not beyond the total', { isBeyond: true }, false, undefined],
    ['not while the page after the last one is asked', { back: 0 }, false, undefined],
    ['not while a size is tried', { tried: { size: 5, back: 1 } }, false, undefined],
  ])('%s', (...[, parts, isCapped, expected]) => {
    expect(rowsAgreed(pass({ lastTotal: 25, isCapped, end: end(parts) }))).toBe(expected)
  })
})

describe('after an answer, whatever it is for,', () => {
  const state = pass({ hollow: 2, longest: 6, furthest: 3, greatestTotal: 30 })

  test('the longest page, the furthest page with rows and the greatest total grow', () => {
    expect(withSight(state, answer({ page: 4, rows: 7, total: 31 }))).toMatchObject({
      ...{ longest: 7, furthest: 4, greatestTotal: 31, said: 31, hollow: 0 },
    })
    expect(withSight(state, answer({ page: 2, rows: 5, total: 29 }))).toMatchObject({
      ...{ longest: 6, furthest: 3, greatestTotal: 30, said: 29, hollow: 0 },
    })
  })

  test('hollow pages in a row are counted, and show no row', () => {
    expect(withSight(state, emptyAnswer({ page: 4, total: 45 }))).toMatchObject({ hollow: 3, furthest: 3 })
    expect(withSight(state, emptyAnswer({ page: 4, total: 30 }))).toMatchObject({ hollow: 0, furthest: 3 })
  })

  test('an uncounted page leaves the longest one', () => {
    const { rows: _, ...uncounted } = answer({ page: 4 })
    expect(withSight(state, uncounted)).toMatchObject({ longest: 6, furthest: 4 })
  })
})

describe('rows lie beyond the total', () => {
  test.each<readonly [string, Partial<PassState>, Partial<Answer>, boolean]>([
    ['when a page shows more rows than its total', {}, { page: 3, rows: 6 }, true],
    ['not when it shows as many', {}, { page: 3, rows: 5 }, false],
    ['when an earlier page lies after the greatest total', { furthest: 4, greatestTotal: 30 }, {}, true],
    ['not when an earlier page begins within it', { furthest: 4, greatestTotal: 31 }, {}, false],
    [
      'not by page 1 of a list that is empty by its total',
      { furthest: 1, greatestTotal: 0 },
      { rows: 0 },
      false,
    ],
    ['not before any answer', { furthest: 0, greatestTotal: 0 }, { rows: 0 }, false],
  ])('%s', (...[, parts, change, expected]) => {
    expect(isBeyondTotal(pass(parts), answer(change))).toBe(expected)
  })
})
