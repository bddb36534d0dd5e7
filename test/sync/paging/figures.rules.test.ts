/** What counts for the proof of a scan: which records, for which pass start, and what need not be seen. */
import { describe, expect, test } from 'vitest'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import {
  type CountContext,
  figuresOf,
  figuresOfSeen,
  idCountsQueryOf,
  PreviousPasses,
} from '../../../src/sync/paging/figures.ts'
import type { Pass } from '../../../src/sync/paging/pass.ts'
import { counts, type PassFigures, type PassStart, type SeenId } from '../../../src/sync/paging/proof.ts'
import type { ScanProgress } from '../../../src/sync/paging/scan.ts'
import { SeenRows } from '../../../src/sync/paging/seen-rows.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { at, ms, pass, start } from './lists.ts'

/** What the pages of a pass showed. */
const showing = (rows: number, missing = 0): Pick<Pass, 'shown'> => ({ shown: { rows, old: 0, missing } })

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

const progress = (parts: Partial<ScanProgress> = {}): ScanProgress => ({
  ...{ pass: pass({ start: start() }), attempt: 1, starts: [start()], sequence: 3, pageSize: 10 },
  ...parts,
})
const counting = (parts: Partial<CountContext> = {}): CountContext => ({
  ...{ scanId: 's', previous: new PreviousPasses() },
  ...parts,
})
const watermark = at(5)
const timed: PassStart = start({ before: ms(1), watermark })

describe('the question to the ledger', () => {
  const question = (below: number, parts: Partial<CountContext> = {}) =>
    idCountsQueryOf(progress({ pass: pass({ below }) }), counting(parts))
  const known = { before: ms(10) }

  test.each([
    ['below the end of a scan of changes leaves out what did not change', 1, { known }, ms(10)],
    ['without an end counts every record', 0, { known }, undefined],
    ['of a whole list counts every record', 1, {}, undefined],
  ])('%s', (...[, below, parts, since]) => expect(question(below, parts).since).toBe(since))

  test('names the scan and each pass start', () => {
    expect(question(0)).toEqual({ scanId: 's', passStarts: [start()] })
  })

  test('names the time of the watermark of a steady pass only where that may count', () => {
    const steady = progress({ pass: pass({ start: timed }), starts: [timed] })
    const moments = (allowsSteady?: boolean) =>
      idCountsQueryOf(steady, counting(allowsSteady === undefined ? {} : { allowsSteady })).passStarts
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
    const starts = [start({ pass: 1 }), start({ pass: 2, before: ms(3) })]
    const state = pass({ ...{ number: 2, lastTotal: 25, below: 2, contradiction: 'c' }, ...showing(5) })
    expect(figuresOfSeen(rows, progress({ pass: state, attempt: 2, starts }), counting())).toEqual({
      ...{ attempt: 2, starts, counted: [1, 1], ids: 2, total: 25, excluded: 2, hidden: 0 },
      ...{ contradiction: 'c', isShuffled: true, isSizeInferred: false },
    })
  })

  test('leave out rows below the end and hidden rows', () => {
    const state = pass({ below: 4, start: start(), lastTotal: 25, ...showing(1, 3) })
    const figures = figuresOfSeen(rows, progress({ pass: state }), counting({ hidesRows: 3 }))
    expect(figures).toMatchObject({ hidden: 3, excluded: 7, isShuffled: false })
  })

  test('find hidden rows when passes over pages of two sizes show the same', () => {
    const previous = new PreviousPasses()
    const state = pass({ start: start({ total: 3 }), lastTotal: 3, size: 8, ...showing(2, 1) })
    const five = progress({ pass: state, attempt: 5, starts: [start({ total: 3 })] })
    const one = new SeenRows()
    for (const name of ['a', 'b']) one.add(name, { pass: 1, isFront: true })
    expect(figuresOfSeen(one, five, counting({ previous })).hidden).toBe(0)
    previous.add(figuresOfSeen(one, five, counting({ previous })), { size: 10 })
    expect(figuresOfSeen(one, five, counting({ previous })).hidden).toBe(1)
    expect(figuresOfSeen(one, { ...five, attempt: 4 }, counting({ previous })).hidden).toBe(0)
  })

  test('of rows in memory know the last pass by its start', () => {
    const none = progress({ starts: [], pass: pass(showing(1)) })
    expect(figuresOfSeen(rows, none, counting())).toMatchObject({ counted: [], ids: 2, isShuffled: true })
    const two = progress({ starts: [start({ pass: 2 }), start({ pass: 1 })], pass: pass(showing(2)) })
    expect(figuresOfSeen(rows, two, counting()).isShuffled).toBe(true)
    const first = progress({ starts: [start({ pass: 1 })], pass: pass(showing(1)) })
    expect(figuresOfSeen(rows, first, counting()).isShuffled).toBe(false)
  })

  test('take a steady total in place of times where they may', () => {
    const one = new SeenRows()
    one.add('a', { pass: 1, isFront: false }, ms(4))
    const steady = progress({ pass: pass({ start: timed }), starts: [timed] })
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
    const state = pass({ below: 3, lastTotal: 25 })
    const known = { before: ms(10) }
    const figures = await figuresOf(warehouse.engine, progress({ pass: state }), counting({ known }))
    expect(figures).toMatchObject({ ids: 2, counted: [2], excluded: 3, total: 25 })
    const whole = await figuresOf(warehouse.engine, progress(), counting({ known }))
    expect(whole).toMatchObject({ ids: 3, counted: [3], excluded: 0 })
  })
})

describe('previous passes', () => {
  const passing = { start: start(), size: 10 }
  const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
    ...{ attempt: 1, starts: [start()], counted: [20], ids: 20, total: 25, excluded: 0, hidden: 0 },
    isShuffled: false,
    ...parts,
  })
  const having = (...all: readonly (readonly [Partial<PassFigures>, number])[]): PreviousPasses => {
    const previous = new PreviousPasses()
    for (const [parts, size] of all) previous.add(figures(parts), { size })
    return previous
  }

  test('are known by what they lack', () => {
    expect(having([{}, 10], [{ counted: [24] }, 10]).shortfalls).toEqual([5, 1])
  })

  test('once shuffled stay shuffled', () => {
    expect(having([{ isShuffled: true }, 10], [{}, 10]).isShuffledWith(pass(), 20)).toBe(true)
    expect(having([{}, 10]).isShuffledWith(pass(showing(20)), 20)).toBe(false)
    expect(having().isShuffledWith(pass(showing(21)), 20)).toBe(true)
  })

  test('are still while ids and total stay the same and a page had another size', () => {
    const previous = having([{ ids: 19 }, 8], [{}, 8], [{}, 10])
    expect(previous.stillWith(20, passing)).toBe(3)
    expect(previous.stillWith(21, passing)).toBe(1)
    expect(previous.stillWith(20, { ...passing, start: start({ total: 26 }) })).toBe(1)
    expect(having([{ starts: [], counted: [] }, 8]).stillWith(20, { size: 10 })).toBe(2)
  })

  test('of one size count alone', () => {
    expect(having([{}, 10], [{}, 10]).stillWith(20, passing)).toBe(1)
  })
})
