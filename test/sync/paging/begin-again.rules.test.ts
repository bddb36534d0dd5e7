/** Passes that begin again: what the next pass remembers, and what pages of another size change. */
import { describe, expect, test } from 'vitest'
import { anew, nextPass, resized, shrunk, withoutBase } from '../../../src/sync/paging/begin-again.ts'
import { beginPass, type PassState } from '../../../src/sync/paging/pass-state.ts'
import { answer, at, base, end, pass } from './lists.ts'

const read: PassState = pass({
  ...{
    number: 4,
    nextPage: 2,
    longest: 9,
    furthest: 5,
    hollow: 3,
    sizes: 2,
    pages: 3,
    role: 'data',
    base: base(),
  },
  ...{
    validSince: 2,
    isShrunk: true,
    last: 2,
    isSecond: true,
    ended: 7,
    watermark: at(5),
    greatestTotal: 40,
  },
  ...{ said: 25, lastTotal: 35, below: 4, lacking: 2, rows: 25, oldRows: 3, isCapped: true, isSteady: false },
  ...{ doubted: 5, end: end({ full: 4, isSizeSearched: true }) },
})

/** What answers have shown of the list, whichever pass they were for. */
const shown = {
  ...{ longest: 9, furthest: 5, hollow: 3, sizes: 2, validSince: 2, isShrunk: true },
  ...{ watermark: at(5), greatestTotal: 40, lastTotal: 35, isCapped: true },
}

test('a new pass starts from nothing', () => {
  expect(beginPass(3, 8, 9)).toEqual({
    ...{ number: 1, nextPage: 3, size: 8, usual: 8, limit: 9, longest: 0, furthest: 0, hollow: 0, sizes: 0 },
    ...{ validSince: 0, isShrunk: false, pages: 0, role: 'before', last: 0, isSecond: false, ended: 0 },
    ...{
      watermark: null,
      greatestTotal: 0,
      said: 0,
      lastTotal: 0,
      below: 0,
      lacking: 0,
      rows: 0,
      oldRows: 0,
    },
    ...{ isCapped: false, isSteady: true },
    end: { isBeyond: false, full: 0, empty: 0, isSizeSearched: false },
  })
  expect(beginPass(1)).toMatchObject({ size: 200, usual: 200, limit: 200 })
})

test('a pass that begins again keeps what the answers have shown, and nothing of its pages', () => {
  expect(anew(read, 6)).toEqual({ ...beginPass(6, 10, 10), ...shown, number: 5 })
  expect(anew(pass({ usual: 10, limit: 12 }), 6, 8)).toEqual({ ...beginPass(6, 8, 12), usual: 10, number: 2 })
})

describe('the next pass', () => {
  test('begins at the last page, knows where this one ended, and may be resized again', () => {
    expect(nextPass(read)).toEqual({
      ...{ ...beginPass(4, 10, 10), ...shown, number: 5, sizes: 0, ended: 2 },
      end: end({ isSizeSearched: true }),
    })
    expect(nextPass(read, 'last to first').nextPage).toBe(4)
  })

  test('that goes forward begins at page 1', () => {
    expect(nextPass(read, 'first to last').nextPage).toBe(1)
  })

  test('over pages of another size forgets how long pages are and where they end', () => {
    expect(nextPass(read, 'last to first', 8)).toEqual({
      ...{ ...beginPass(5, 8, 10), ...shown, usual: 10, number: 5, sizes: 0, longest: 0, furthest: 0 },
    })
  })
})

test('a pass without an end has no pass start, and its number is void', () => {
  const { base: _, ...rest } = read
  expect(withoutBase(read)).toEqual({ ...rest, voided: 4 })
  expect(withoutBase(read)).not.toHaveProperty('base')
})

describe('a pass with pages of another size', () => {
  test('begins again as another pass once it has read a page', () => {
    expect(resized(read, 5, undefined)).toEqual({
      ...{ ...beginPass(7, 5, 10), ...shown, number: 5, sizes: 3, isCapped: false },
    })
    expect(resized({ ...read, pages: 1 }, 5, undefined).number).toBe(5)
    expect(resized({ ...read, pages: 0 }, 5, undefined).number).toBe(4)
  })

  test.each([
    ['first to last', 1],
    ['last to first', 7],
    [undefined, 7],
  ] as const)('in the order %s begins at page %i', (order, nextPage) => {
    expect(resized(read, 5, order).nextPage).toBe(nextPage)
  })

  test.each([
    [10, 10, 5],
    [8, 10, 10],
  ])('of %i rows where %i are usual: %i are usual from then on', (size, usual, expected) => {
    expect(resized({ ...read, size, usual }, 5, undefined).usual).toBe(expected)
  })

  test.each([
    [3, 4, 7],
    [4, 4, 0],
    [5, 5, 0],
  ])('the time after %i begins again as number %i at page %i', (sizes, counted, nextPage) => {
    expect(resized({ ...read, sizes }, 5, undefined)).toMatchObject({ sizes: counted, nextPage })
  })

  test('ends without a pass start the fifth time', () => {
    const { base: _, ...rest } = read
    expect(resized({ ...read, sizes: 4 }, 5, undefined)).toEqual({
      ...rest,
      sizes: 4,
      nextPage: 0,
      voided: 4,
    })
  })
})

describe('pages smaller than the service says', () => {
  const five = { size: 5, answer: answer({ page: 5, rows: 5 }) }

  test('begin the pass again, and make earlier pass starts worthless', () => {
    expect(shrunk(read, five)).toEqual({
      ...{ ...beginPass(7, 5, 5), ...shown, number: 5, sizes: 3, isCapped: false, validSince: 5 },
    })
    expect(shrunk(read, { ...five, order: 'first to last' }).nextPage).toBe(1)
  })

  test.each([
    [5, 5, false],
    [6, 5, true],
    [5, 6, true],
  ])('page %i with %i rows of 25 shows that totals are too low: %s', (page, rows, isCapped) => {
    expect(shrunk(read, { size: 5, answer: answer({ page, rows }) }).isCapped).toBe(isCapped)
  })

  test('end a pass over pages of another size, the next one can be proved', () => {
    const state = { ...read, size: 8 }
    const { base: _, ...rest } = state
    expect(shrunk(state, five)).toEqual({
      ...{
        ...rest,
        nextPage: 0,
        voided: 4,
        usual: 5,
        limit: 5,
        validSince: 5,
        isShrunk: true,
        isCapped: false,
      },
    })
  })

  test('found once too often end the pass, the next one can be proved', () => {
    expect(shrunk({ ...read, sizes: 4 }, five)).toMatchObject({
      nextPage: 0,
      voided: 4,
      validSince: 5,
      size: 10,
    })
  })
})
