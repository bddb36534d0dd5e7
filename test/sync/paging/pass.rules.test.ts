/** One pass as arithmetic: where it starts, which page comes next, and what a later answer takes back. */
import { describe, expect, test } from 'vitest'
import type { PageFacts } from '../../../src/sync/paging/page-facts.ts'
import {
  advance,
  confirm,
  nextPass,
  type Pass,
  type PassRules,
  rowsAgreed,
  seenIn,
} from '../../../src/sync/paging/pass.ts'
import { answer, at, emptyAnswer, ms, pass, passAfter, start } from './lists.ts'

const last = answer({ page: 3, rows: 5, oldest: at(20), newest: at(25), inOrder: true })
const forward = { order: 'first to last' } as const
/** A pass from the last page that has read that page. */
const begun = (parts: Partial<Pass> = {}): Pass =>
  pass({ nextPage: 2, pages: 1, role: 'front', last: 3, start: start(), ...parts })

function uncounted(parts: Partial<PageFacts>): PageFacts {
  const { rows: _, ...rest } = answer(parts)
  return rest
}

describe('a pass from the last page to the first', () => {
  test('starts at the last page, with its total and its greatest time', () => {
    expect(passAfter([last])).toMatchObject({
      ...{ nextPage: 2, role: 'front', watermark: at(25), pages: 1 },
      start: { pass: 1, front: 3, total: 25, watermark: at(25) },
    })
  })

  test('goes down page by page and ends after page 1', () => {
    const middle = passAfter([last, answer({ page: 2 })])
    expect(middle).toMatchObject({ nextPage: 1, role: 'data', pages: 2, last: 2 })
    expect(advance(middle, answer())).toMatchObject({ nextPage: 0, role: 'data', pages: 3 })
  })

  test.each<readonly [string, PageFacts, number]>([
    ['a page that is not the last one', answer({ page: 3, total: 45 }), 5],
    ['an empty page after the last one', emptyAnswer({ page: 3, total: 15 }), 2],
    ['an empty page of a list that is empty', emptyAnswer({ page: 3, total: 0 }), 1],
  ])('looks for the last page from %s', (...[, first, nextPage]) => {
    expect(passAfter([first])).toMatchObject({ nextPage, role: 'before', pages: 0, lastTotal: first.total })
  })

  test('is not looked for for ever where two copies of the service differ by a page', () => {
    let state = pass({ nextPage: 4 })
    let asked = 0
    for (; state.nextPage > 0; asked += 1)
      state = advance(
        state,
        state.nextPage === 4 ? emptyAnswer({ page: 4, total: 30 }) : answer({ page: 3, total: 31 }),
      )
    expect([asked, state.contradiction]).toEqual([21, expect.stringMatching(/^the end of the list moved/)])
  })

  test('starts with the only page of an empty list', () => {
    const empty = passAfter([emptyAnswer({ total: 0 })], {}, pass())
    expect(empty).toMatchObject({ nextPage: 0, pages: 1, start: { front: 1, total: 0 } })
  })

  test('keeps the greatest time of all its starts as the watermark', () => {
    const from = (minute: number) => passAfter([last], {}, pass({ nextPage: 3, watermark: at(minute) }))
    expect(from(40)).toMatchObject({ watermark: at(40), start: { watermark: at(40) } })
    expect(from(24)).toMatchObject({ watermark: at(25), start: { watermark: at(25) } })
    const untimed = passAfter([answer({ page: 3, rows: 5 })], {}, pass({ nextPage: 3, watermark: at(40) }))
    expect(untimed.start?.watermark).toBe(at(40))
  })

  test('is steady while every answer reports the total of its start', () => {
    expect(passAfter([last, answer({ page: 2 })]).isSteady).toBe(true)
    expect(passAfter([last, answer({ page: 2, total: 26 }), answer()]).isSteady).toBe(false)
  })

  test('goes to the last page of a list that became shorter', () => {
    const from = begun({ nextPage: 4, start: start({ front: 5, total: 45 }) })
    const slid = advance(from, emptyAnswer({ page: 4, total: 12 }))
    expect(slid).toMatchObject({ nextPage: 2, role: 'before', pages: 1, start: { front: 5 } })
    expect(advance(begun({ nextPage: 1 }), emptyAnswer({ total: 0 }))).toMatchObject({
      nextPage: 0,
      pages: 2,
    })
  })
})

