/** Which version of a record is staged, and which values of it are reported. */
import { describe, expect, test } from 'vitest'
import { rulesStage } from '../rules-stage.ts'
import { cask, casks, time } from './casks.ts'

const stage = rulesStage()

describe('of several versions of a record on the pages of a batch', () => {
  test.each([
    [
      'the one with the later updatedAt is staged',
      { updatedAt: time(3), version: 1 },
      { version: 9 },
      'first',
    ],
    ['the one with a time is staged before one without', {}, { updatedAt: null, version: 9 }, 'first'],
    ['of equal times the one with the greater version', { version: 3 }, { version: 2 }, 'first'],
    ['of equal times the one with a version', { version: 3 }, { version: null }, 'first'],
    ['of equal times and versions the later on the pages', {}, {}, 'second'],
  ])('%s', async (...[, first, second, staged]) => {
    const records = [
      cask({ ...first, name: 'first' }),
      cask({ ...second, name: 'second' }),
      cask({ id: 'b' }),
    ]
    const { records: read } = await stage.stage(casks, [stage.pageOf(records)])
    expect(read).toBe(3)
    expect(await stage.rows(`select name from stage.stage_0 where cask_id = 'a'`)).toEqual([{ name: staged }])
    expect(await stage.rows('select cask_id from stage.stage_1 order by 1')).toEqual([
      { cask_id: 'a' },
      { cask_id: 'b' },
    ])
    expect(await stage.rows('select record_key from stage_record order by 1')).toEqual([
      { record_key: 'a' },
      { record_key: 'b' },
    ])
  })
})

test('a value that the contract does not list is reported once, shortened, and stays', async () => {
  const long = 'z'.repeat(81)
  const { newValues } = await stage.stage(casks, [
    stage.pageOf([
      ...[
        cask({ id: 'a', state: 'full' }),
        cask({ id: 'b', state: 'leaking' }),
        cask({ id: 'c', state: 'leaking' }),
      ],
      ...[
        cask({ id: 'd', state: null }),
        cask({ id: 'e', state: long, marks: [{ kind: 'green' }, { kind: 'blue' }] }),
      ],
    ]),
  ])
  expect(
    [...newValues].sort((left, right) => (left.path + left.value < right.path + right.value ? -1 : 1)),
  ).toEqual([
    { path: 'bridge_cask_mark.kind', value: 'green' },
    { path: 'fact_cask.state', value: 'leaking' },
    { path: 'fact_cask.state', value: 'z'.repeat(80) },
  ])
  expect(await stage.rows(`select state from stage.stage_0 where cask_id = 'b'`)).toEqual([
    { state: 'leaking' },
  ])
})

test('a record that is left out is counted and seen, and no row of it is staged', async () => {
  const faulty = cask({ id: 'b', updatedAt: 'never' })
  const { records, filled, trouble } = await stage.stage(casks, [stage.pageOf([cask({ marks: [] }), faulty])])
  expect({ records, left: trouble.length, filled: [...filled] }).toEqual({
    records: 2,
    left: 1,
    filled: ['stage.stage_0', 'stage_leaf'],
  })
  expect(await stage.rows('select record_key from stage_record')).toEqual([{ record_key: 'a' }])
  expect(await stage.rows('select id from stage_seen order by 1')).toEqual([{ id: 'a' }, { id: 'b' }])
  const none = await stage.stage(casks, [stage.pageOf([faulty])])
  expect([none.records, [...none.filled]]).toEqual([1, []])
  expect(await stage.rows('select record_key from stage_record')).toEqual([])
})
