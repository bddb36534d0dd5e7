/** What each answer of a pass does: the page after it, its counts, and what it shows of sizes, totals and the end. */
import { describe, expect, test } from 'vitest'
import { advance } from '../../../src/sync/paging/pass.ts'
import type { Answer, PassRules, PassState } from '../../../src/sync/paging/pass-state.ts'
import { answer, at, base, emptyAnswer, end, ms, pass, passAfter } from './lists.ts'

const last = answer({ page: 3, rows: 5 })
const forward = { order: 'first to last' } as const
/** A pass from the last page that has read that page. */
const begun = (parts: Partial<PassState> = {}): PassState =>
  pass({ nextPage: 2, pages: 1, role: 'front', last: 3, base: base(), longest: 10, furthest: 3, ...parts })

function uncounted(parts: Partial<Answer>): Answer {
  const { rows: _, ...rest } = answer(parts)
  return rest
}

describe('the rows of a pass', () => {
  test('are added up, as are those older than what is known', () => {
    const state = passAfter([{ ...last, old: 1 }, answer({ page: 2, old: 3 }), answer()])
    expect(state).toMatchObject({ rows: 25, oldRows: 4 })
  })

  test('are unknown from the first page on whose rows were not counted', () => {
    const state = advance(begun({ rows: 5, nextPage: 2 }), uncounted({ page: 2 }))
    expect(state).toMatchObject({ rows: undefined, lacking: undefined, nextPage: 1 })
    expect(advance(state, answer())).toMatchObject({ rows: undefined, lacking: undefined })
  })

  test('of a page asked for a second time do not count again', () => {
    const once = begun({ last: 2, rows: 15, lacking: 1, oldRows: 4, pages: 2 })
    const rules = { hidesRows: true }
    expect(advance(once, answer({ page: 2, rows: 8, old: 4 }), rules)).toMatchObject({
      ...{ isSecond: true, rows: 15, lacking: 1, oldRows: 4 },
    })
  })

  test('of its first page count, though an earlier run asked for that page last', () => {
    expect(passAfter([last], {}, pass({ nextPage: 3, last: 3 }))).toMatchObject({ isSecond: false, rows: 5 })
  })

  test('above the first page, which the service shows as empty, are lacking', () => {
    const state = pass({ nextPage: 3, end: end({ empty: 4 }) })
    expect(passAfter([answer({ page: 3, total: 45 })], {}, state).lacking).toBe(15)
    expect(passAfter([answer({ total: 45 })], forward, pass()).lacking).toBe(0)
  })

  test('below its end are those of the pages before and the old ones of this page', () => {
    const known = { before: ms(10) }
    const rows = { oldest: at(9), newest: at(30), inOrder: true, old: 4 }
    expect(passAfter([last, answer({ page: 2, ...rows })], { known }).below).toBe(14)
    expect(passAfter([last, answer({ page: 2 }), answer(rows)], { known })).toMatchObject({
      ...{ below: 0, nextPage: 0 },
    })
  })
})

describe('a scan of changes meets a known row', () => {
  const rows = { oldest: at(9), newest: at(30), inOrder: true, old: 4 }

  test.each([
    ['on its first page: it ends there', [answer({ page: 3, ...rows, rows: 5 })], 0],
    ['on a later page: that page is asked for again', [last, answer({ page: 2, ...rows })], 2],
    [
      'twice on the same page: it ends there',
      [last, answer({ page: 2, ...rows }), answer({ page: 2, ...rows })],
      0,
    ],
  ])('%s', (...[, answers, nextPage]) => {
    expect(passAfter(answers, { known: { before: ms(10) } }).nextPage).toBe(nextPage)
  })

  test('not on a page without times', () => {
    expect(passAfter([last, answer({ page: 2 })], { known: { before: ms(10) } }).nextPage).toBe(1)
  })
})

