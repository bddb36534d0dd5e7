/** Which ids the pages of a batch show, by which pass, and since when their records exist. */
import { expect, test } from 'vitest'
import { id, text } from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { changeTimes } from '../../../src/contract/fields/shared-columns.ts'
import { fact } from '../../../src/contract/fields/table.ts'
import { rulesStage } from '../rules-stage.ts'

const stage = rulesStage()

const about = { description: 'Of the tests.', path: '/', read: { strategy: 'scan' } } as const
const dated = resource({
  ...{ ...about, name: 'buoys', entity: 'buoy', updatedAt: 'updatedAt' },
  table: fact('buoy', 'One row per buoy.', { buoy_id: id('id', 'Id.'), ...changeTimes }),
})
const undated = resource({
  ...{ ...about, name: 'floats', entity: 'float' },
  table: fact('float', 'One row per float.', { float_id: id('id', 'Id.'), name: text('name', 'Name.') }),
})

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T00:00:00.000Z`
const dayOf = (value: unknown) => (value === null ? null : new Date(Number(value)).getUTCDate())

interface Seen {
  readonly passes: readonly (number | null)[]
  readonly existed: number | null
  readonly changed: number | null
}

async function seen(): Promise<Readonly<Record<string, Seen>>> {
  const rows = await stage.rows('select * from stage_seen')
  return Object.fromEntries(
    rows.map(
      ({
        id: key,
        first_pass: first,
        last_pass: last,
        front_pass: front,
        existed_at: existed,
        changed_at: changed,
      }) => [
        key,
        {
          passes: [first, last, front].map(one => (one === null ? null : Number(one))),
          existed: dayOf(existed),
          changed: dayOf(changed),
        },
      ],
    ),
  )
}

const record = (key: string, created: number | null, changed: number | null) => ({
  id: key,
  createdAt: created === null ? null : day(created),
  updatedAt: changed === null ? null : day(changed),
})

test('an id is seen by the first and the last pass that show it, and by the last that began with its page', async () => {
  const once = record('once', 1, 2)
  const often = record('often', 1, 2)
  await stage.stage(dated, [
    stage.pageOf([often], { pass: 3 }),
    stage.pageOf([often, once], { pass: 2, isFront: true }),
    stage.pageOf([often], { pass: 4, isFront: true }),
    stage.pageOf([often], { pass: 5, isFront: false }),
    stage.pageOf([record('elsewhere', 1, 2)]),
  ])
  const found = await seen()
  expect(
    Object.entries(found)
      .map(([key, { passes }]) => [key, passes])
      .sort(),
  ).toEqual([
    ['elsewhere', [null, null, null]],
    ['often', [2, 5, 4]],
    ['once', [2, 2, 2]],
  ])
})

test('a record exists since the earlier of its two times, of any version, and changed at the latest', async () => {
  await stage.stage(dated, [
    stage.pageOf([record('created', 1, 5), record('changed', 5, 3), record('no creation', null, 4)]),
    stage.pageOf([
      record('no change', 4, null),
      record('no time', null, null),
      record('two', 8, 6),
      record('two', 7, 9),
    ]),
  ])
  const found = await seen()
  expect(
    Object.fromEntries(Object.entries(found).map(([key, one]) => [key, [one.existed, one.changed]])),
  ).toEqual({
    ...{
      created: [1, 5],
      changed: [3, 3],
      'no creation': [4, 4],
      'no change': [4, null],
      'no time': [null, null],
    },
    two: [6, 9],
  })
})

test('a record without any time is seen all the same', async () => {
  await stage.stage(undated, [stage.pageOf([{ id: 'a' }, { id: 'b' }], { pass: 1 })])
  expect(await seen()).toEqual({
    a: { passes: [1, 1, null], existed: null, changed: null },
    b: { passes: [1, 1, null], existed: null, changed: null },
  })
})

test('an id longer than 200 bytes counts by its hash', async () => {
  const [fits, long, wide] = ['x'.repeat(200), 'x'.repeat(201), 'é'.repeat(101)]
  const found = await stage.stage(undated, [stage.pageOf([fits, long, wide].map(key => ({ id: key })))])
  expect(found.records).toBe(3)
  expect(
    Object.keys(await seen())
      .map(key => (key.startsWith('long id: ') ? key.length : key))
      .sort(),
  ).toEqual([41, 41, fits])
})

test('records without an id count by their text, in quarantine as well', async () => {
  const page = stage.pageOf([{ id: 'a' }, { name: 'x' }, { name: 'x' }, { name: 'y' }, null, 'text'], {
    pass: 2,
  })
  await stage.stage(undated, [page])
  const keys = Object.entries(await seen())
  expect(keys).toHaveLength(5)
  expect(keys.filter(([key]) => key.startsWith('no id: '))).toHaveLength(4)
  expect(keys.map(([, one]) => one.passes)).toEqual(Array(5).fill([2, 2, null]))
})

test('versions of one record are one id, and the newest of them is staged', async () => {
  await stage.stage(dated, [
    stage.pageOf([record('a', 1, 2), record('b', 1, 2)]),
    stage.pageOf([record('a', 1, 3)]),
  ])
  expect(Object.keys(await seen()).sort()).toEqual(['a', 'b'])
  expect(await stage.rows('select record_key from stage_record order by 1')).toEqual([
    { record_key: 'a' },
    { record_key: 'b' },
  ])
})
