/** What a plan learns from earlier reads: pages and rows. */
import { expect, test } from 'vitest'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { averageChanges, backfilledPages, snapshotPages } from '../../../src/state/scans/previous-scans.ts'
import { ledgerBench, runResource, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

test('pages of the backfill are those of its windows, days read on request aside', async () => {
  expect(await backfilledPages(bench.engine, 'expenses')).toBe(0)
  await bench.insert(
    'ops.scan',
    ...[scan('a', { pages: 2 }), scan('b', { pages: 3 }), scan('c', { pages: 10, scope: 'asked for' })],
    ...[scan('d', { pages: 20, kind: 'incremental' }), scan('e', { pages: 40, resource: 'x' })],
  )
  expect(await backfilledPages(bench.engine, 'expenses')).toBe(5)
})

test('pages of a snapshot are those of the largest accepted one of each scope', async () => {
  const of = { kind: 'snapshot', state: 'accepted' } as const
  await bench.insert(
    'ops.scan',
    ...[scan('a', { ...of, scope: 'c1', pages: 2 }), scan('b', { ...of, scope: 'c1', pages: 3 })],
    ...[
      scan('c', { ...of, scope: 'c1', pages: 9, state: 'refused' }),
      scan('d', { ...of, scope: 'c2', pages: 1 }),
    ],
    ...[
      scan('e', { ...of, scope: 'c3', kind: 'backfill' }),
      scan('f', { ...of, scope: 'c4', resource: 'x' }),
    ],
  )
  expect([...(await snapshotPages(bench.engine, 'expenses'))].sort()).toEqual([
    ['c1', 3],
    ['c2', 1],
  ])
})

const read = (number: number, records: number, parts: object = {}) =>
  bench.insert('ops.run_resource', runResource(`run-${number}`, { records_read: records, ...parts }))
const scanned = (run: number, parts: object = {}) =>
  bench.insert('ops.scan', scan(`s${run}`, { run_id: `run-${run}`, kind: 'incremental', ...parts }))

test('usual changes are the average of the last five scans of changes', async () => {
  expect(await averageChanges(bench.engine, 'expenses')).toBeUndefined()
  for (const run of [3, 6, 2, 5, 1, 4]) {
    await scanned(run)
    await read(run, run === 1 ? 1000 : run)
  }
  expect(await averageChanges(bench.engine, 'expenses')).toBe(4)
})

test('usual changes are unknown in a copy without its runs', async () => {
  await bench.engine.run('drop table ops.run_resource cascade')
  forgetTables(bench.engine)
  expect(await averageChanges(bench.engine, 'expenses')).toBeUndefined()
  forgetTables(bench.engine)
})

test('usual changes leave out runs that did not end well, and other kinds and lists', async () => {
  await scanned(1)
  await read(1, 10)
  await scanned(2)
  await read(2, 100, { state: 'failed' })
  await scanned(3, { kind: 'backfill' })
  await read(3, 100)
  await scanned(4, { resource: 'x' })
  await read(4, 100)
  await scanned(5)
  await read(5, 100, { resource: 'x' })
  await read(6, 100)
  expect(await averageChanges(bench.engine, 'expenses')).toBe(10)
})