describe('the page after the last one', () => {
  test.each<readonly [string, Partial<PageFacts>, PassRules, boolean]>([
    ['is asked where the last one is full', { total: 30, rows: 10 }, {}, true],
    ['is not asked where a row is missing', { total: 29, rows: 9 }, {}, false],
    ['is asked by a pass that looks for the end', {}, { seeksEnd: true }, true],
    [
      'is asked where the last one ends before the watermark',
      {},
      { known: { before: 0, reached: ms(26) } },
      true,
    ],
    ['is not asked where it reaches the watermark', {}, { known: { before: 0, reached: ms(25) } }, false],
    ['is not asked where no watermark is known', {}, { known: { before: 0 } }, false],
  ])('%s', (...[, parts, rules, isAsked]) => {
    const state = passAfter([{ ...last, ...parts }], rules)
    expect([state.nextPage, state.probe]).toEqual(isAsked ? [4, { back: 2 }] : [2, undefined])
  })

  const full = passAfter([answer({ page: 3, total: 30 })])

  test('is empty: the pass goes on with the page before the last one', () => {
    const state = advance(full, emptyAnswer({ page: 4, total: 30 }))
    expect(state).toMatchObject({ nextPage: 2, role: 'before', pages: 1, start: { front: 3, total: 30 } })
    expect(state).not.toHaveProperty('probe')
    expect(passAfter([last], { seeksEnd: true }).sizeIs).toBe('asked')
    expect(state.sizeIs).toBe('known')
  })

  test('has rows of a list that grew: a pass starts with it', () => {
    const state = advance(full, answer({ page: 4, total: 35, rows: 5 }))
    expect(state).toMatchObject({ number: 2, pages: 1, nextPage: 3, start: { pass: 2, front: 4, total: 35 } })
    const grown = advance(full, answer({ page: 4, total: 60 }))
    expect(grown).toMatchObject({ number: 2, pages: 0, nextPage: 6, role: 'before' })
  })

  test('has rows beyond its total: the service contradicts itself', () => {
    const state = advance(full, answer({ page: 4, total: 30, rows: 2 }))
    expect(state).toMatchObject({ nextPage: 0, contradiction: 'page 4 showed 32 rows of a list of 30' })
  })
})