describe('a short pass', () => {
  const known = { before: ms(10), reached: ms(20) }
  const first = answer({ page: 5, total: 45, rows: 5, oldest: at(20), newest: at(25), inOrder: true })
  const next = (rules: PassRules, parts: Partial<PassState> = {}): number =>
    passAfter([first], { isShort: true, ...rules }, pass({ nextPage: 5, ...parts })).nextPage

  test.each([
    ['of a whole list ends after its first page', {}, 2, 0],
    ['goes to the page where the pass before it ended', { known }, 2, 2],
    ['goes to page 1 where that is unknown', { known }, 0, 1],
    ['goes to the page before where that is higher up', { known }, 9, 4],
    ['goes to the page before where that is this page', { known }, 5, 4],
  ])('%s', (...[, rules, ended, expected]) => expect(next(rules, { ended })).toBe(expected))

  test('goes down page by page from its second page', () => {
    const state = begun({ ended: 1, nextPage: 5, base: base({ front: 6, total: 60 }), last: 6 })
    const page = answer({ page: 5, total: 60, oldest: at(20), newest: at(25), inOrder: true })
    expect(advance(state, page, { isShort: true, known }).nextPage).toBe(4)
  })
})

describe('a pass that goes forward', () => {
  const read = (parts: Partial<Answer>, state: Partial<PassState> = {}, rules: PassRules = {}) =>
    advance(begun({ base: base({ front: 1 }), ...state }), answer(parts), { ...forward, ...rules })

  test.each<readonly [string, Partial<Answer>, Partial<PassState>, PassRules, number]>([
    ['ends at a short last page', { page: 3, rows: 5 }, {}, {}, 0],
    ['goes on after a full one', { page: 3, total: 30 }, {}, {}, 4],
    ['goes on where totals are too low', { page: 3, rows: 5 }, { isCapped: true }, {}, 4],
    ['goes on when it looks for the end', { page: 3, rows: 5 }, {}, { seeksEnd: true }, 4],
    ['goes on where an answer gave a greater total', { page: 3, rows: 5 }, { greatestTotal: 45 }, {}, 4],
    ['ends at an empty page', { page: 4, rows: 0, empty: true }, {}, { seeksEnd: true }, 0],
    ['goes on after an empty page within the total', { page: 2, rows: 0, empty: true }, {}, {}, 3],
  ])('%s', (...[, parts, state, rules, nextPage]) => {
    expect(read(parts, state, { hidesRows: true, ...rules }).nextPage).toBe(nextPage)
  })

  test.each([
    [25, 26, undefined],
    [26, 0, 1],
  ])('that comes to page %i of 3 goes on to %i', (page, nextPage, voided) => {
    const state = read({ page })
    expect([state.nextPage, state.voided, state.base === undefined]).toEqual([nextPage, voided, page === 26])
    expect(state.size).toBe(10)
  })

  test('remembers its last page', () => {
    expect(read({ page: 2 }).end).toEqual(end({ last: { page: 2, first: 'first of 2', rows: 10 } }))
    expect(advance(begun(), answer({ page: 2 })).end).toEqual(end())
  })

  test('ends where the last page is shown again, and proves nothing', () => {
    const seen = end({ last: { page: 4, first: 'x', rows: 5 } })
    expect(read({ page: 5, first: 'x', rows: 5, total: 31 }, { end: seen }).voided).toBeUndefined()
    const ended = read({ page: 5, first: 'x', rows: 5, total: 24 }, { end: seen, pages: 4 })
    expect(ended).toMatchObject({ nextPage: 0, voided: 1, isCapped: false, lastTotal: 24, pages: 4 })
    expect(ended.base).toBeUndefined()
  })

  test.each([
    ['an earlier pass', { isCapped: true, validSince: 1, number: 2 }, true],
    ['this pass', { isCapped: true, validSince: 2, number: 2 }, false],
    ['no pass', { isCapped: false, validSince: 0, number: 2 }, false],
  ])('and then takes totals for too low where %s found them so', (...[, state, isCapped]) => {
    const seen = end({ last: { page: 4, first: 'x', rows: 5 } })
    expect(read({ page: 5, first: 'x', rows: 5 }, { end: seen, ...state }).isCapped).toBe(isCapped)
  })
})

test('a pass from the last page may be at a page far beyond the total', () => {
  const state = begun({ base: base({ front: 30, total: 300 }), nextPage: 26 })
  expect(advance(state, answer({ page: 26 }))).toMatchObject({ nextPage: 25, base: { front: 30 } })
})

test('a pass from the last page begins again where that page is shown for those after it', () => {
  const state = pass({ nextPage: 5, number: 2, lastTotal: 40, end: end({ last: { page: 4, first: 'x' } }) })
  const next = advance(state, answer({ page: 5, first: 'x' }))
  expect(next).toMatchObject({ nextPage: 3, voided: 2, sizes: 1, size: 10, lastTotal: 25 })
})

