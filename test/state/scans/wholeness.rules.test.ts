/** What is known of lists that are not whole: by the ledger, by the mart of a copy, or by nothing. */
import { describe, expect, test } from 'vitest'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { neverRead, notWhole } from '../../../src/state/scans/wholeness.ts'
import { hour, ledgerBench, scan } from '../ledger-bench.ts'

const bench = ledgerBench()

test('a warehouse with nothing to tell is whole', async () => {
  expect(await notWhole(bench.engine)).toEqual([])
})

test('reasons come by resource, with their figures where there are some', async () => {
  const unread = { record_id: 'r', noted_at: hour(1) }
  await bench.insert('ops.unread', { ...unread, resource: 'sites' }, { ...unread, resource: 'expenses' })
  await bench.insert(
    'ops.scan',
    scan('s', { kind: 'incremental', state: 'refused', distinct_ids: 3, expected_ids: 5 }),
  )
  await bench.insert('ops.watermark', {
    ...{ resource: 'expenses', backfilled_at: hour(1), run_id: 'run', moved_at: hour(1) },
  })
  const unknown = { reason: 'records known to be missing or out of date: 1', seen: null, expected: null }
  expect(await notWhole(bench.engine)).toEqual([
    { resource: 'expenses', ...unknown },
    ...[
      {
        resource: 'expenses',
        reason: 'the last scan of changes was refused: saw 3 of 5',
        seen: 3,
        expected: 5,
      },
    ],
    { resource: 'sites', ...unknown },
  ])
})

describe('a copy without the ledger', () => {
  const without = async (table: string) => {
    await bench.engine.run(`drop table ops.${table} cascade`)
    forgetTables(bench.engine)
  }

  test.each(['unread', 'run'])('is not known where %s and the mart are missing', async table => {
    await without(table)
    expect(await notWhole(bench.engine)).toBeUndefined()
    forgetTables(bench.engine)
  })

  test('is not known where its mart is of an earlier version, whatever other tables have', async () => {
    await without('unread')
    await bench.engine.run('create table mart.data_health as select true as is_whole')
    for (const other of ['mart.other', 'star.data_health'])
      await bench.engine.run(`create table ${other} as select 'why' as not_whole_reason`)
    expect(await notWhole(bench.engine)).toBeUndefined()
    forgetTables(bench.engine)
  })

  test('has the answer of the time when its mart was built', async () => {
    await without('unread')
    await bench.engine.run(
      `create table mart.data_health as select * from (values ('users', 'failed', false), ('sites', null, true), ('rates', 'refused', false)) v(resource, not_whole_reason, is_whole)`,
    )
    const figures = { seen: null, expected: null }
    expect(await notWhole(bench.engine)).toEqual([
      { resource: 'rates', reason: 'refused', ...figures },
      { resource: 'users', reason: 'failed', ...figures },
    ])
    forgetTables(bench.engine)
  })
})

describe('a resource was never read', () => {
  const run = async (command: string, state: string) => {
    const zero = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, 0]))
    const figures = ['requests', 'records_read', 'rows_inserted', 'rows_changed', 'rows_removed']
    const more = ['records_touched', 'records_unchanged', 'quarantined']
    const begun = {
      ...{ arguments: '', state: 'done', started_at: hour(1), program_version: 'v' },
      ...zero([...figures, ...more, 'retries']),
    }
    await bench.insert(
      'ops.run',
      { ...begun, run_id: 'run', command },
      { ...begun, run_id: 'other', command: 'sync' },
    )
    await bench.insert('ops.run_resource', {
      ...{ run_id: 'run', resource: 'users', state, ...zero([...figures, ...more]) },
    })
  }

  test.each([
    ['unless a sync read it', 'sync', 'done', false],
    ['unless a sync tried to', 'sync', 'failed', false],
    ['when syncs skipped it', 'sync', 'skipped', true],
    ['when only other commands read it', 'sweep', 'done', true],
  ])('%s', async (...[, command, state, isNever]) => {
    await run(command, state)
    expect(await neverRead(bench.engine, ['users', 'sites'])).toEqual(
      isNever ? ['users', 'sites'] : ['sites'],
    )
  })

  test.each([
    ['refused', false],
    ['not for this kind of key', false],
    ['readable', true],
    ['no longer readable', true],
  ])('unless the key may not: %s, %s', async (state, isNever) => {
    const access = { resource: 'users', key_kind: 'company', way: 'list', checked_at: hour(1) }
    await bench.insert('ops.key_access', { ...access, state })
    expect(await neverRead(bench.engine, ['users'])).toEqual(isNever ? ['users'] : [])
  })
})
