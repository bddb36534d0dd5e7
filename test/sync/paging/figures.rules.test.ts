/** What counts for the proof of a scan: which records, for which pass start, and what need not be seen. */
import { describe, expect, test } from 'vitest'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { type Counting, figuresOf, figuresOfSeen, questionOf } from '../../../src/sync/paging/figures.ts'
import { PastPasses } from '../../../src/sync/paging/past-passes.ts'
import { type Base, counts, type SeenId } from '../../../src/sync/paging/proof.ts'
import type { Progress } from '../../../src/sync/paging/scan.ts'
import { SeenRows } from '../../../src/sync/paging/seen-rows.ts'
import { rulesWarehouse } from '../../rules-warehouse.ts'
import { at, base, ms, pass } from './lists.ts'

describe('a record counts for the start of pass 3', () => {
  const seen: SeenId = { firstPass: 3, lastPass: 3, frontPasses: [], existedAt: null }

  test.each<readonly [string, Partial<SeenId>, number | null, boolean]>([
    ['when it was seen before and in that pass', { firstPass: 2 }, null, true],
    ['when it was seen before and later', { firstPass: 2, lastPass: 4 }, null, true],
    ['not when it was seen before alone', { firstPass: 2, lastPass: 2 }, null, false],
    ['not when it was seen in that pass alone', {}, null, false],
    ['when it was on the first page of the pass', { frontPasses: [3] }, null, true],
    ['not by the first page of another pass', { frontPasses: [4] }, null, false],
    ['when it existed by then', { existedAt: 10 }, 10, true],
    ['not when it existed later', { existedAt: 11 }, 10, false],
    ['not when its time is unknown', { existedAt: null }, 10, false],
    ['not when the time of the pass start is unknown', { existedAt: -1 }, null, false],
    ['not when it existed and was not seen since', { firstPass: 1, lastPass: 2, existedAt: 1 }, 10, false],
  ])('%s', (...[, parts, before, expected]) => {
    expect(counts({ ...seen, ...parts }, { pass: 3, before })).toBe(expected)
  })
})

describe('rows in memory', () => {
  const rows = new SeenRows()
  rows.add('a', { pass: 1, isFront: true }, 5)
  rows.add('a', { pass: 3, isFront: true }, 5)
  rows.add('b', { pass: 2, isFront: false }, 9)
  rows.add('b', { pass: 3, isFront: false }, 9)
  rows.add('c', { pass: 3, isFront: false })

  test.each<readonly [number, number | null, number]>([
    [1, null, 1],
    [2, null, 1],
    [2, 9, 2],
    [3, null, 2],
    [4, 9, 0],
  ])('that count for pass %i before %s: %i', (number, before, expected) => {
    expect(rows.count({ pass: number, before })).toBe(expected)
  })

  test('are those of all passes, and those of the last one', () => {
    expect(rows.figures(3)).toEqual({ ids: 3, inLastPass: 3 })
    expect(rows.figures(2)).toEqual({ ids: 3, inLastPass: 0 })
  })

  test('count one by one', () => {
    const has = (name: string, number: number) => rows.has(name, { pass: number, before: null })
    expect([has('a', 1), has('b', 1), has('c', 1), has('d', 1)]).toEqual([true, false, false, false])
  })
})

const progress = (parts: Partial<Progress> = {}): Progress => ({
  ...{ pass: pass({ base: base() }), attempt: 1, bases: [base()], sequence: 3 },
  ...parts,
})
const counting = (parts: Partial<Counting> = {}): Counting => ({
  ...{ scanId: 's', past: new PastPasses() },
  ...parts,
})
const watermark = at(5)
const timed: Base = base({ before: ms(1), watermark })

describe('the question to the ledger', () => {
  const question = (below: number, parts: Partial<Counting> = {}) =>
    questionOf(progress({ pass: pass({ below }) }), counting(parts))
  const known = { before: ms(10) }

  test.each([
    ['below the end of a scan of changes leaves out what did not change', 1, { known }, ms(10)],
    ['without an end counts every record', 0, { known }, undefined],
    ['of a whole list counts every record', 1, {}, undefined],
  ])('%s', (...[, below, parts, since]) => expect(question(below, parts).since).toBe(since))

  test('names the scan and each pass start', () => {
    expect(question(0)).toEqual({ scanId: 's', moments: [base()] })
  })

  test('names the time of the watermark of a steady pass only where that may count', () => {
    const steady = progress({ pass: pass({ base: timed }), bases: [timed] })
    const moments = (allowsSteady?: boolean) =>
      questionOf(steady, counting(allowsSteady === undefined ? {} : { allowsSteady })).moments
    expect(moments(true)).toEqual([timed, { pass: 1, before: ms(5) }])
    expect(moments(false)).toEqual([timed])
    expect(moments()).toEqual([timed])
  })
})

