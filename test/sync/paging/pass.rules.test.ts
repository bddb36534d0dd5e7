/** One pass as arithmetic: which page comes next, what its pass start is, and what a later answer takes back. */
import { describe, expect, test } from 'vitest'
import { nextPass, resized, shrunk } from '../../../src/sync/paging/begin-again.ts'
import { findEnd } from '../../../src/sync/paging/last-page.ts'
import { advance, confirm } from '../../../src/sync/paging/pass.ts'
import { type Answer, seenIn, unknownEnd } from '../../../src/sync/paging/pass-state.ts'
import { PastPasses } from '../../../src/sync/paging/past-passes.ts'
import type { PassFigures } from '../../../src/sync/paging/proof.ts'
import { answer, at, base, ms, pass, passAfter } from './lists.ts'

describe('a pass from the last page to the first', () => {
  const last = answer({ page: 3, rows: 5, oldest: at(20), newest: at(25), inOrder: true })

  test('starts at the last page, with its total and its greatest time', () => {
    expect(passAfter([last])).toMatchObject({
      ...{ nextPage: 2, role: 'front', watermark: at(25), pages: 1 },
      base: { pass: 1, front: 3, total: 25, watermark: at(25) },
    })
  })

  test('goes down page by page and ends after page 1', () => {
    const middle = passAfter([last, answer({ page: 2 })])
    expect(middle).toMatchObject({ nextPage: 1, role: 'data', pages: 2 })
    expect(advance(middle, answer())).toMatchObject({ nextPage: 0, role: 'data', pages: 3, rows: 25 })
  })

  test('starts elsewhere when the remembered total was wrong', () => {
    const state = passAfter([answer({ page: 3, total: 45 })])
    expect(state).toMatchObject({ nextPage: 5, role: 'before', pages: 0 })
    expect(passAfter([answer({ page: 3, rows: 0, empty: true, total: 15 })])).toMatchObject({ nextPage: 2 })
  })

  test('asks for the page after a last one that is full', () => {
    const full = passAfter([answer({ page: 3, total: 30 })])
    expect(full).toMatchObject({ nextPage: 4, role: 'front', end: { back: 2 } })
    expect(advance(full, answer({ page: 4, rows: 0, total: 30, empty: true }))).toMatchObject({ nextPage: 2 })
  })

  test('keeps the greatest time of all its pass starts as the watermark', () => {
    const state = pass({ nextPage: 3, watermark: at(40) })
    expect(passAfter([last], {}, state)).toMatchObject({ watermark: at(40), base: { watermark: at(40) } })
  })

  test('is steady while every answer gives the total of its start', () => {
    expect(passAfter([last, answer({ page: 2 })]).isSteady).toBe(true)
    expect(passAfter([last, answer({ page: 2, total: 26 })]).isSteady).toBe(false)
  })

  test('counts the rows that its pages lack', () => {
    expect(passAfter([last, answer({ page: 2, rows: 8 })], { hidesRows: true }).lacking).toBe(2)
    expect(passAfter([last, answer({ page: 2 })]).lacking).toBe(0)
  })
})

describe('a pass that meets what is known', () => {
  const known = { before: ms(10), reached: ms(20) }
  const rules = { known }
  const last = answer({ page: 3, rows: 5, oldest: at(20), newest: at(25), inOrder: true })
  const page = (oldest: number, inOrder = true) =>
    answer({ page: 2, oldest: at(oldest), newest: at(19), inOrder, old: 4 })

  test('ends at a page with a row older than what is known, when the page was asked for twice', () => {
    const once = passAfter([last, page(9)], rules)
    expect(once).toMatchObject({ nextPage: 2, isSecond: false })
    expect(advance(once, page(9), rules)).toMatchObject({ nextPage: 0, isSecond: true, below: 14 })
  })

  test('ends there at once when nothing is newer than the stored watermark', () => {
    const old = { ...last, oldest: at(12), newest: at(20) }
    expect(passAfter([old, page(9)], rules)).toMatchObject({ nextPage: 0, below: 14 })
    expect(passAfter([{ ...old, newest: at(21) }, page(9)], rules)).toMatchObject({ nextPage: 2 })
  })

  test.each([
    ['a row at the very time', 10, true],
    ['rows out of order', 9, false],
  ])('goes on past %s', (_, oldest, inOrder) => {
    expect(passAfter([last, page(oldest, inOrder)], rules)).toMatchObject({ nextPage: 1, below: 0 })
  })

  test.each([
    [at(19), true],
    [at(20), false],
    [at(21), false],
  ])('asks for the page after a last one that ends at %s, before the watermark: %s', (newest, isProbed) => {
    const found = findEnd(pass(), answer({ page: 3, rows: 5, newest }), rules)
    expect(found).toMatchObject({ isProbed })
    expect(found.ask).toBeUndefined()
  })
})

