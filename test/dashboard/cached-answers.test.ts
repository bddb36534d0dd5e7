/** Answers that the dashboard keeps of a server: no longer than the rows, the rights and a minute. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MartReader } from '../../src/dashboard/reader.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { type Database, database } from '../support/postgres-database.ts'
import { structureName } from '../support/warehouse-fixture.ts'

let made: Database
let engine: Engine
let owner: pg.Client
let reader: MartReader
let now = 0
let asked: string[] = []

beforeAll(async () => {
  made = await database(structureName())
  owner = new pg.Client({ connectionString: made.url })
  await owner.connect()
  await owner.query(`create table mart.thing (n integer, loaded_at timestamptz);
    insert into mart.thing values (1, '2026-11-01 02:00:00Z'), (2, '2026-11-01 02:00:00Z');
    create table mart.stampless (n integer); insert into mart.stampless values (7)`)
  engine = await openPostgres({ url: made.url, shown: 'server' }, { scratch: temporaryFolder() })
  const counting = Object.assign(Object.create(engine) as Engine, {
    close: async () => undefined,
    rows: (sql: string, values?: Parameters<Engine['rows']>[1]) => {
      if (sql.startsWith('select n')) asked.push(sql)
      return engine.rows(sql, values)
    },
  })
  reader = new MartReader(
    { open: async () => counting, stamp: () => 'server' },
    { now: () => now, sleep: async () => undefined },
  )
})
afterAll(async () => {
  await reader?.close()
  await engine?.close()
  await owner?.end()
  await made?.drop()
})
beforeEach(() => {
  asked = []
  now += 1_000_000
})

const ask = (sql = 'select n from mart.thing order by n'): Promise<unknown[]> =>
  reader.read(async marts => (await marts.rows(sql)).map(({ n }) => n))

test('the same question over the same rows is asked once a minute', async () => {
  expect(await ask()).toEqual([1, 2])
  expect(await ask()).toEqual([1, 2])
  expect(asked).toHaveLength(1)
  now += 59_000
  await ask()
  expect(asked).toHaveLength(1)
  now += 2_000
  await ask()
  expect(asked).toHaveLength(2)
})

test('rows that a build replaced or removed are shown immediately', async () => {
  await ask()
  await owner.query(`delete from mart.thing; insert into mart.thing values (3, '2026-11-02 02:00:00Z')`)
  expect(await ask()).toEqual([3])
  await owner.query('delete from mart.thing')
  expect(await ask()).toEqual([])
  expect(asked).toHaveLength(3)
})

test('a query without a load time, or with the current time, is always asked', async () => {
  await owner.query(`delete from mart.thing; insert into mart.thing values (3, '2026-11-02 02:00:00Z')`)
  for (const sql of [
    'select n from mart.stampless',
    'select n from mart.thing where loaded_at < now()',
    'select n from mart.thing, (select current_date) as today',
    'select n from mart.thing join mart.stampless using (n)',
  ]) {
    asked = []
    await ask(sql)
    await ask(sql)
    expect([sql, asked.length]).toEqual([sql, 2])
  }
})

test('a mart that may be read no more is refused, whatever is kept', async () => {
  await owner.query(`delete from mart.thing; insert into mart.thing values (3, '2026-11-02 02:00:00Z')`)
  await ask()
  await owner.query('alter table mart.thing rename to other')
  await expect(ask()).rejects.toThrow(/does not exist/)
  await owner.query('alter table mart.other rename to thing')
})
