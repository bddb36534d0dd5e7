/** Whether a scan of changes may skip the load: the same bytes as before, all stored, and nothing to be decided. */
import { describe, expect, test } from 'vitest'
import { programVersion } from '../../../src/lib/package.ts'
import { defaultLimits } from '../../../src/load/page/record-limits.ts'
import type { ScanProgress } from '../../../src/sync/paging/scan.ts'
import {
  areStored,
  digestOf,
  digestsIn,
  digestsText,
  isCompleteScan,
  isSettled,
  rowsOf,
  type ScanRowTimes,
  seenOf,
} from '../../../src/sync/scan/same-rows.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { at, ms, pass } from '../paging/lists.ts'

const page = (data: string, total = 1): Buffer =>
  Buffer.from(`{"success":true,"data":[${data}],"meta":{"page":1,"limit":200,"total":${total}}}`)

describe('the digest of a page', () => {
  const rows = '{"id":"a"}'

  test('is that of its rows: totals and other pages do not change it', () => {
    expect(digestOf(page(rows, 1))).toBe(digestOf(page(rows, 2)))
    expect(digestOf(page(rows))).toMatch(/^[0-9a-f]{64}$/)
    expect(digestOf(page(rows))).not.toBe(digestOf(page('{"id":"b"}')))
  })

  test('is another one with other limits for records', () => {
    expect(digestOf(page(rows), defaultLimits)).toBe(digestOf(page(rows)))
    expect(digestOf(page(rows), { ...defaultLimits, depth: 1 })).not.toBe(digestOf(page(rows)))
    expect(programVersion).not.toBe('')
  })

  test('is missing for an odd envelope', () => {
    expect(digestOf(Buffer.from('[]'))).toBeUndefined()
  })

  test.each([
    ['of no page', [], null],
    ['of ten pages', Array(10).fill('a'), 'a a a a a a a a a a'],
    ['of more pages than are worth it', Array(11).fill('a'), null],
    ['of a page without one', ['a', undefined], null],
  ])('is kept as text: %s', (...[, digests, text]) => expect(digestsText(digests)).toBe(text))

  test('is found in that text', () => {
    expect(digestsIn('a b')).toEqual(new Set(['a', 'b']))
    expect(digestsIn('')).toEqual(new Set())
    expect(digestsIn(null)).toEqual(new Set())
  })
})

describe('the rows of a page', () => {
  const record = { id: 'a', createdAt: '2026-03-01T10:00:00Z', updatedAt: '2026-03-01T10:00:05.123456Z' }

  test('have the time of their change, and the earlier one as that of their existence', () => {
    expect(rowsOf([record], 'updatedAt')).toEqual([{ id: 'a', changedAt: ms(0) + 5123, existedAt: ms(0) }])
    const backdated = { ...record, createdAt: '2026-03-01T11:00:00Z' }
    expect(rowsOf([backdated], 'updatedAt')).toEqual([
      { id: 'a', changedAt: ms(0) + 5123, existedAt: ms(0) + 5123 },
    ])
    expect(rowsOf([], 'updatedAt')).toEqual([])
  })

  test.each([
    ['without a created time exist since their change', { ...record, createdAt: null }],
    ['that name no created time exist since their change', { id: 'a', updatedAt: record.updatedAt }],
  ])('%s', (_, one) => expect(rowsOf([one], 'updatedAt')?.[0]?.existedAt).toBe(ms(0) + 5123))

  test.each([
    ['an id that is no text', { ...record, id: 7 }],
    ['an id that cannot be one', { ...record, id: '' }],
    ['no time of change', { ...record, updatedAt: null }],
    ['a time of change with an offset', { ...record, updatedAt: '2026-03-01T10:00:05+00:00' }],
    ['a time of change finer than a microsecond', { ...record, updatedAt: '2026-03-01T10:00:05.1234567Z' }],
    ['a time of change within a list', { ...record, updatedAt: ['2026-03-01T10:00:05Z'] }],
    ['a time of change behind another text', { ...record, updatedAt: ' 2026-03-01T10:00:05Z' }],
    ['an unreadable created time', { ...record, createdAt: 'soon' }],
    ['a created time that is a number', { ...record, createdAt: 1 }],
    ['no fields', null],
  ])('with %s are left to a load', (_, one) => expect(rowsOf([record, one], 'updatedAt')).toBeUndefined())
})

const same: ScanRowTimes[] = [
  { id: 'a', changedAt: 20, existedAt: 5 },
  { id: 'b', changedAt: 10, existedAt: 4 },
]
const progress = (parts: Partial<ScanProgress> = {}): ScanProgress => ({
  ...{ pass: pass({ nextPage: 0 }), attempt: 1, starts: [], sequence: 2, pageSize: 10 },
  ...parts,
})