describe('records existed at a pass start', () => {
  const lookbackMs = 15 * 60_000
  const hour = 3_600_000
  const start = answer({ page: 3, rows: 5, newest: at(25) })
  const existedBefore = (now: number): number | null | undefined =>
    passAfter([start], { lookbackMs, now }).base?.before

  test('up to the lookback before the watermark, without it', () => {
    expect(existedBefore(ms(25))).toBe(ms(10) - 1)
    expect(existedBefore(ms(25) + 24.5 * hour)).toBe(ms(10) - 1)
  })

  test('up to the watermark when it is older than a day and two lookbacks', () => {
    expect(existedBefore(ms(25) + 24.5 * hour + 1)).toBe(ms(25))
  })

  test('at no known time without a watermark', () => {
    expect(passAfter([answer({ page: 3, rows: 5 })]).base?.before).toBeNull()
  })
})

describe('the second answer for the only page', () => {
  const one = pass({ base: base({ total: 5 }), size: 10 })

  test.each([
    [answer({ total: 5, rows: 5 }), { total: 5 }, false],
    [answer({ total: 7, rows: 5 }), { total: 7 }, false],
    [answer({ total: 3, rows: 3 }), { total: 5 }, false],
    [answer({ total: 5, rows: 8 }), { total: 8 }, true],
  ])(
    'raises the total that must be seen, and shows a total that is too low',
    (second, expected, isCapped) => {
      expect(confirm(one, second)).toMatchObject({ base: expected, isCapped })
    },
  )

  test('never takes back that totals are too low', () => {
    expect(confirm({ ...one, isCapped: true }, answer({ total: 5, rows: 5 })).isCapped).toBe(true)
  })

  test('does nothing without a pass start', () => {
    expect(confirm(pass(), answer({ total: 9 }))).toEqual(pass())
  })
})

describe('pages of another size', () => {
  test('are believed when rows show it, or two answers in a row say so', () => {
    const said = advance(pass({ nextPage: 3 }), answer({ page: 3, limit: 5, rows: 5 }), {})
    expect(said).toMatchObject({ size: 10, doubted: 5, nextPage: 3, role: 'before' })
    expect(advance(said, answer({ page: 3, limit: 5, rows: 5 }), {})).toMatchObject({ size: 5, usual: 5 })
    expect(passAfter([answer({ page: 3, rows: 12, limit: 20 })])).toMatchObject({ size: 12 })
  })

  test('begin the pass again, forget that totals are too low, and only four times', () => {
    const state = pass({ isCapped: true, lastTotal: 25, sizes: 3, pages: 1 })
    expect(resized(state, 5, undefined)).toMatchObject({
      ...{ size: 5, usual: 5, sizes: 4, isCapped: false, nextPage: 5, number: 2, pages: 0 },
    })
    expect(resized({ ...state, sizes: 4 }, 5, undefined)).toMatchObject({ nextPage: 0, voided: 1, size: 10 })
  })

  test('of a pass that asks for smaller ones say nothing of the usual size', () => {
    expect(resized(pass({ size: 8, usual: 10 }), 5, undefined)).toMatchObject({ size: 5, usual: 10 })
  })

  test('that the service never named make earlier pass starts worthless', () => {
    const state = pass({ number: 3, pages: 1, lastTotal: 25 })
    const smaller = shrunk(state, { size: 5, answer: answer({ page: 5, rows: 5 }) })
    expect(smaller).toMatchObject({ usual: 5, limit: 5, validSince: 4, isShrunk: true, isCapped: false })
    const beyond = shrunk(state, { size: 5, answer: answer({ page: 6, rows: 5 }) })
    expect(beyond).toMatchObject({ isCapped: true })
  })
})

