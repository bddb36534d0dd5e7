/** How far a list has been read: one row a list, of which each step sets the columns that it knows. */
import { expect, test } from 'vitest'
import {
  forgetPageSize,
  forgetWatermark,
  moveWatermark,
  readWatermark,
} from '../../../src/state/scans/watermarks.ts'
import { hour, ledgerBench } from '../../support/ledger-bench.ts'

const bench = ledgerBench()
const by = { run_id: 'run-1', moved_at: hour(1) }
const read = (resource = 'expenses') => readWatermark(bench.engine, resource)

test('a watermark that is moved keeps the columns that are not given', async () => {
  expect(await read()).toBeUndefined()
  await moveWatermark(bench.engine, 'expenses', { ...by, watermark: 'w', page_size: 50 })
  const nothing = ['pending_watermark', 'earliest_day', 'remembered_total', 'hidden_rows']
    .concat('backfilled_at', 'empty_since', 'same_rows', 'changes_filter', 'filter_asked_at')
    .map(name => [name, null])
  const first = { resource: 'expenses', ...by, watermark: 'w', page_size: 50, ...Object.fromEntries(nothing) }
  expect(await read()).toEqual(first)
  await moveWatermark(bench.engine, 'expenses', { run_id: 'run-2', moved_at: hour(2), watermark: 'x' })
  expect(await read()).toEqual({ ...first, run_id: 'run-2', moved_at: hour(2), watermark: 'x' })
})

test('lists have watermarks of their own, and the size of their pages', async () => {
  for (const resource of ['expenses', 'invoices'])
    await moveWatermark(bench.engine, resource, { ...by, watermark: 'w', page_size: 50 })
  await forgetPageSize(bench.engine, 'expenses')
  expect(await read()).toMatchObject({ watermark: 'w', page_size: null })
  expect(await read('invoices')).toMatchObject({ page_size: 50 })
  await forgetWatermark(bench.engine, 'expenses')
  expect([await read(), (await read('invoices'))?.resource]).toEqual([undefined, 'invoices'])
})
