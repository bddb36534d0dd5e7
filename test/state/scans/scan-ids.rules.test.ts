/** Which ids a scan has seen, which of them count for its pass starts, and when they are forgotten. */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  addIds,
  addStagedIds,
  countIds,
  countSweptIds,
  forgetSeen,
  forgetSweptIds,
  keepSeenSince,
  readPasses,
  savePasses,
} from '../../../src/state/scans/scan-ids.ts'
import type { ScanPassRow } from '../../../src/state/scans/tables.ts'
import { figuresOf, PreviousPasses } from '../../../src/sync/paging/figures.ts'
import { beginPass } from '../../../src/sync/paging/pass.ts'
import { ledgerBench, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

interface Sighting {
  readonly by?: string
  readonly first?: number
  readonly last?: number
  readonly front?: number
  readonly existed?: number
  readonly changed?: number
}

const saw = (id: string, { by = 's', first = 1, last = first, ...parts }: Sighting = {}) =>
  bench.insert('ops.scan_id', {
    ...{ scan_id: by, record_id: id, first_pass: first, last_pass: last, front_pass: parts.front },
    ...{ existed_at: parts.existed, changed_at: parts.changed },
  })
const idsOf = (scanId: string) =>
  bench.column(`select distinct record_id from ops.scan_id where scan_id = '${scanId}' order by 1`)
const pass = (scanId: string, number: number, parts: Partial<ScanPassRow> = {}): ScanPassRow => ({
  ...{ scan_id: scanId, pass: number, front: 1, total: 1, existed_before: null, watermark: null },
  ...parts,
})

describe('an id counts for a pass start', () => {
  test.each<[string, readonly Sighting[], number]>([
    ['when it existed at its time', [{ first: 2, existed: 1000 }], 1],
    ['not when it existed later', [{ first: 2, existed: 1001 }], 0],
    ['not when its time is unknown', [{ first: 2 }], 0],
    ['when it was on the first page', [{ first: 2, front: 2 }], 1],
    ['not when it was on the first page of another pass', [{ first: 2, front: 3 }], 0],
    ['when it was on the first page and on a later one', [{ first: 2, front: 2 }, { first: 2 }], 1],
    ['when an earlier pass saw it as well', [{ first: 1 }, { first: 2 }], 1],
    ['when one batch had it in an earlier pass and in this one', [{ first: 1, last: 2 }], 1],
    ['not when only earlier passes saw it', [{ first: 1, existed: 1, front: 1 }], 0],
    ['when a later pass saw it', [{ first: 3, existed: 1000 }], 1],
    ['by the least of its times', [2000, 1000].map((existed, at) => ({ first: 2 + at, existed })), 1],
  ])('%s', async (...[, sightings, counted]) => {
    for (const one of sightings) await saw('r', one)
    const counts = await countIds(bench.engine, { scanId: 's', passStarts: [{ pass: 2, before: 1000 }] })
    expect(counts).toMatchObject({ ids: 1, counted: [counted] })
  })

  test('by no time where that of the pass start is unknown', async () => {
    await saw('r', { first: 2, existed: 0 })
    const passStarts = [{ pass: 2, before: null }]
    expect(await countIds(bench.engine, { scanId: 's', passStarts })).toEqual({
      ...{ ids: 1, inLastPass: 1, counted: [0] },
    })
  })

  test('for each of several pass starts by itself', async () => {
    await saw('a', { first: 1, last: 3 })
    await saw('b', { first: 2, front: 2, existed: 1500 })
    await saw('c', { first: 3, front: 3, existed: 3000 })
    const passStarts = [
      { pass: 1, before: 1000 },
      { pass: 2, before: 1000 },
      { pass: 3, before: 2000 },
    ]
    expect(await countIds(bench.engine, { scanId: 's', passStarts })).toEqual({
      ...{ ids: 3, inLastPass: 2, counted: [0, 2, 2] },
    })
  })

  test('only when its own scan saw it', async () => {
    await saw('r', { by: 'other', existed: 1 })
    expect(await countIds(bench.engine, { scanId: 's', passStarts: [{ pass: 1, before: 1000 }] })).toEqual({
      ...{ ids: 0, inLastPass: 0, counted: [0] },
    })
  })
})

test('the last pass is that with the last pass start, whichever order they come in', async () => {
  await saw('a', { first: 2 })
  await saw('b', { first: 1 })
  await saw('c', { first: 1 })
  const passStarts = [2, 1].map(number => ({ pass: number, before: null }))
  expect((await countIds(bench.engine, { scanId: 's', passStarts })).inLastPass).toBe(1)
  expect((await countIds(bench.engine, { scanId: 's', passStarts: [] })).inLastPass).toBe(0)
})

test.each([
  [499, 2],
  [500, 2],
  [501, 1],
])('of records changed since %i at 500 and later there are %i', async (since, ids) => {
  await saw('r', { changed: 500 })
  await saw('later', { changed: 600 })
  await saw('unknown')
  expect((await countIds(bench.engine, { scanId: 's', passStarts: [], since })).ids).toBe(ids)
})

const passStart = { pass: 1, front: 1, total: 2, before: 1000, watermark: null }

/** Ids that count for a pass with this many rows below its end. */
async function idsBelowEnd(below: number, known?: { before: number }): Promise<number> {
  const progress = {
    pass: { ...beginPass(1), start: passStart, below },
    starts: [passStart],
    attempt: 1,
    sequence: 1,
    pageSize: 200,
  }
  const counting = { scanId: 's', known, previous: new PreviousPasses() }
  return (await figuresOf(bench.engine, progress, counting)).ids
}

test('below the end of a scan of changes only what changed since is counted', async () => {
  await saw('old', { existed: 1, changed: 499 })
  await saw('new', { existed: 1, changed: 500 })
  expect(await idsBelowEnd(1, { before: 500 }), 'below the known end').toBe(1)
  expect(await idsBelowEnd(0, { before: 500 }), 'not below it').toBe(2)
  expect(await idsBelowEnd(1), 'without a known end').toBe(2)
})

test.each([
  [true, 20],
  [false, 10],
])('a record of a list filtered by change (%s) existed at %i', async (isFiltered, existed) => {
  await bench.engine.run(
    `create or replace temp table stage_seen as select 'r' as id, 1 as first_pass, 2 as last_pass, 3 as front_pass, 10 as existed_at, 20 as changed_at`,
  )
  await addStagedIds(bench.engine, { scanId: 's', isFiltered })
  expect(await bench.rows('select * from ops.scan_id')).toMatchObject([
    {
      ...{ scan_id: 's', record_id: 'r', first_pass: 1, last_pass: 2, front_pass: 3 },
      ...{ existed_at: existed, changed_at: 20 },
    },
  ])
})

test.each([0, 1, 501])('all of %i ids are added', async many => {
  const row = { scan_id: 's', first_pass: 1, last_pass: 1, front_pass: null, existed_at: null }
  const rest = { changed_at: null, created_at: null, updated_at: null }
  await addIds(
    bench.engine,
    Array.from({ length: many }, (_, at) => ({ ...row, ...rest, record_id: `r${at}` })),
  )
  expect(await idsOf('s')).toHaveLength(many)
})

describe('pass starts', () => {
  test('are kept in the place of those written before, by scan and in their order', async () => {
    await savePasses(bench.engine, 's', [pass('s', 2), pass('s', 1), pass('s', 3)])
    await savePasses(bench.engine, 'other', [pass('other', 9)])
    const kept = async (scanId: string) =>
      (await readPasses(bench.engine, scanId)).map(row => Number(row.pass))
    expect([await kept('s'), await kept('other')]).toEqual([[1, 2, 3], [9]])
  })

  test('are gone when there are none to write', async () => {
    await bench.insert('ops.scan_pass', pass('s', 1), pass('other', 1))
    await savePasses(bench.engine, 's', [])
    expect(await bench.column('select scan_id from ops.scan_pass')).toEqual(['other'])
  })
})

describe('forgetting', () => {
  beforeEach(() => bench.insert('ops.scan', ...['s', 's2'].map(id => scan(id, { sweep_id: 'w' })), scan('x')))

  test('leaves ids that this pass or a later one of the scan saw', async () => {
    await saw('before', { first: 1, last: 2 })
    await saw('both', { first: 1 })
    await saw('both', { first: 3 })
    await saw('since', { first: 3 })
    await keepSeenSince(bench.engine, 's', 3)
    expect(await idsOf('s')).toEqual(['both', 'since'])
    expect(await bench.column('select first_pass from ops.scan_id order by 1')).toEqual([1, 3, 3])
  })

  test('regards the passes of one scan only', async () => {
    await saw('r', { first: 1 })
    await saw('r', { by: 'x', first: 3 })
    await saw('q', { by: 'x', first: 1 })
    await keepSeenSince(bench.engine, 's', 3)
    expect([await idsOf('s'), await idsOf('x')]).toEqual([[], ['q', 'r']])
  })

  test('leaves every id when the first pass counts', async () => {
    await saw('r')
    await keepSeenSince(bench.engine, 's', 1)
    expect(await idsOf('s')).toEqual(['r'])
  })

  test('of a scan that is decided takes its ids and pass starts, and no others', async () => {
    await saw('r')
    await saw('r', { by: 'x' })
    await bench.insert('ops.scan_pass', pass('s', 1), pass('x', 1))
    await forgetSeen(bench.engine, 's')
    expect(await bench.column('select scan_id from ops.scan_id')).toEqual(['x'])
    expect(await bench.column('select scan_id from ops.scan_pass')).toEqual(['x'])
  })

  test('of a sweep takes ids and pass starts of all its scans, and no others', async () => {
    await saw('r')
    await saw('r', { by: 's2' })
    await saw('q', { by: 's2' })
    await saw('other', { by: 'x' })
    await bench.insert('ops.scan_pass', ...['s', 's2', 'x'].map(id => pass(id, 1)))
    expect(await countSweptIds(bench.engine, 'w')).toBe(2)
    expect(await countSweptIds(bench.engine, 'none')).toBe(0)
    await forgetSweptIds(bench.engine, 'w')
    expect(await bench.column('select scan_id from ops.scan_id')).toEqual(['x'])
    expect(await bench.column('select scan_id from ops.scan_pass')).toEqual(['x'])
  })
})