describe('rows beyond the total', () => {
  test('show that totals are too low, from this pass on', () => {
    const state = passAfter(
      [answer({ page: 3, rows: 5 }), answer({ page: 2, total: 12 })],
      {},
      pass({ number: 2 }),
    )
    expect(state).toMatchObject({ isCapped: true, validSince: 2 })
    expect(passAfter([answer({ page: 3, rows: 5 }), answer({ page: 2 })])).toMatchObject({ isCapped: false })
  })

  test('make a pass start need the greatest total of any answer', () => {
    const state = pass({ nextPage: 3, isCapped: true, greatestTotal: 30, end: { ...unknownEnd, empty: 4 } })
    expect(advance(state, answer({ page: 3, rows: 5, total: 25 }), {}).base).toMatchObject({ total: 30 })
  })
})

describe('a pass from the first page to the last', () => {
  const rules = { order: 'first to last' } as const
  const read = (answers: readonly Answer[], from = pass()) => passAfter(answers, rules, from)

  test('goes up page by page and ends at the last one, when it is not full', () => {
    expect(read([answer()])).toMatchObject({ nextPage: 2, role: 'front' })
    const two = [answer(), answer({ page: 2 })]
    expect(read([...two, answer({ page: 3, rows: 5 })])).toMatchObject({ nextPage: 0 })
    expect(read([...two, answer({ page: 3, rows: 10, total: 30 })])).toMatchObject({ nextPage: 4 })
  })

  test('ends at an empty page', () => {
    expect(read([answer({ total: 10 }), answer({ page: 2, rows: 0, total: 10, empty: true })])).toMatchObject(
      {
        nextPage: 0,
      },
    )
  })

  test('starts again at page 1', () => {
    expect(nextPass(pass({ lastTotal: 25, number: 4 }), 'first to last')).toMatchObject({
      ...{ nextPage: 1, number: 5, sizes: 0 },
    })
  })
})

describe('the page that a pass counts for', () => {
  test.each([
    ['before', { pass: 2, isFront: false }],
    ['front', { pass: 3, isFront: true }],
    ['data', { pass: 3, isFront: false }],
  ] as const)('as %s', (role, expected) => expect(seenIn(pass({ number: 3, role }))).toEqual(expected))
})

describe('passes before this one', () => {
  const paging = { base: base(), size: 10, usual: 10, limit: 10 }
  const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
    ...{ attempt: 1, bases: [base()], counted: [20], ids: 20, claimed: 25, excluded: 0, hidden: 0 },
    ...{ isCapped: false, isShuffled: false },
    ...parts,
  })

  test('without a pass start are still by their ids alone, and shuffled only when a pass says so', () => {
    const past = new PastPasses()
    const { isShuffled: _, ...unsaid } = figures({ bases: [], counted: [] })
    past.add(unsaid, { size: 8 })
    expect(past.stillWith(20, { size: 10, usual: 10, limit: 10 })).toBe(2)
    expect(past.stillWith(20, paging)).toBe(1)
    expect(past.isShuffledWith(pass(), 0)).toBe(false)
    expect(past.isShuffledWith(pass({ rows: 1 }), 0)).toBe(true)
  })

  test('once shuffled stay shuffled', () => {
    const past = new PastPasses()
    past.add(figures({ isShuffled: true }), { size: 10 })
    past.add(figures({ isShuffled: false }), { size: 10 })
    expect(past.isShuffledWith(pass(), 20)).toBe(true)
    expect(new PastPasses().isShuffledWith(pass({ rows: 20 }), 20)).toBe(false)
  })

  test('are remembered by what they lack', () => {
    const past = new PastPasses()
    past.add(figures(), { size: 10 })
    past.add(figures({ counted: [24] }), { size: 10 })
    expect(past.lacks).toEqual([5, 1])
  })

  test('count as still while ids and total stay the same and a page had another size', () => {
    const past = new PastPasses()
    past.add(figures({ ids: 19 }), { size: 8 })
    past.add(figures(), { size: 8 })
    past.add(figures(), { size: 10 })
    expect(past.stillWith(20, paging)).toBe(3)
    expect(past.stillWith(21, paging)).toBe(1)
    expect(past.stillWith(20, { ...paging, base: base({ total: 26 }) })).toBe(1)
  })

  test('of one size count alone, unless the service gives no other', () => {
    const past = new PastPasses()
    past.add(figures(), { size: 10 })
    expect(past.stillWith(20, paging)).toBe(1)
    expect(past.stillWith(20, { ...paging, usual: 8 })).toBe(2)
  })
})
