/** What is known of lists that are not whole: by the ledger, by the mart of a copy, or by nothing. */
import { describe, expect, test } from 'vitest'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { completenessOf, incompleteResources, neverRead } from '../../../src/state/scans/completeness.ts'
import { hour, ledgerBench, run, runResource, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

test('a warehouse without a recorded shortfall is complete', async () => {
  expect(await incompleteResources(bench.engine)).toEqual([])
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
  expect(await incompleteResources(bench.engine)).toEqual([
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
    expect(await incompleteResources(bench.engine)).toBeUndefined()
    forgetTables(bench.engine)
  })

  test('is not known where its mart is of an earlier version, whatever other tables have', async () => {
    await without('unread')
    await bench.engine.run('create table mart.data_health as select true as is_complete')
    for (const other of ['mart.other', 'star.data_health'])
      await bench.engine.run(`create table ${other} as select 'why' as incomplete_reason`)
    expect(await incompleteResources(bench.engine)).toBeUndefined()
    forgetTables(bench.engine)
  })

  test('has the answer of the time when its mart was built', async () => {
    await without('unread')
    await bench.engine.run(
      `create table mart.data_health as select * from (values ('users', 'failed', false), ('sites', null, true), ('rates', 'refused', false)) v(resource, incomplete_reason, is_complete)`,
    )
    const figures = { seen: null, expected: null }
    expect(await incompleteResources(bench.engine)).toEqual([
      { resource: 'rates', reason: 'refused', ...figures },
      { resource: 'users', reason: 'failed', ...figures },
    ])
    forgetTables(bench.engine)
  })
})

describe('a resource was never read', () => {
  const ran = async (command: string, state: string) => {
    await bench.insert('ops.run', run('run', { command }), run('other'))
    await bench.insert('ops.run_resource', runResource('run', { resource: 'users', state }))
  }

  test.each([
    ['unless a sync read it', 'sync', 'done', false],
    ['unless a sync tried to', 'sync', 'failed', false],
    ['when syncs skipped it', 'sync', 'skipped', true],
    ['when only other commands read it', 'sweep', 'done', true],
  ])('%s', async (...[, command, state, isNever]) => {
    await ran(command, state)
    expect(await neverRead(bench.engine, ['users', 'sites'])).toEqual(
      isNever ? ['users', 'sites'] : ['sites'],
    )
  })

  test.each([
    ['refused', false],
    ['not for this kind of key', false],
    ['readable', true],
    // It is incomplete instead.
    ['no longer readable', false],
  ])('unless the key may not: %s, %s', async (state, isNever) => {
    const access = { resource: 'users', key_kind: 'company', way: 'list', checked_at: hour(1) }
    await bench.insert('ops.key_access', { ...access, state })
    expect(await neverRead(bench.engine, ['users'])).toEqual(isNever ? ['users'] : [])
  })
})

describe('one word says how complete a resource is', () => {
  const access = (state: string) => ({
    resource: 'users',
    key_kind: 'company',
    way: 'list',
    checked_at: hour(1),
    state,
  })
  const done = runResource('run', { resource: 'users' })
  const refused = scan('s', { resource: 'users', kind: 'incremental', state: 'refused' })

  test.each([
    ['not read yet', {}],
    ['complete', { 'ops.scan': scan('s', { resource: 'users', kind: 'snapshot', state: 'accepted' }) }],
    ['incomplete', { 'ops.scan': refused }],
    ['not read yet', { 'ops.scan': scan('s', { resource: 'users', kind: 'sweep', state: 'accepted' }) }],
    ['not for this key', { 'ops.key_access': access('refused') }],
    ['not for this key', { 'ops.key_access': access('refused'), 'ops.scan': refused }],
    ['incomplete', { 'ops.key_access': access('no longer readable') }],
    ['no total to compare with', { 'ops.run_resource': done }],
    [
      'no total to compare with',
      {
        'ops.run_resource': done,
        'ops.scan': scan('s', { resource: 'users', kind: 'by id', state: 'accepted' }),
      },
    ],
    ['incomplete', { 'ops.run_resource': { ...done, state: 'stopped' } }],
  ])('%s: %j', async (word, rows) => {
    await bench.insert('ops.run', run('run'))
    for (const [table, row] of Object.entries(rows)) await bench.insert(table as 'ops.scan', row as never)
    expect((await completenessOf(bench.engine)).get('users')).toBe(word)
  })

  test('of a copy the mart says it, as of its last build', async () => {
    await bench.engine.run('drop table ops.unread cascade')
    forgetTables(bench.engine)
    expect(await completenessOf(bench.engine)).toEqual(new Map())
    await bench.engine.run(
      `create table mart.data_health as select 'users' as resource, 'complete' as completeness`,
    )
    expect(await completenessOf(bench.engine)).toEqual(new Map([['users', 'complete']]))
    forgetTables(bench.engine)
  })
})