describe('the figures of a pass', () => {
  const rows = new SeenRows()
  rows.add('a', { pass: 1, isFront: true })
  rows.add('b', { pass: 2, isFront: true }, ms(3))

  test('are counted for each pass start, and for the last pass', () => {
    const bases = [base({ pass: 1 }), base({ pass: 2, before: ms(3) })]
    const state = pass({ number: 2, said: 25, below: 2, isCapped: true, rows: 5, isSteady: true })
    expect(figuresOfSeen(rows, progress({ pass: state, attempt: 2, bases }), counting())).toEqual({
      ...{ attempt: 2, bases, counted: [1, 1], ids: 2, claimed: 25, excluded: 2, hidden: 0 },
      ...{ isCapped: true, isShuffled: true },
    })
  })

  test('leave out rows below the end and hidden rows', () => {
    const state = pass({ below: 4, lacking: 3, base: base(), lastTotal: 25, rows: 1 })
    const figures = figuresOfSeen(rows, progress({ pass: state }), counting({ hidesRows: 3 }))
    expect(figures).toMatchObject({ hidden: 3, excluded: 7, isShuffled: false })
  })

  test('find hidden rows when passes over pages of two sizes show the same', () => {
    const past = new PastPasses()
    const state = pass({ lacking: 23, base: base(), lastTotal: 25, rows: 2, size: 8 })
    const five = progress({ pass: state, attempt: 5 })
    const one = new SeenRows()
    for (const name of ['a', 'b']) one.add(name, { pass: 1, isFront: true })
    expect(figuresOfSeen(one, five, counting({ past })).hidden).toBe(0)
    past.add(figuresOfSeen(one, five, counting({ past })), { size: 10 })
    expect(figuresOfSeen(one, five, counting({ past })).hidden).toBe(23)
    expect(figuresOfSeen(one, { ...five, attempt: 4 }, counting({ past })).hidden).toBe(0)
  })

  test('of rows in memory know the last pass by its start', () => {
    const none = progress({ bases: [], pass: pass({ rows: 1 }) })
    expect(figuresOfSeen(rows, none, counting())).toMatchObject({ counted: [], ids: 2, isShuffled: true })
    const two = progress({ bases: [base({ pass: 2 }), base({ pass: 1 })], pass: pass({ rows: 2 }) })
    expect(figuresOfSeen(rows, two, counting()).isShuffled).toBe(true)
    const first = progress({ bases: [base({ pass: 1 })], pass: pass({ rows: 1 }) })
    expect(figuresOfSeen(rows, first, counting()).isShuffled).toBe(false)
  })

  test('take a steady total in place of times where they may', () => {
    const one = new SeenRows()
    one.add('a', { pass: 1, isFront: false }, ms(4))
    const steady = progress({ pass: pass({ base: timed }), bases: [timed] })
    expect(figuresOfSeen(one, steady, counting({ allowsSteady: true })).counted).toEqual([1])
    expect(figuresOfSeen(one, steady, counting()).counted).toEqual([0])
  })
})

describe('the figures of a pass by the ledger', () => {
  const warehouse = rulesWarehouse()

  test('count the ids of the scan that changed since', async () => {
    const id = (record_id: string, changed_at: number, scan_id = 's') => ({
      ...{ scan_id, record_id, first_pass: 1, last_pass: 1, front_pass: 1 },
      ...{ existed_at: changed_at, changed_at, created_at: null, updated_at: null },
    })
    await addIds(warehouse.engine, [id('a', ms(9)), id('b', ms(10)), id('c', ms(20)), id('d', ms(20), 't')])
    const state = pass({ below: 3, said: 25 })
    const known = { before: ms(10) }
    const figures = await figuresOf(warehouse.engine, progress({ pass: state }), counting({ known }))
    expect(figures).toMatchObject({ ids: 2, counted: [2], excluded: 3, claimed: 25 })
    const whole = await figuresOf(warehouse.engine, progress(), counting({ known }))
    expect(whole).toMatchObject({ ids: 3, counted: [3], excluded: 0 })
  })
})
