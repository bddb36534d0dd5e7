/** A scan that another run resumes: what its ledger row says, and where the scan goes on. */
import { describe, expect, test } from 'vitest'
import { freshScan } from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import type { Base } from '../../../src/sync/paging/proof.ts'
import { type Beginning, changeOf, resumed, saveBases } from '../../../src/sync/paging/scan-row.ts'
import { rulesWarehouse } from '../../rules-warehouse.ts'
import { at, base, ms, pass } from './lists.ts'

const warehouse = rulesWarehouse()
const beginning: Beginning = { page: 7, size: 8, limit: 9, isPart: false }
const row = (parts: Partial<ScanRow> = {}): ScanRow => ({
  ...freshScan({ scan_id: 's', resource: 'users', kind: 'backfill', run_id: 'r', started_at: at(0) }),
  ...parts,
})
const cutOff: Partial<ScanRow> = {
  ...{ attempt: 1, pass: 3, page_size: 10, page_limit: 12, next_page: 2, loaded_sequence: 6, pages: 2 },
  ...{ first_total: 25, greatest_total: 40, last_total: 35, first_watermark: at(5) },
}

async function resume(parts: Partial<ScanRow>, bases: readonly Base[] = [], from: Partial<Beginning> = {}) {
  await saveBases(warehouse.engine, 's', bases)
  return resumed(warehouse.engine, row(parts), { ...beginning, ...from })
}

test('the ledger row tells how far a scan is', () => {
  const state = pass({
    ...{ number: 3, usual: 10, limit: 12, nextPage: 2, pages: 4, base: base() },
    ...{ greatestTotal: 40, lastTotal: 35, watermark: at(5) },
  })
  const change = { ...cutOff, attempt: 2, pages: 4 }
  expect(changeOf({ pass: state, attempt: 2, bases: [], sequence: 6 })).toEqual(change)
  const { base: _, ...none } = state
  expect(changeOf({ pass: none, attempt: 2, bases: [], sequence: 6 })).toEqual({ ...change, first_total: 0 })
})

describe('a scan of which nothing is read', () => {
  test('begins where the caller says, though pass starts are left of an earlier time', async () => {
    const progress = await resume({ pass: 4, attempt: 2 }, [base()])
    expect(progress).toEqual({
      pass: { ...pass(), nextPage: 7, size: 8, usual: 8, limit: 9, number: 4 },
      attempt: 2,
      bases: [],
      sequence: 0,
    })
  })

  test('is its first pass where the row names none', async () => {
    expect((await resume({ pass: null as unknown as number })).pass.number).toBe(1)
  })
})

describe('a scan that was cut off', () => {
  const third = base({ pass: 3, before: ms(1), watermark: at(5) })

  test('goes on with the next page, and its pass with the pages of before uncounted', async () => {
    const progress = await resume(cutOff, [base({ pass: 2 }), third])
    expect(progress).toEqual({
      pass: {
        ...pass({
          number: 3,
          nextPage: 2,
          size: 10,
          usual: 10,
          limit: 12,
          pages: 2,
          last: 2,
          watermark: at(5),
        }),
        ...{
          greatestTotal: 40,
          lastTotal: 35,
          lacking: undefined,
          rows: undefined,
          isSteady: false,
          base: third,
        },
      },
      ...{ attempt: 1, bases: [base({ pass: 2 }), third], sequence: 6 },
    })
  })

  test('after a pass goes on with the next one, whose pages all count', async () => {
    const { pass: next } = await resume({ ...cutOff, pages: 0 }, [base({ pass: 2 })])
    expect(next).toMatchObject({ number: 3, pages: 0, lacking: 0, rows: 0, isSteady: true, nextPage: 2 })
    expect(next).not.toHaveProperty('base')
  })

  test('within its first pages goes on as well', async () => {
    const { pass: next } = await resume({ ...cutOff, loaded_sequence: 0 }, [third])
    expect(next).toMatchObject({ number: 3, nextPage: 2, pages: 2 })
  })

  test('has pages of the usual size where the row names none', async () => {
    const unnamed = {
      page_size: null,
      page_limit: null,
      pass: null as unknown as number,
      attempt: 3,
      pages: 0,
    }
    const { pass: next } = await resume({ ...cutOff, ...unnamed })
    expect(next).toMatchObject({ usual: 200, limit: 200, size: 200, number: 3 })
  })

  test.each([
    ['of a whole list', 5, false, 25, 160],
    ['of changes in a short list', 5, true, 25, 160],
    ['of changes in its fourth attempt', 4, true, 25, 160],
    ['of a whole list in its fourth attempt', 4, false, 25, 160],
  ])('%s asks for the pages of its attempt', async (...[, attempt, isPart, total, size]) => {
    const limits = { page_size: 200, page_limit: 200, attempt, pages: 0 }
    const bases = [base({ pass: 1, total })]
    const { pass: next } = await resume({ ...cutOff, ...limits }, bases, { isPart })
    expect(next.size).toBe(isPart && attempt === 5 ? 200 : size)
  })

  test.each<readonly [string, Partial<Base> | undefined, number]>([
    ['above the pass start', { front: 2 }, 4],
    ['beyond the pass start', { front: 1 }, 4],
    ['below the pass start', { front: 3 }, 2],
    ['without a pass start', undefined, 4],
  ])('%s', async (...[, parts, nextPage]) => {
    const bases = parts ? [base({ pass: 3, ...parts })] : []
    const { pass: next, attempt } = await resume(cutOff, bases)
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
  await saveBases(warehouse.engine, 's', [base({ pass: 1 }), base({ pass: 2 })])
  await saveBases(warehouse.engine, 't', [base({ pass: 9 })])
  const { bases } = await resume(cutOff, [base({ pass: 2, before: null, watermark: null })])
  expect(bases).toEqual([base({ pass: 2, before: null, watermark: null })])
})
