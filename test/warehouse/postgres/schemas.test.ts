/** Several warehouses in one database, each with a prefix; and which prefixes are refused. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/state/migrate.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { physicalTables } from '../../../src/warehouse/schema/physical.ts'
import { references } from '../../../src/warehouse/schema/references.ts'
import { isSchemaPrefix, withPrefix } from '../../../src/warehouse/schema/schemas.ts'
import { createIndexes } from '../../../src/warehouse/schema/structure.ts'
import { database, onServer } from '../../support/postgres-database.ts'

const scratch = mkdtempSync(join(tmpdir(), 'muster-schemas-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const now = '2026-11-03T02:00:00.000Z'

describe('a prefix', () => {
  test.each([
    ['select * from star.dim_user', 'select * from a_star.dim_user'],
    ['select "ops"."run"."run_id" from "ops"."run"', 'select "a_ops"."run"."run_id" from "a_ops"."run"'],
    [`select 'star.x', "star.x", starry.x, x.star.y`, `select 'star.x', "star.x", starry.x, x.star.y`],
    ["select 'it''s star.x' from pii.text -- star.x", "select 'it''s star.x' from a_pii.text -- star.x"],
    [
      'select $$star.x$$, $q$ops.y$q$ /* mart.z */ from mart.m',
      'select $$star.x$$, $q$ops.y$q$ /* mart.z */ from a_mart.m',
    ],
    [
      'create view star.v as select history from history.h',
      'create view a_star.v as select history from a_history.h',
    ],
  ])('%s', (sql, expected) => {
    expect(withPrefix(sql, 'a_')).toBe(expected)
    expect(withPrefix(sql, '')).toBe(sql)
  })

  test.each([
    '"; drop schema star cascade; --',
    'A',
    'a-b',
    'a b',
    '1a',
    'pg_x_',
    `a'`,
    '',
    'a'.repeat(55),
    'é',
  ])('refuses %j', async prefix => {
    expect(isSchemaPrefix(prefix)).toBe(false)
    if (prefix === '') return
    const address = { url: 'postgres://127.0.0.1:1/none', shown: 'none' }
    await expect(openPostgres(address, { scratch, schemaPrefix: prefix })).rejects.toThrow(
      'not a valid prefix',
    )
  })
})

test('every name is within the length that PostgreSQL allows', () => {
  const names = physicalTables.flatMap(({ name, columns }) => [
    `${name}_pkey`,
    ...columns.map(column => column.name),
  ])
  const indexes = physicalTables
    .flatMap(createIndexes)
    .map(sql => /if not exists "([^"]+)"/.exec(sql)?.[1] ?? '')
  expect(Math.max(...[...names, ...indexes].map(name => Buffer.byteLength(name)))).toBeLessThanOrEqual(63)
  const bySchema = physicalTables.flatMap(table =>
    createIndexes(table).map(sql => `${table.schema} ${/if not exists "([^"]+)"/.exec(sql)?.[1]}`),
  )
  expect(new Set(bySchema).size).toBe(bySchema.length)
})

test('two warehouses live side by side, and each migrates once', async () => {
  const { url, drop } = await database()
  const open = (schemaPrefix: string) => openPostgres({ url, shown: 'here' }, { scratch, schemaPrefix })
  const [one, other] = [await open('one_'), await open('other_')]
  try {
    // Both at the same time, and the first a second time: they take turns.
    const again = await open('one_')
    const made = await Promise.all([migrate(one, now), migrate(other, now), migrate(again, now)])
    expect(made.filter(Boolean)).toHaveLength(2)
    await again.close()
    await one.run(`insert into star.dim_worker (worker_id) values ('w')`)
    const workers = async (engine: typeof one) =>
      (await engine.rows<{ n: number }>('select count(*) as n from star.dim_worker'))[0]?.n
    expect([await workers(one), await workers(other)]).toEqual([2, 1])
    const schemas = await onServer<{ name: string }>(
      `select nspname as name from pg_namespace where nspname ~ '_(star|mart|history|pii|ops)$' order by 1`,
      new URL(url).pathname.slice(1),
    )
    expect(schemas).toHaveLength(10)
  } finally {
    await Promise.all([one.close(), other.close()])
    await drop()
  }
})

test('a record is stored once, and every column has a comment', async () => {
  const { url, drop } = await database()
  const engine = await openPostgres({ url, shown: 'here' }, { scratch })
  try {
    await migrate(engine, now)
    const insert = `insert into star.fact_timesheet (timesheet_id) values ('t')`
    await engine.run(insert)
    await expect(engine.run(insert)).rejects.toThrow(/duplicate key/)
    const keyed = await engine.rows(`select conname from pg_catalog.pg_constraint where contype = 'p'
      and connamespace = 'star'::regnamespace`)
    expect(keyed.length).toBeGreaterThan(50)
    const [server] = await engine.rows<{ n: number }>(
      `select cast(current_setting('server_version_num') as integer) as n`,
    )
    const said = await engine.rows(`select conname from pg_catalog.pg_constraint where contype = 'f'`)
    expect(said).toHaveLength(Number(server?.n) >= 180_000 ? references.length : 0)
    expect(references.length).toBeGreaterThan(60)
    const described = await engine.rows(
      `select attname from pg_catalog.pg_attribute a where attrelid = 'star.fact_timesheet'::regclass and attnum > 0
       and col_description(attrelid, attnum) is null`,
    )
    expect(described).toEqual([])
  } finally {
    await engine.close()
    await drop()
  }
})
