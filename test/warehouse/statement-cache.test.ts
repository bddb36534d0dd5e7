/** A statement with values that is kept prepared answers as one that is prepared anew. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openDuckdb } from '../../src/warehouse/on-demand.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kept-'))
  engine = await openDuckdb(join(folder, 'one.duckdb'))
  await engine.run('create schema ops')
  await engine.run('create table ops.run (id bigint, note text)')
  await engine.run(`insert into ops.run values (1, 'home')`)
})

afterEach(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

const ask = `select * from ops.run where id >= $1 order by id`
const rows = (minimum: number | null = 1) => engine.rows(ask, [minimum])

const count = (at: Engine) => at.rows('select count(*) as n from published.run where id = $1', [7])
const attach = (name: string) => engine.run(`attach '${join(folder, name)}' as published`)

test('prepares statements again after the database, or another in its place, was attached again', async () => {
  for (const times of [1, 2, 3]) {
    await attach('published.duckdb')
    await engine.run('create or replace table published.run (id bigint, note text)')
    for (let time = 0; time < times; time += 1)
      expect(await engine.run('insert into published.run values ($1, $2)', [7, 'row'])).toBe(1)
    expect(await count(engine)).toEqual([{ n: times }])
    await engine.run('detach published')
    if (times === 2) rmSync(join(folder, 'published.duckdb'))
  }
  await expect(count(engine)).rejects.toThrow('published')
  expect(await rows()).toEqual([{ id: 1, note: 'home' }])
})

test('names lead to the database in use', async () => {
  expect(await rows()).toEqual([{ id: 1, note: 'home' }])
  await engine.exclusive(async engine => {
    await engine.run(`attach '${join(folder, 'copy.duckdb')}' as published`)
    await engine.run('use published')
    await engine.run('create schema ops')
    await engine.run('create table ops.run (id bigint, note text)')
    await engine.run('insert into ops.run values ($1, $2)', [2, 'copy'])
    expect(await engine.rows(ask, [1])).toEqual([{ id: 2, note: 'copy' }])
    await engine.run('use warehouse; detach published')
    expect(await engine.rows(ask, [1])).toEqual([{ id: 1, note: 'home' }])
  })
})

test('what another connection keeps does not hold a database that is detached', async () => {
  await engine.staging(async stage => {
    for (const times of [1, 2]) {
      await attach('published.duckdb')
      await engine.run(`create or replace table published.run as select 7 as id from range(${times})`)
      expect(await count(stage)).toEqual([{ n: times }])
      await engine.run('detach published')
      await expect(count(stage)).rejects.toThrow('published')
    }
  })
})

test('a table of another shape is read in that shape', async () => {
  expect(await rows()).toEqual([{ id: 1, note: 'home' }])
  await engine.run('alter table ops.run add column more integer default 5')
  expect(await rows()).toEqual([{ id: 1, note: 'home', more: 5 }])
  await engine.run('drop table ops.run')
  await expect(rows()).rejects.toThrow('run')
  await engine.run(`create table ops.run as select 3.5 as id, true as is_new`)
  expect(await rows()).toEqual([{ id: '3.5', is_new: true }])
})

test('a table that a transaction took back is not there', async () => {
  const insert = (at: Engine) => at.run('insert into ops.late values ($1)', [1])
  const undone = engine.transaction(async engine => {
    await engine.run('create table ops.late (id bigint)')
    await insert(engine)
    throw new Error('taken back')
  })
  await expect(undone).rejects.toThrow('taken back')
  await expect(insert(engine)).rejects.toThrow('late')
  await engine.run('create table ops.late (id bigint)')
  expect(await insert(engine)).toBe(1)
})

test('values of another kind, and none, are values', async () => {
  const same = async (value: string | number | boolean | null) =>
    (await engine.rows<{ v: unknown }>('select $1 as v', [value]))[0]?.v
  for (const value of ['text', 7, null, true, 'other', 12_345_678_901])
    expect(await same(value)).toEqual(value)
  expect(await rows(null)).toEqual([])
  expect(await rows()).toHaveLength(1)
})

test('the time is that of each time', async () => {
  const now = async () => (await engine.rows<{ at: Date }>('select now() as at where $1', [true]))[0]?.at
  const first = await now()
  await new Promise(resolve => setTimeout(resolve, 5))
  expect(String(await now()) >= String(first)).toBe(true)
  expect(await now()).not.toEqual(first)
})

test('a statement that failed is run again', async () => {
  const divide = (by: string) => engine.rows('select cast($1 as integer) as n', [by])
  await expect(divide('word')).rejects.toThrow('word')
  expect(await divide('4')).toEqual([{ n: 4 }])
})

test('runs more statements than the cache keeps, also on several connections at the same time', async () => {
  for (let number = 0; number < 450; number += 1)
    expect(await engine.rows(`select ${number % 225} + $1 as n`, [1])).toEqual([{ n: (number % 225) + 1 }])
  const all = await Promise.all([
    ...Array.from({ length: 5 }, () => rows()),
    ...[1, 2].map(() => engine.staging(stage => stage.rows(ask, [1]))),
  ])
  for (const one of all) expect(one).toEqual([{ id: 1, note: 'home' }])
})

test('values are stored as their texts say, whatever the type that takes them', async () => {
  await engine.run(
    'create table ops.typed (name text, moment timestamptz, number bigint, share double, day date)',
  )
  const insert = (...values: (string | number | null)[]) =>
    engine.run('insert into ops.typed values ($1, $2, $3, $4, $5)', values)
  await insert('usual', '2026-02-28T23:59:59.123Z', 7, 0.5, '2026-02-28')
  await insert('large', '0001-01-01T00:00:00.000Z', Number.MAX_SAFE_INTEGER, 3, '0001-01-01')
  await insert('none', null, null, null, null)
  await insert('other spellings', '2026-02-28 23:59:59.123456+02', 2, 1e-9, '2026-02-28')
  await insert('2026-02-28T23:59:59.123Z', '2026-02-28T23:59:59Z', -7, -1, '2026-03-01')
  for (const wrong of ['2026-02-30T00:00:00.000Z', '2026-02-28T25:00:00.000Z', 'soon'])
    await expect(insert('wrong', wrong, 1, 1, null)).rejects.toThrow(wrong)
  await expect(insert('fraction', null, 1.5, 1, null)).resolves.toBe(1)
  expect(await engine.rows('select * from ops.typed')).toEqual([
    { name: 'usual', moment: '2026-02-28T23:59:59.123Z', number: 7, share: 0.5, day: '2026-02-28' },
    {
      name: 'large',
      moment: '0001-01-01T00:00:00.000Z',
      number: Number.MAX_SAFE_INTEGER,
      share: 3,
      day: '0001-01-01',
    },
    { name: 'none', moment: null, number: null, share: null, day: null },
    {
      name: 'other spellings',
      moment: '2026-02-28T21:59:59.123456Z',
      number: 2,
      share: 1e-9,
      day: '2026-02-28',
    },
    {
      name: '2026-02-28T23:59:59.123Z',
      moment: '2026-02-28T23:59:59.000Z',
      number: -7,
      share: -1,
      day: '2026-03-01',
    },
    { name: 'fraction', moment: null, number: 2, share: 1, day: null },
  ])
})
