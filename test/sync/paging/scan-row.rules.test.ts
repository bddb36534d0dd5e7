/** A scan that another run resumes: what its ledger row says, and where the scan goes on. */
import { describe, expect, test } from 'vitest'
import { freshScan } from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import type { PassStart } from '../../../src/sync/paging/proof.ts'
import { changeOf, resumed, type ScanBeginning, saveStarts } from '../../../src/sync/paging/scan-row.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { at, ms, pass, start } from './lists.ts'

const warehouse = rulesWarehouse()
const beginning: ScanBeginning = { page: 7, size: 8, isPart: false }
const row = (parts: Partial<ScanRow> = {}): ScanRow => ({
  ...freshScan({ scan_id: 's', resource: 'users', kind: 'backfill', run_id: 'r', started_at: at(0) }),
  ...parts,
})
const cutOff: Partial<ScanRow> = {
  ...{ attempt: 1, pass: 3, page_size: 10, next_page: 2, loaded_sequence: 6, pages: 2 },
  ...{ first_total: 25, last_total: 35, first_watermark: at(5) },
}

async function resume(
  parts: Partial<ScanRow>,
  starts: readonly PassStart[] = [],
  from: Partial<ScanBeginning> = {},
) {
  await saveStarts(warehouse.engine, 's', starts)
  return resumed(warehouse.engine, row(parts), { ...beginning, ...from })
}

test('the ledger row says how far a scan is', () => {
  const state = pass({
    ...{ number: 3, size: 8, nextPage: 2, pages: 4, start: start() },
    ...{ lastTotal: 35, watermark: at(5) },
  })
  const change = { ...cutOff, attempt: 2, pages: 4 }
  expect(changeOf({ pass: state, attempt: 2, starts: [], sequence: 6, pageSize: 10 })).toEqual(change)
  const { start: _, ...none } = state
  expect(changeOf({ pass: none, attempt: 2, starts: [], sequence: 6, pageSize: 10 })).toEqual({
    ...change,
    first_total: 0,
  })
})

describe('a scan of which nothing is read', () => {
  test('begins where the caller says, though pass starts are left of an earlier time', async () => {
    const progress = await resume({ pass: 4, attempt: 2 }, [start()])
    expect(progress).toEqual({
      pass: { ...pass(), nextPage: 7, size: 8, number: 4 },
      ...{ attempt: 2, starts: [], sequence: 0, pageSize: 8 },
    })
  })

  test('is its first pass where the row names none', async () => {
    expect((await resume({ pass: null as unknown as number })).pass.number).toBe(1)
  })
})

describe('a scan that was cut off', () => {
  const third = start({ pass: 3, before: ms(1), watermark: at(5) })

  test('goes on with the next page, and its pass does not count the previous pages', async () => {
    const progress = await resume(cutOff, [start({ pass: 2 }), third])
    expect(progress).toEqual({
      pass: {
        ...pass({ number: 3, nextPage: 2, size: 10, pages: 2, last: 2, watermark: at(5) }),
        ...{ lastTotal: 35, shown: undefined, isSteady: false, start: third },
      },
      ...{ attempt: 1, starts: [start({ pass: 2 }), third], sequence: 6, pageSize: 10 },
    })
  })

  test('after a pass goes on with the next one, whose pages all count', async () => {
    const { pass: next } = await resume({ ...cutOff, pages: 0 }, [start({ pass: 2 })])
    expect(next).toMatchObject({ number: 3, pages: 0, shown: { rows: 0 }, isSteady: true, nextPage: 2 })
    expect(next).not.toHaveProperty('start')
  })

  test('within its first pages goes on as well', async () => {
    const { pass: next } = await resume({ ...cutOff, loaded_sequence: 0 }, [third])
    expect(next).toMatchObject({ number: 3, nextPage: 2, pages: 2 })
  })

  test('has pages of the default size where the row names none', async () => {
    const unnamed = {
      page_size: null,
      pass: null as unknown as number,
      attempt: 3,
      pages: 0,
    }
    const { pass: next } = await resume({ ...cutOff, ...unnamed })
    expect(next).toMatchObject({ size: 200, number: 3 })
  })

  test.each([
    ['of a whole list', 5, false, 25, 160],
    ['of changes in a short list', 5, true, 25, 160],
    ['of changes in its fourth attempt', 4, true, 25, 160],
    ['of a whole list in its fourth attempt', 4, false, 25, 160],
  ])('%s asks for the pages of its attempt', async (...[, attempt, isPart, total, size]) => {
    const limits = { page_size: 200, attempt, pages: 0 }
    const starts = [start({ pass: 1, total })]
    const { pass: next } = await resume({ ...cutOff, ...limits }, starts, { isPart })
    expect(next.size).toBe(isPart && attempt === 5 ? 200 : size)
  })

  test.each<readonly [string, Partial<PassStart> | undefined, number]>([
    ['above the pass start', { front: 2 }, 4],
    ['beyond the pass start', { front: 1 }, 4],
    ['below the pass start', { front: 3 }, 2],
    ['without a pass start', undefined, 4],
  ])('%s', async (...[, parts, nextPage]) => {
    const starts = parts ? [start({ pass: 3, ...parts })] : []
    const { pass: next, attempt } = await resume(cutOff, starts)
    expect([next.nextPage, next.pages, next.number, attempt]).toEqual(
      nextPage === 2 ? [2, 2, 3, 1] : [4, 0, 4, 1],
    )
  })

  test('before its first page counts goes on there, without a pass start', async () => {
    const { pass: next } = await resume({ ...cutOff, pages: 0, next_page: 5 })
    expect(next).toMatchObject({ nextPage: 5, number: 3 })
  })
})

test('pass starts are saved in place of earlier ones', async () => {
  await saveStarts(warehouse.engine, 's', [start({ pass: 1 }), start({ pass: 2 })])
  await saveStarts(warehouse.engine, 't', [start({ pass: 9 })])
  const { starts } = await resume(cutOff, [start({ pass: 2, before: null, watermark: null })])
  expect(starts).toEqual([start({ pass: 2, before: null, watermark: null })])
})
