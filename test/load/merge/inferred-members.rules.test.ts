/** Members that records name: which attributes they take, from which record, and until when. */
import { beforeEach, describe, expect, test } from 'vitest'
import { gauges } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()
const time = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T09:00:00.000Z`

let count = 0
/** A record that last changed on this day, or at an unknown time. */
function naming(day: number | undefined, parts: object) {
  count += 1
  return { id: `g${count}`, version: 1, ...(day !== undefined && { updatedAt: time(day) }), ...parts }
}
const merge = (records: readonly object[], fetched = 20, run = 'run-1') =>
  warehouse.merge(gauges, records, { at: time(fetched), run })

/** The members of a dimension, by id: its columns, the day of its change, the day of its fetch. */
async function members(table: string, key: string, columns: readonly string[]) {
  const rows = await warehouse.rows(
    `select ${[key, ...columns].join(', ')}, day(source_updated_at) as changed, day(loaded_at) as fetched from ${table}
     where ${key} <> 'read'`,
  )
  return Object.fromEntries(rows.map(({ [key]: id, ...row }) => [id, Object.values(row)]))
}
const tags = () => members('star.dim_tag', 'tag_id', ['name', 'description'])

beforeEach(async () => {
  const tables = [
    'star.dim_tag',
    'star.dim_worker',
    'pii.worker',
    'star.dim_user',
    'pii.user',
    'star.fact_gauge',
  ]
  await warehouse.engine.run(tables.map(table => `delete from ${table}`).join(';'))
})

/** An id that names its case. */
const idOf = (sentence: string): string => sentence.replaceAll(/[ ,]+/g, '_')
const tag = (id: string, name?: string, description?: string) => ({
  tag: { id: idOf(id), name, description },
})

test('of the records of a batch the newest that gives an attribute decides it', async () => {
  await merge([
    ...[
      naming(3, tag('newest', 'c', 'z')),
      naming(5, tag('newest', 'a', 'x')),
      naming(4, tag('newest', 'b', 'y')),
    ],
    ...[
      naming(3, tag('by attribute', 'a', 'x')),
      naming(5, tag('by attribute', 'b')),
      naming(6, tag('by attribute')),
    ],
    ...[naming(3, tag('tie', 'a', 'y')), naming(3, tag('tie', 'b', 'x')), naming(2, tag('tie', 'c', 'z'))],
    ...[naming(3, tag('untimed', 'a')), naming(undefined, tag('untimed', 'b'))],
    ...[naming(undefined, tag('without times', 'a')), naming(undefined, tag('without times', 'b'))],
    ...[naming(3, tag('-1', 'none')), naming(3, { tag: { name: 'no id' } })],
  ])
  expect(await tags()).toEqual({
    newest: ['a', 'x', 5, 20],
    by_attribute: ['b', 'x', 5, 20],
    tie: ['b', 'y', 3, 20],
    untimed: ['a', null, 3, 20],
    without_times: ['b', null, null, 20],
  })
})

test('one id in two dimensions is two members, whichever is named first', async () => {
  const site = (id: string, name: string) => ({ site: { id: idOf(id), name } })
  await merge([naming(3, tag('first a tag', 'tag')), naming(3, site('first a site', 'site'))])
  await merge([naming(4, site('first a tag', 'its site'))])
  await merge([naming(4, tag('first a site', 'its tag'))])
  await merge([naming(5, { ...tag('only a tag', 'a'), ...site('only a site', 'b') })])
  const names = async (of: 'tag' | 'site') =>
    (
      await warehouse.rows(
        `select ${of}_id as id, name from star.dim_${of} where ${of}_id like '%_a_%' order by 1`,
      )
    ).map(({ id, name }) => [id, name])
  expect(await names('tag')).toEqual([
    ...[
      ['first_a_site', 'its tag'],
      ['first_a_tag', 'tag'],
      ['only_a_tag', 'a'],
    ],
  ])
  expect(await names('site')).toEqual([
    ...[
      ['first_a_site', 'site'],
      ['first_a_tag', 'its site'],
      ['only_a_site', 'b'],
    ],
  ])
})

test('a batch that comes later replaces what is newer, and else only fills gaps', async () => {
  const first = [
    ...[
      naming(4, tag('later', 'b', 'x')),
      naming(4, tag('earlier', 'b')),
      naming(4, tag('same, greater', 'b')),
    ],
    ...[naming(4, tag('same, smaller', 'b', 'x')), naming(4, tag('gap in the later', 'b', 'x'))],
    ...[naming(undefined, tag('both untimed', 'b')), naming(undefined, tag('now timed', 'b'))],
    ...[naming(4, tag('now untimed', 'b')), naming(4, tag('named only')), naming(4, tag('equal', 'b', 'x'))],
  ]
  await merge(first)
  const second = [
    ...[
      naming(5, tag('later', 'a', 'y')),
      naming(3, tag('earlier', 'c', 'z')),
      naming(4, tag('same, greater', 'c')),
    ],
    ...[naming(4, tag('same, smaller', 'a', 'z')), naming(5, tag('gap in the later', 'a'))],
    ...[naming(undefined, tag('both untimed', 'a')), naming(2, tag('now timed', 'a'))],
    ...[
      naming(undefined, tag('now untimed', 'c', 'z')),
      naming(4, tag('named only', 'a')),
      naming(4, tag('equal', 'b', 'x')),
    ],
  ]
  await merge(second, 21)
  expect(await tags()).toEqual({
    later: ['a', 'y', 5, 21],
    earlier: ['b', 'z', 4, 21],
    same_greater: ['c', null, 4, 21],
    same_smaller: ['b', 'x', 4, 20],
    gap_in_the_later: ['a', 'x', 5, 21],
    both_untimed: ['a', null, null, 21],
    now_timed: ['a', null, 2, 21],
    now_untimed: ['b', 'z', 4, 21],
    named_only: ['a', null, 4, 21],
    equal: ['b', 'x', 4, 20],
  })
})

test('without times the later fetch decides, and of one fetch the greater attributes', async () => {
  const untimed = (...named: readonly (readonly [string, string])[]) =>
    named.map(([id, name]) => naming(undefined, tag(id, name)))
  await merge(untimed(['later', 'b'], ['earlier', 'b'], ['greater', 'b'], ['smaller', 'b']))
  const later = [
    { at: time(21), records: untimed(['later', 'a']) },
    { at: time(19), records: untimed(['earlier', 'c']) },
  ]
  await warehouse.merge(gauges, untimed(['greater', 'c'], ['smaller', 'a']), { at: time(20), later })
  expect(await tags()).toEqual({
    later: ['a', null, null, 21],
    earlier: ['b', null, null, 20],
    greater: ['c', null, null, 20],
    smaller: ['b', null, null, 20],
  })
})

test('a member was fetched with the newest record that names it, and of equally new ones with the last', async () => {
  const later = [{ at: time(21), records: [naming(2, tag('newest', 'b')), naming(3, tag('last', 'b'))] }]
  const records = [naming(3, tag('newest', 'a')), naming(3, tag('last', 'a'))]
  await warehouse.merge(gauges, records, { at: time(20), later })
  expect(await tags()).toEqual({ newest: ['a', null, 3, 20], last: ['b', null, 3, 21] })
})

test('a record that is only touched says nothing newer about its members', async () => {
  const named = { id: 'touched', version: 1, ...tag('touched', 'a') }
  await merge([{ ...named, updatedAt: time(3) }])
  await merge([naming(4, tag('touched', 'b'))])
  await merge([{ ...named, updatedAt: time(6) }], 21)
  expect(await tags()).toEqual({ touched: ['b', null, 4, 20] })
})

describe('names of people', () => {
  const worker = (id: string, name?: string, reference?: string) => ({ worker: { id, name, reference } })
  const people = async () => ({
    open: await members('star.dim_worker', 'worker_id', ['worker_reference', 'is_inferred']),
    closed: await members('pii.worker', 'worker_id', ['name']),
  })

  test('are in the PII table alone, each table with the time of its own attributes', async () => {
    await merge([
      ...[
        naming(3, worker('both', 'Ann', 'r1')),
        naming(4, worker('name', 'Ann')),
        naming(4, worker('neither')),
      ],
      ...[naming(5, worker('both', 'Bob')), naming(4, worker('reference', undefined, 'r1'))],
    ])
    expect(await people()).toEqual({
      open: {
        ...{ both: ['r1', true, 3, 20], name: [null, true, null, 20], neither: [null, true, null, 20] },
        reference: ['r1', true, 4, 20],
      },
      closed: { both: ['Bob', 5, 20], name: ['Ann', 4, 20] },
    })
  })

  test('may come later than the member, and are replaced by newer ones', async () => {
    await merge([
      naming(3, worker('late')),
      naming(3, worker('newer', 'Ann')),
      naming(3, worker('older', 'Ann')),
    ])
    await merge(
      [
        naming(4, worker('late', 'Bob')),
        naming(4, worker('newer', 'Bob')),
        naming(2, worker('older', 'Bob')),
      ],
      21,
    )
    expect((await people()).closed).toEqual({
      late: ['Bob', 4, 21],
      newer: ['Bob', 4, 21],
      older: ['Ann', 3, 20],
    })
  })

  test('are left alone once the member has been read itself, as is its row of star', async () => {
    await warehouse.engine.run(`insert into star.dim_worker (worker_id, worker_reference, is_inferred, source_updated_at, loaded_at)
      values ('known', 'r1', false, '${time(1)}', '${time(1)}'), ('no name', 'r1', false, '${time(1)}', '${time(1)}')`)
    await warehouse.engine.run(`insert into pii.worker (worker_id, name, source_updated_at, loaded_at)
      values ('known', 'Ann', '${time(1)}', '${time(1)}')`)
    await merge([naming(4, worker('known', 'Bob', 'r2')), naming(4, worker('no name', 'Bob', 'r2'))])
    expect(await people()).toEqual({
      open: { known: ['r1', false, 1, 1], 'no name': ['r1', false, 1, 1] },
      closed: { known: ['Ann', 1, 1] },
    })
  })

  test('are taken from the lists of a record as well', async () => {
    await merge([
      naming(3, {
        owner: { id: 'u', name: 'Ann' },
        readings: [{ reader: { id: 'u', name: 'Bob' } }, { reader: { id: 'v' } }],
      }),
    ])
    expect(await members('star.dim_user', 'user_id', ['is_inferred'])).toEqual({
      u: [true, null, 20],
      v: [true, null, 20],
    })
    expect(await members('pii.user', 'user_id', ['name'])).toEqual({ u: ['Bob', 3, 20] })
  })
})

/** Bookkeeping of each tag. */
const storedTags = async () =>
  warehouse.rows(
    `select run_id as run, is_deleted, is_inferred, day(first_loaded_at) as first, deleted_at, valid_from, row_hash as hash
     from star.dim_tag order by tag_id`,
  )

/** SQL for the hash of a tag. */
const tagHash = (name: string, description: string) =>
  `md5(concat_ws('|', '', '${name}', '${description}', '', '', ''))`

const hashesBy = async (...sql: readonly string[]) =>
  Object.values(
    (await warehouse.rows(`select ${sql.map((one, n) => `${one} as h${n}`).join(', ')}`))[0] ?? {},
  )

test('a member has the bookkeeping of the record that named it last, and a hash of what it says', async () => {
  const fixed = { is_deleted: false, is_inferred: true, first: 20, deleted_at: null, valid_from: null }
  await merge([naming(3, tag('a', 'x', 'y')), naming(3, tag('b', 'x'))])
  const [first, second] = await hashesBy(tagHash('x', 'y'), tagHash('x', ''))
  expect(await storedTags(), 'after the first run').toEqual([
    { ...fixed, run: 'run-1', hash: first },
    { ...fixed, run: 'run-1', hash: second },
  ])
  await merge([naming(4, tag('a', 'z', 'y')), naming(2, tag('b', 'z', 'w'))], 21, 'run-2')
  const [third, fourth] = await hashesBy(tagHash('z', 'y'), tagHash('x', 'w'))
  expect(await storedTags(), 'after the second run').toEqual([
    { ...fixed, run: 'run-2', hash: third },
    { ...fixed, run: 'run-2', hash: fourth },
  ])
})