describe('pages are a complete scan with the rows of the previous one', () => {
  const pages = [
    { pass: 1, isFront: true, same },
    { pass: 1, isFront: false, same: [] },
  ]

  test.each([
    ['after one pass, when all are here', {}, pages, true],
    ['not before the pass is over', { pass: pass({ nextPage: 1 }) }, pages, false],
    ['not after another pass', { attempt: 2 }, pages, false],
    ['not when earlier pages were loaded', { sequence: 3, pageSize: 10 }, pages, false],
    ['not when one has other rows', {}, [pages[0], { pass: 1, isFront: false }], false],
    ['not when one has other rows than it had', {}, [{ ...pages[0], same: undefined }, pages[1]], false],
  ])('%s', (...[, parts, all, expected]) => {
    expect(isCompleteScan(progress(parts), all as typeof pages)).toBe(expected)
  })
})

describe('the rows that count for a scan that is not loaded', () => {
  const pages = [{ pass: 1, isFront: false, same }]
  const count = (below: number, parts: Parameters<typeof seenOf>[2], before: number | null = null) =>
    seenOf(pages, progress({ pass: pass({ below }) }), parts).count({ pass: 1, before })
  const ids = (below: number, before: number) =>
    seenOf(pages, progress({ pass: pass({ below }) }), { known: { before } }).figures(1).ids

  test.each([
    [1, 11, 1],
    [1, 10, 2],
    [0, 11, 2],
    [1, 21, 0],
  ])('with %i rows below the end, of those that changed since %i: %i', (below, before, expected) => {
    expect(ids(below, before)).toBe(expected)
  })

  test('of a scan without an end are all', () => expect(count(1, {}, 5)).toBe(2))

  test('exist since their earlier time, or in a filtered list since their change', () => {
    expect([count(0, {}, 4), count(0, {}, 5)]).toEqual([1, 2])
    expect([count(0, { isFiltered: true }, 9), count(0, { isFiltered: true }, 10)]).toEqual([0, 1])
  })

  test('were seen where their page stood', () => {
    const front = [{ pass: 1, isFront: true, same }]
    expect(seenOf(front, progress(), {}).count({ pass: 1, before: null })).toBe(2)
    expect(seenOf(pages, progress(), {}).count({ pass: 1, before: null })).toBe(0)
  })
})

describe('rows are stored', () => {
  const warehouse = rulesWarehouse()
  const sites = resourceOf('sites')
  const row = (id: string, minute: number): ScanRowTimes => ({ id, changedAt: ms(minute), existedAt: ms(0) })

  test.each([
    [0, 0, true],
    [1, 0, false],
    [0, 1, false],
    [1, 1, false],
  ])(
    'only where %i deletions and %i quarantined records are undecided: %s',
    (contested, quarantined, expected) => {
      expect(isSettled({ contested, quarantined })).toBe(expected)
    },
  )

  test('when each is stored in that version or a later one', async () => {
    for (const [id, minute, isDeleted] of [
      ['a', 5, false],
      ['b', 6, false],
      ['gone', 5, true],
    ])
      await warehouse.engine.run(
        `insert into star.dim_site (site_id, created_at, source_updated_at, is_deleted, is_inferred, loaded_at, run_id)
         values ('${id}', '${at(0)}', '${at(Number(minute))}', ${isDeleted}, false, '${at(9)}', 'run-1')`,
      )
    const stored = (...rows: ScanRowTimes[]) => areStored(warehouse.engine, sites, rows)
    expect(await stored(row('a', 5), row('b', 6))).toBe(true)
    expect(await stored(row('a', 4))).toBe(true)
    expect(await stored(row('a', 6))).toBe(false)
    expect(await stored(row('a', 5), row('b', 7))).toBe(false)
    expect(await stored(row('a', 5), row('c', 5))).toBe(false)
    expect(await stored(row('gone', 5))).toBe(false)
    expect(await stored(row('a', 4), row('a', 5))).toBe(true)
    expect(await stored(row('a', 6), row('a', 5))).toBe(false)
    expect(await stored(row('a', 5), row('a', 6))).toBe(false)
    expect(await stored()).toBe(true)
  })

  test('not while a record is in quarantine or a deletion is undecided', async () => {
    const undecided = async (table: string, columns: string, values: string) => {
      await warehouse.engine.run(`insert into ops.${table} (${columns}) values (${values})`)
      const isStored = await areStored(warehouse.engine, sites, [])
      await warehouse.engine.run(`delete from ops.${table}`)
      return isStored
    }
    const quarantine = `'q', 'sites', 'a', 'name', 'bad', '{}', 'p', 'r', '${at(0)}'`
    expect(
      await undecided(
        'quarantine',
        'quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at',
        quarantine,
      ),
    ).toBe(false)
    expect(await areStored(warehouse.engine, sites, [])).toBe(true)
  })
})