describe('the rows of a pass', () => {
  test('are added up, as are those older than what is known', () => {
    const state = passAfter([{ ...last, old: 1 }, answer({ page: 2, old: 3 }), answer()])
    expect(state.shown).toEqual({ rows: 25, old: 4, missing: 0 })
  })

  test('are unknown from the first page on whose rows were not counted', () => {
    const state = advance(begun(), uncounted({ page: 2 }))
    expect(state).toMatchObject({ shown: undefined, nextPage: 1 })
    expect(advance(state, answer()).shown).toBeUndefined()
  })

  test('that pages lack by the total of the start are counted', () => {
    const rules = { hidesRows: true }
    expect(passAfter([last, answer({ page: 2, rows: 8 })], rules).shown?.missing).toBe(2)
    expect(passAfter([answer({ page: 3, rows: 4 })], rules).shown?.missing).toBe(1)
  })

  test('of a page that is asked a second time do not count again', () => {
    const known = { before: ms(10) }
    const rows = { oldest: at(9), newest: at(30), inOrder: true, old: 4 }
    const twice = passAfter([last, answer({ page: 2, ...rows }), answer({ page: 2, ...rows })], { known })
    expect(twice).toMatchObject({ nextPage: 0, pages: 3, shown: { rows: 15, old: 4 } })
  })

  test('of its first page count, though an earlier run asked that page last', () => {
    expect(passAfter([last], {}, pass({ nextPage: 3, last: 3 })).shown?.rows).toBe(5)
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

describe('a last page without rows', () => {
  const hollow = emptyAnswer({ page: 3 })

  test('leads to the previous page, where the pass starts without its rows', () => {
    const sought = passAfter([hollow])
    expect(sought).toMatchObject({
      nextPage: 2,
      role: 'before',
      pages: 0,
      probe: { back: 2, isHollow: true },
    })
    const state = advance(sought, answer({ page: 2, rows: 9 }), { hidesRows: true })
    expect(state).toMatchObject({
      nextPage: 1,
      start: { front: 2, total: 25 },
      shown: { rows: 9, missing: 6 },
    })
  })

  test.each([
    [45, 5],
    [15, 1],
  ])('says nothing of a list that has %i rows by the next answer', (total, nextPage) => {
    const next = answer({ page: 2, total, rows: total === 15 ? 5 : 10 })
    expect(passAfter([hollow, next])).toMatchObject({ nextPage, pages: total === 15 ? 1 : 0 })
  })
})

describe('a page without rows contradicts its total', () => {
  test.each<readonly [string, Pass, PageFacts]>([
    ['where it is the only page', pass(), emptyAnswer({ total: 3 })],
    ['before the last one, where the pass would start', pass({ nextPage: 2 }), emptyAnswer({ page: 2 })],
    ['after a last one without rows', passAfter([emptyAnswer({ page: 3 })]), emptyAnswer({ page: 2 })],
    ['later in the pass', begun(), emptyAnswer({ page: 2 })],
    ['at the end of the pass', begun({ nextPage: 1 }), emptyAnswer({ page: 1 })],
  ])('%s', (...[, from, empty]) => {
    const { page, total } = empty
    expect(advance(from, empty)).toMatchObject({
      ...{ nextPage: 0, contradiction: `page ${page} was empty although the list has ${total} rows` },
    })
  })

  test('not in a list that is known to hide rows: they are lacking', () => {
    const rules = { hidesRows: true }
    expect(advance(begun(), emptyAnswer({ page: 2 }), rules)).toMatchObject({
      ...{ nextPage: 1, pages: 2, shown: { missing: 10 } },
    })
    const sought = advance(pass({ nextPage: 2 }), emptyAnswer({ page: 2 }), rules)
    expect(sought).toMatchObject({ nextPage: 3, role: 'before', pages: 0 })
    const only = advance(pass(), emptyAnswer({ total: 3 }), rules)
    expect(only).toMatchObject({ nextPage: 0, shown: { missing: 3 } })
  })

  test('also where a pass goes forward, and not behind the last one', () => {
    const read = (page: number, total: number) =>
      advance(begun({ last: 2, start: start({ front: 1, total }) }), emptyAnswer({ page, total }), forward)
    expect(read(2, 25).contradiction).toBeDefined()
    expect(read(3, 25)).toMatchObject({ nextPage: 0, shown: { missing: 5 } })
    expect(read(3, 20)).toMatchObject({ nextPage: 0, shown: { missing: 0 } })
  })
})

describe('a pass that meets what is known', () => {
  const known = { before: ms(10), reached: ms(20) }
  const rules = { known }
  const page = (oldest: number, inOrder = true) =>
    answer({ page: 2, oldest: at(oldest), newest: at(19), inOrder, old: 4 })

  test('ends at a page with an older row, when that page was asked twice', () => {
    const once = passAfter([last, page(9)], rules)
    expect(once.nextPage).toBe(2)
    expect(advance(once, page(9), rules)).toMatchObject({ nextPage: 0, below: 14 })
  })

  test('ends there at once where nothing is newer than the stored watermark', () => {
    const old = { ...last, oldest: at(12), newest: at(20) }
    expect(passAfter([old, page(9)], rules)).toMatchObject({ nextPage: 0, below: 14 })
    expect(passAfter([{ ...old, newest: at(21) }, page(9)], rules)).toMatchObject({ nextPage: 2 })
    expect(passAfter([old, page(9)], { known: { before: ms(10) } })).toMatchObject({ nextPage: 2 })
  })

  test('ends at its first page at once', () => {
    expect(passAfter([{ ...last, oldest: at(9) }], rules)).toMatchObject({ nextPage: 0, below: 20 })
  })

  test.each([
    ['a row at the very time', page(10)],
    ['rows out of order', page(9, false)],
    ['rows without times', answer({ page: 2 })],
  ])('goes on past %s', (...[, second]) => {
    expect(passAfter([last, second], rules)).toMatchObject({ nextPage: 1, below: 0 })
  })
})

describe('a short pass', () => {
  const known = { before: ms(10), reached: ms(20) }
  const first = answer({ page: 5, total: 45, rows: 5, oldest: at(20), newest: at(25), inOrder: true })

  test.each<readonly [string, PassRules, number, number]>([
    ['of a whole list ends after its first page', {}, 2, 0],
    ['goes to the page where the previous pass ended', { known }, 2, 2],
    ['goes to page 1 where that is unknown', { known }, 0, 1],
    ['goes to the page before where that is higher up', { known }, 9, 4],
    ['goes to the page before where that is this page', { known }, 5, 4],
  ])('%s', (...[, rules, ended, expected]) => {
    const from = pass({ nextPage: 5, last: ended })
    expect(passAfter([first], { isShort: true, ...rules }, from).nextPage).toBe(expected)
  })

  test('goes down page by page from its second page', () => {
    const state = begun({ nextPage: 5, start: start({ front: 6, total: 60 }), last: 6 })
    const page = answer({ page: 5, total: 60, oldest: at(20), newest: at(25), inOrder: true })
    expect(advance(state, page, { isShort: true, known }).nextPage).toBe(4)
  })
})

describe('a pass from the first page to the last', () => {
  const read = (parts: Partial<PageFacts>, rules: PassRules = {}) =>
    advance(begun({ start: start({ front: 1 }) }), answer(parts), { ...forward, ...rules })

  test('starts with page 1', () => {
    expect(passAfter([answer()], forward, pass())).toMatchObject({
      ...{ nextPage: 2, role: 'front', start: { front: 1, total: 25 }, shown: { missing: 0 } },
    })
  })

  test.each<readonly [string, Partial<PageFacts>, PassRules, number]>([
    ['ends at a short last page', { page: 3, rows: 5 }, {}, 0],
    ['goes on before it', { page: 2 }, {}, 3],
    ['goes on after a full one', { page: 3, total: 30 }, {}, 4],
    ['goes on where it looks for the end', { page: 3, rows: 5 }, { seeksEnd: true }, 4],
    ['ends at an empty page', { page: 4, rows: 0, empty: true }, { seeksEnd: true }, 0],
  ])('%s', (...[, parts, rules, nextPage]) => expect(read(parts, rules).nextPage).toBe(nextPage))

  test('is not read for ever where each page is full and the last one', () => {
    let state = pass()
    let asked = 0
    for (; state.nextPage > 0 && asked < 100; asked += 1)
      state = advance(state, answer({ page: state.nextPage, total: state.nextPage * 10 }), forward)
    expect([asked, state.contradiction]).toEqual([22, expect.stringMatching(/^the end of the list moved/)])
  })

  test('is contradicted by rows beyond the total', () => {
    const full = passAfter([answer()], forward, pass())
    expect(advance(full, answer({ page: 4, rows: 1 }), forward)).toMatchObject({
      ...{ nextPage: 0, contradiction: 'page 4 showed 31 rows of a list of 25' },
    })
  })
})

describe('a page whose rows are not those of its place', () => {
  const rules: readonly [string, Partial<PageFacts>, Partial<Pass>, PassRules, number, object | undefined][] =
    [
      ['short: a page that only smaller ones have is asked', { rows: 5 }, {}, {}, 5, { back: 1, size: 5 }],
      ['short, and such pages were looked for before', { rows: 5 }, { sizeIs: 'known' }, {}, 1, undefined],
      ['short in a list that hides rows', { rows: 5 }, {}, { hidesRows: true }, 1, undefined],
      ['so little short that no page could tell', { rows: 9 }, {}, {}, 1, undefined],
      ['without rows that were counted', { rows: 0 }, {}, {}, 1, undefined],
    ]
  test.each(rules)('%s', (...[, parts, state, passRules, nextPage, probe]) => {
    const next = advance(begun(state), answer({ page: 2, ...parts }), passRules)
    expect([next.nextPage, next.probe, next.pages, next.size]).toEqual([nextPage, probe, 2, 10])
  })

  test('beyond the total: smaller pages may explain it', () => {
    const first = passAfter([answer({ page: 3, rows: 8 })])
    const words = 'page 3 showed 28 rows of a list of 25'
    expect(first).toMatchObject({ nextPage: 4, probe: { back: 2, size: 8, otherwise: { rows: 28, words } } })
    const empty = (total: number) => advance(first, emptyAnswer({ page: 4, total }))
    expect(empty(27)).toMatchObject({ nextPage: 0, contradiction: words })
    // The service counts before it reads: a row came in between.
    expect(empty(28)).toMatchObject({ nextPage: 3, number: 2, pages: 0 })
    expect(empty(28)).not.toHaveProperty('contradiction')
    expect(advance(first, answer({ page: 4, rows: 1 }))).toMatchObject({
      size: 8,
      nextPage: 4,
      sizeIs: 'inferred',
    })
  })

  test('beyond the total, and covered by that of the probe each time, is rejected in the end', () => {
    const shown = [answer({ total: 15, rows: 9 }), answer({ page: 2, total: 15, rows: 6 })]
    const behind = emptyAnswer({ page: 3, total: 16 })
    let state = pass()
    let asked = 0
    for (; state.nextPage > 0 && asked < 100; asked += 1)
      state = advance(state, shown[state.nextPage - 1] ?? behind, forward)
    expect([asked, state.contradiction]).toEqual([31, expect.stringMatching(/^the end of the list moved/)])
  })

  test('beyond the total, and no smaller pages could explain it', () => {
    const known = pass({ nextPage: 3, sizeIs: 'known' })
    expect(passAfter([answer({ page: 3, rows: 8 })], {}, known).contradiction).toBeDefined()
    expect(passAfter([answer({ page: 3, rows: 8 })], { hidesRows: true }).contradiction).toBeDefined()
    expect(passAfter([answer({ page: 3, rows: 10 })]).contradiction).toBeDefined()
  })
})

describe('a page that only smaller pages have', () => {
  const tried = begun({ nextPage: 5, pages: 2, lastTotal: 25, probe: { back: 1, size: 5 } })

  test('is empty: the pass goes on, and looks for none again', () => {
    expect(advance(tried, emptyAnswer({ page: 5 }))).toMatchObject({
      ...{ nextPage: 1, role: 'before', size: 10, pages: 2, sizeIs: 'known' },
    })
  })

  test('has rows: the pass begins again with pages of that size, and asks that page for itself', () => {
    const state = advance(tried, answer({ page: 5, rows: 5 }))
    expect(state).toMatchObject({ size: 5, nextPage: 5, number: 2, pages: 0, sizeIs: 'inferred' })
    expect(state).not.toHaveProperty('start')
  })

  test('has rows beyond the total of such pages: the total is too low', () => {
    expect(advance(tried, answer({ page: 5, rows: 6 })).contradiction).toBe(
      'page 5 showed 26 rows of a list of 25',
    )
  })
})

describe('a page behind the last one that has rows', () => {
  const behind = (parts: Partial<PageFacts>, state: Partial<Pass> = {}) =>
    advance(pass({ nextPage: 5, ...state }), answer({ page: 5, ...parts }))

  test('shows smaller pages where they explain it', () => {
    expect(behind({ rows: 5 })).toMatchObject({ size: 5, nextPage: 5, number: 1, sizeIs: 'inferred' })
    expect(behind({ rows: 6 })).toMatchObject({ size: 6, nextPage: 5 })
  })

  test.each<readonly [string, Partial<PageFacts>, Partial<Pass>]>([
    ['full', { rows: 10 }, {}],
    ['of a list that has fewer such pages', { rows: 7 }, {}],
    ['one of pages whose size is known', { rows: 5 }, { sizeIs: 'known' }],
  ])('contradicts the total where it is %s', (...[, parts, state]) => {
    expect(behind(parts, state).contradiction).toMatch(/^page 5 showed \d+ rows of a list of 25$/)
  })
})

describe('pages of another size', () => {
  test('are those that the service says: the answer counts where it is the last one', () => {
    const smaller = passAfter([answer({ page: 5, limit: 5, rows: 5 })], {}, pass({ nextPage: 5 }))
    expect(smaller).toMatchObject({ size: 5, nextPage: 6, start: { front: 5 }, sizeIs: 'known' })
    expect(passAfter([answer({ page: 3, limit: 5, rows: 5 })])).toMatchObject({
      size: 5,
      nextPage: 5,
      pages: 0,
    })
  })

  test('are those that a page shows, where it has more rows than it was asked for', () => {
    const larger = passAfter([answer({ page: 2, total: 26, rows: 13, limit: 10 })], {}, pass({ nextPage: 2 }))
    expect(larger).toMatchObject({ size: 13, pages: 1, start: { front: 2 } })
  })

  test('are not greater ones that the service only says', () => {
    expect(passAfter([{ ...last, limit: 20 }]).size).toBe(10)
    const { limit: _, ...unnamed } = last
    expect(passAfter([unnamed]).size).toBe(10)
  })

  test('forward: only page 1 is one of the new pass', () => {
    const rows = { rows: 5, limit: 5 }
    expect(passAfter([answer(rows)], forward, pass())).toMatchObject({ size: 5, pages: 1, nextPage: 2 })
    const later = passAfter([answer({ page: 2, ...rows })], forward, pass({ nextPage: 2, pages: 1 }))
    expect(later).toMatchObject({ size: 5, pages: 0, nextPage: 1, number: 2 })
  })

  test('of a second one contradict the first', () => {
    const state = begun({ size: 5, sizeIs: 'known' })
    expect(advance(state, answer({ page: 2, limit: 4, rows: 6 }))).toMatchObject({
      ...{ nextPage: 0, contradiction: 'pages had 5 rows, and page 2 of the same list 6' },
    })
    expect(advance(state, answer({ page: 2, limit: 4, rows: 4 }))).toMatchObject({ size: 4, nextPage: 7 })
  })
})

test.each([
  ['asked', undefined],
  ['known', undefined],
  ['inferred', 'pages had 10 rows, and page 2 of the same list 9'],
] as const)('a page that lacks a row, among pages whose size is %s: %s', (sizeIs, contradiction) => {
  const next = advance(begun({ sizeIs }), answer({ page: 2, rows: 9 }))
  expect(next.contradiction).toBe(contradiction)
  expect(advance(begun({ sizeIs }), answer({ page: 2 })).contradiction).toBeUndefined()
})

describe('records existed when a pass started', () => {
  const lookbackMs = 15 * 60_000
  const hour = 3_600_000
  const existedBefore = (now: number): number | null | undefined =>
    passAfter([last], { lookbackMs, now }).start?.before

  test('up to the lookback before the watermark, without it', () => {
    expect(existedBefore(ms(25))).toBe(ms(10) - 1)
    expect(existedBefore(ms(25) + 24.5 * hour)).toBe(ms(10) - 1)
  })

  test('up to the watermark when it is older than a day and two lookbacks', () => {
    expect(existedBefore(ms(25) + 24.5 * hour + 1)).toBe(ms(25))
  })

  test('by no lookback and no clock where none is given', () => {
    expect(passAfter([last]).start?.before).toBe(ms(25) - 1)
  })

  test('at no known time without a watermark', () => {
    expect(passAfter([answer({ page: 3, rows: 5 })]).start?.before).toBeNull()
  })
})

describe('the second answer for the only page', () => {
  const one = pass({ start: start({ total: 5 }), size: 10 })

  test.each([
    [5, 5, 5],
    [7, 5, 7],
    [3, 3, 5],
  ])('of total %i with %i rows makes %i the total that must be seen', (...[total, rows, expected]) => {
    expect(confirm(one, answer({ total, rows })).start?.total).toBe(expected)
  })

  test('with rows beyond its total is a contradiction', () => {
    expect(confirm(one, answer({ total: 5, rows: 6 })).contradiction).toBeDefined()
  })

  test('does nothing without a pass start', () => {
    expect(confirm(pass(), answer({ total: 9 }))).toEqual(pass())
  })
})

describe('the next pass', () => {
  const over = pass({ number: 4, lastTotal: 25, last: 2, watermark: at(5), sizeIs: 'known', pages: 3 })

  test('begins at the last page, and keeps what the scan has learnt', () => {
    const kept = { number: 5, lastTotal: 25, last: 2, watermark: at(5), sizeIs: 'known' as const }
    expect(nextPass(over)).toEqual({ ...pass({ nextPage: 3 }), ...kept })
    expect(nextPass(over, undefined, 5)).toMatchObject({ size: 5, nextPage: 5, sizeIs: 'asked' })
  })

  test('that goes forward begins at page 1', () => {
    expect(nextPass(over, 'first to last').nextPage).toBe(1)
  })
})

test('the answers agree on the length of the list, except where a page is asked that should be empty', () => {
  expect(rowsAgreed(pass({ lastTotal: 25 }))).toBe(25)
  expect(rowsAgreed(pass({ lastTotal: 25, probe: { back: 0 } }))).toBeUndefined()
})

describe('the page that a pass counts for', () => {
  test.each([
    ['before', { pass: 2, isFront: false }],
    ['front', { pass: 3, isFront: true }],
    ['data', { pass: 3, isFront: false }],
  ] as const)('as %s', (role, expected) => expect(seenIn(pass({ number: 3, role }))).toEqual(expected))
})