describe('pages that repeat each other', () => {
  const state = pass({ nextPage: 6, end: end({ isBeyond: true, full: 4, first: 'x' }) })

  test('end the pass without a pass start', () => {
    const next = advance(state, answer({ page: 6, first: 'x', total: 35, newest: at(5) }))
    expect(next).toMatchObject({ nextPage: 0, role: 'before', watermark: at(5), pages: 1, isSteady: false })
    expect(next.base).toBeUndefined()
    expect(next.size).toBe(10)
  })

  test('may still be smaller ones', () => {
    const next = advance(state, answer({ page: 6, first: 'x', total: 95, rows: 4 }))
    expect(next).toMatchObject({ nextPage: 24, end: { tried: { size: 4 } } })
  })
})

describe('pages after the last one', () => {
  test('a short one is remembered while it is probed, with its rows', () => {
    const state = passAfter([last], { seeksEnd: true })
    expect(state).toMatchObject({ nextPage: 4, role: 'front' })
    expect(state.end).toEqual(end({ back: 2, short: 5, last: { page: 3, first: 'first of 3' } }))
  })

  test('a full one is remembered without', () => {
    const state = passAfter([answer({ page: 3, total: 30 })])
    expect(state.end).toEqual(end({ back: 2, last: { page: 3, first: 'first of 3' } }))
  })

  const probing = (parts: Partial<PassState> = {}, short?: number): PassState => {
    const known = end({ back: 2, last: { page: 3, first: 'x' }, missedEnds: 1, ...(short && { short }) })
    return begun({ nextPage: 4, number: 2, longest: 5, end: known, base: base({ pass: 2 }), ...parts })
  }

  test('that are empty lead back to the page before the last one', () => {
    const state = advance(probing(), emptyAnswer({ page: 4 }))
    expect(state).toMatchObject({ nextPage: 2, role: 'before', pages: 1, base: { front: 3 } })
    expect(state.end).toEqual(end({ missedEnds: 1 }))
    expect(advance(probing({}, 5), emptyAnswer({ page: 4 })).end).not.toHaveProperty('back')
  })

  test('with rows behind a short page show smaller pages where none had more rows', () => {
    const state = advance(probing({}, 5), answer({ page: 4, rows: 5 }))
    expect(state).toMatchObject({ size: 5, limit: 5, usual: 5, isShrunk: true, voided: 2, nextPage: 7 })
  })

  test.each([
    ['where an earlier page had more rows', { longest: 6 }, 5],
    ['after a full page', {}, undefined],
  ])('with rows begin the pass again beyond them: %s', (...[, parts, short]) => {
    const state = advance(probing(parts, short), answer({ page: 4, total: 45 }))
    expect(state).toMatchObject({ number: 3, voided: 2, pages: 0, nextPage: 6, size: 10, role: 'before' })
    expect(state.end).toEqual(end({ isBeyond: true, missedEnds: 2, full: 4, first: 'first of 4' }))
  })

  test.each([
    [4, 0],
    [3, 0],
    [5, 5],
    [9, 9],
  ])('with rows, where page %i was empty once, take page %i for the first empty one', (empty, kept) => {
    const state = probing()
    const next = advance({ ...state, end: { ...state.end, empty } }, answer({ page: 4, rows: 3, total: 30 }))
    expect(next.end).toMatchObject({ empty: kept, full: 3, missedEnds: 2, isBeyond: true })
  })
})

