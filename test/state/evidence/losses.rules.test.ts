/** A record that was lost here, or whose stored version is wrong, is read by the next sync. */
import { expect, test } from 'vitest'
import { noteLosses } from '../../../src/state/evidence/losses.ts'
import { expense, hour, ledgerBench } from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench({ keepsRows: true })
const records = ['r', `it's lost`].map(id => ({ id, createdAt: hour(1), updatedAt: hour(2) }))

test('by the list, where there is one, and its stored version is distrusted', async () => {
  const expenses = resourceOf('expenses')
  await bench.insert('star.fact_expense', expense('r'), expense('other'))
  await noteLosses(bench.engine, { resource: expenses, records: [] }, hour(8))
  await noteLosses(bench.engine, { resource: expenses, records }, hour(9))
  const unread = { resource: 'expenses', created_at: hour(1), updated_at: hour(2), noted_at: hour(9) }
  expect(await bench.rows('select * from ops.unread order by record_id')).toEqual([
    { ...unread, record_id: `it's lost` },
    { ...unread, record_id: 'r' },
  ])
  expect(await bench.column('select row_hash from star.fact_expense order by expense_id')).toEqual(['h', ''])
  expect(await bench.column('select record_id from ops.discovered')).toEqual([])
})

test('by its id, where there is no list', async () => {
  const trade = (id: string) => ({ trade_id: id, row_hash: 'h', is_deleted: false, is_inferred: false })
  await bench.insert('star.dim_trade', trade('r'), trade('other'))
  await noteLosses(bench.engine, { resource: resourceOf('trades'), records: records.slice(0, 1) }, hour(9))
  expect(
    await bench.rows(
      'select resource, record_id as id, source, signals, signalled_at as at from ops.discovered',
    ),
  ).toEqual([{ resource: 'trades', id: 'r', source: 'the crosscheck', signals: 1, at: hour(9) }])
  expect(
    await bench.column(
      `select row_hash from star.dim_trade where trade_id in ('r', 'other') order by trade_id`,
    ),
  ).toEqual(['h', ''])
  expect(await bench.column(`select record_id from ops.unread where resource = 'trades'`)).toEqual([])
})