describe('a page that only smaller pages have', () => {
  test('is asked for after a short data page', () => {
    const state = advance(begun({ longest: 5 }), answer({ page: 2, rows: 5 }))
    expect(state).toMatchObject({ nextPage: 5, size: 10 })
    expect(state.end).toEqual(end({ tried: { size: 5, back: 1 } }))
  })

  test('need not be asked for where the pass began there or later', () => {
    const state = begun({ longest: 5, base: base({ front: 5 }) })
    expect(advance(state, answer({ page: 2, rows: 5 }))).toMatchObject({ size: 5, limit: 5, isShrunk: true })
  })

  const tried = (parts: Partial<PassState> = {}): PassState =>
    begun({
      nextPage: 5,
      longest: 5,
      lastTotal: 25,
      end: end({ tried: { size: 5, back: 1 }, full: 2 }),
      ...parts,
    })

  test('leads back when it is empty, and is not tried again', () => {
    const state = advance(tried(), emptyAnswer({ page: 5 }))
    expect(state).toMatchObject({ nextPage: 1, role: 'before', size: 10, pages: 1 })
    expect(state.end).toEqual(end({ isSizeSearched: true, full: 2 }))
  })

  test('shows smaller pages when it has rows', () => {
    const state = advance(tried(), answer({ page: 5, rows: 5, total: 21 }))
    expect(state).toMatchObject({ size: 5, limit: 5, isShrunk: true, nextPage: 9, isCapped: true })
  })
})

describe('smaller pages that lack rows as well', () => {
  const shrunk = { isShrunk: true, number: 3, size: 10, longest: 10 }
  const read = (parts: Partial<PassState>, rows = 8) =>
    advance(begun({ ...shrunk, ...parts }), answer({ page: 2, rows }), { hidesRows: true })

  test.each([
    ['show that totals are too low', {}, 8, true, 3],
    ['only where they lack rows', {}, 10, false, 0],
    ['only where the scan asks for smaller ones', { isShrunk: false }, 8, false, 0],
    ['only once', { isCapped: true, validSince: 2 }, 8, true, 2],
  ])('%s', (...[, parts, rows, isCapped, validSince]) => {
    expect(read(parts, rows)).toMatchObject({ isCapped, validSince, pages: 2 })
  })
})

describe('pages of another size', () => {
  test('from the last page on: this answer is one of the new pass where it can be', () => {
    const smaller = passAfter([answer({ page: 3, rows: 12, limit: 12 })])
    expect(smaller).toMatchObject({ size: 12, nextPage: 4, pages: 0 })
    const exact = passAfter([answer({ page: 2, total: 26, rows: 13, limit: 13 })], {}, pass({ nextPage: 2 }))
    expect(exact).toMatchObject({ size: 13, pages: 1, base: { front: 2 } })
  })

  test('forward: only page 1 is one of the new pass', () => {
    const rows = { rows: 12, limit: 12 }
    expect(passAfter([answer(rows)], forward, pass())).toMatchObject({ size: 12, pages: 1, nextPage: 2 })
    const later = passAfter([answer({ page: 2, ...rows })], forward, pass({ nextPage: 2, pages: 1 }))
    expect(later).toMatchObject({ size: 12, pages: 0, nextPage: 1 })
  })

  test('once too often end the pass', () => {
    const state = passAfter([answer({ page: 3, rows: 12 })], {}, pass({ nextPage: 3, sizes: 4 }))
    expect(state).toMatchObject({ nextPage: 0, size: 10, voided: 1, pages: 0, lastTotal: 25 })
  })

  test('begin again at the last page by the total of this answer', () => {
    const claimed = pass({ nextPage: 3, doubted: 5, lastTotal: 80 })
    expect(advance(claimed, answer({ page: 3, limit: 5, rows: 5 }))).toMatchObject({ nextPage: 5, size: 5 })
  })
})

describe('a page below the first one', () => {
  test('that is empty within the total lacks its rows', () => {
    const state = advance(begun(), emptyAnswer({ page: 2 }))
    expect(state).toMatchObject({ nextPage: 1, role: 'data', pages: 2, lacking: 10, hollow: 1 })
  })

  test('that lies beyond a shorter list leads to its last page', () => {
    const state = advance(
      begun({ nextPage: 4, base: base({ front: 5, total: 45 }) }),
      emptyAnswer({ page: 4, total: 12 }),
    )
    expect(state).toMatchObject({ nextPage: 2, role: 'before', pages: 1, base: { front: 5 } })
  })

  test('1 ends the pass also when the list is empty by now', () => {
    const state = advance(begun({ nextPage: 1 }), emptyAnswer({ total: 0 }))
    expect(state).toMatchObject({ nextPage: 0, pages: 2 })
  })
})

test('the total of an answer is at least what it shows', () => {
  expect(passAfter([answer({ page: 3, rows: 8 })]).lastTotal).toBe(28)
  expect(passAfter([last]).lastTotal).toBe(25)
})
