/** A mart that gets other columns: rights on it stay, and what others built on it is named instead of failing every build. */
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { type BuildResult, buildMarts } from '../../../src/marts/build.ts'
import { openGate } from '../../../src/marts/rebuild.ts'
import { createViews } from '../../../src/warehouse/schema/seed.ts'
import { companyMart } from '../../marts/company-mart.ts'
import { onServer } from '../../support/postgres-database.ts'
import { useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'

const made = useEngines()
let runs = 0

function build({ engine }: Warehouse, ...more: readonly string[]): Promise<BuildResult> {
  runs += 1
  return buildMarts(
    {
      engine,
      clock: systemClock,
      rng: seededRng(runs),
      version: 'test',
      gate: openGate,
      signal: new AbortController().signal,
      onMart: () => undefined,
    },
    { marts: [companyMart('a', { columns: more })], names: [], all: true },
  )
}

const other = 'more text: A shape that differs.'

test('a change of shape keeps the rights on table and columns, with those to pass them on, and gives nobody more', async () => {
  const warehouse = await made.postgres()
  const { engine } = warehouse
  const role = `shape_${process.pid}`
  const [one, two, three] = ['one', 'two', 'three'].map(name => `${role}_${name}`)
  for (const name of [one, two, three]) await onServer(`create role ${name}`)
  try {
    await engine.run(`alter default privileges in schema mart grant select on tables to ${three}`)
    await build(warehouse)
    await engine.run(`revoke all on mart.a from ${three}`)
    await engine.run(`grant select (id) on mart.a to ${one} with grant option`)
    await engine.run(`grant select, update on mart.a to ${two}`)
    await engine.run('grant references (id) on mart.a to public')
    const rights = (): Promise<object[]> =>
      engine.rows(
        `select cast(relacl as text) as "table", (select cast(attacl as text) from pg_attribute where attrelid = c.oid and attname = 'id') as "column"
         from pg_class c where c.oid = 'mart.a'::regclass`,
      )
    const before = await rights()
    const { marts } = await build(warehouse, other)
    expect(marts).toMatchObject([{ state: 'built' }])
    expect(
      await engine.rows(
        `select column_name as name from information_schema.columns where table_schema = 'mart' and table_name = 'a' and column_name = 'more'`,
      ),
    ).toHaveLength(1)
    expect(await rights()).toEqual(before)
  } finally {
    await engine.run(`drop owned by ${one}, ${two}, ${three}`)
    for (const name of [one, two, three]) await onServer(`drop role ${name}`)
  }
})

const standing: readonly (readonly [string, string, string])[] = [
  [
    'a view',
    'create view analytics.v as select id from mart.a',
    'keep their definitions, run drop view analytics.v;',
  ],
  [
    'a materialized view',
    'create materialized view analytics.m as select id from mart.a',
    'drop materialized view analytics.m;',
  ],
  [
    'a view over a view',
    'create view analytics.v as select id from mart.a; create view analytics.w as select id from analytics.v',
    'run drop view analytics.w; drop view analytics.v;',
  ],
  [
    'a function',
    `create function analytics.f() returns bigint begin atomic select count(*) from mart.a; end`,
    'keep their definitions, run drop function analytics.f();',
  ],
  [
    'a function of its rows',
    `create function analytics.g(mart.a) returns text language sql as 'select $1.id'`,
    'drop function analytics.g(mart.a);',
  ],
  [
    'a foreign key',
    `create table analytics.notes (id text constraint of_a references mart.a (id))`,
    'alter table analytics.notes drop constraint of_a;',
  ],
  [
    'a policy',
    `create table analytics.notes (id text); create policy few on analytics.notes using (id in (select id from mart.a))`,
    'drop policy few on analytics.notes;',
  ],
]

test.each(standing)(
  '%s that stands on a mart is named with its owner and the statement that helps',
  async (_, statement, expected) => {
    const warehouse = await made.postgres()
    await build(warehouse)
    const at = new URL(warehouse.address).pathname.slice(1)
    await onServer(`create schema analytics; ${statement}`, at)
    expect((await build(warehouse)).marts).toMatchObject([{ state: 'built' }])
    const { marts } = await build(warehouse, other)
    expect(marts).toMatchObject([{ state: 'failed', message: expect.stringContaining(expected) }])
    expect(marts[0]?.message).toMatch(
      /^mart\.a must be created again, but other objects depend on it: [^\n]*\(owner owner\)[^\n]*$/,
    )
    const [, statements = ''] = /run (.*); then the same/.exec(marts[0]?.message ?? '') ?? []
    await onServer(statements, at)
    expect((await build(warehouse, other)).marts).toMatchObject([{ state: 'built' }])
  },
)

test('a view of star that is made again keeps its rights, and a view of others over it is named', async () => {
  const { engine, address } = await made.postgres()
  const at = new URL(address).pathname.slice(1)
  await engine.run('grant select (rate_key) on star.fact_rate to pg_monitor')
  await engine.transaction(createViews)
  expect(
    await engine.rows(
      `select column_name as name from information_schema.column_privileges where table_schema = 'star' and table_name = 'fact_rate' and grantee = 'pg_monitor'`,
    ),
  ).toEqual([{ name: 'rate_key' }])
  await onServer('create schema analytics; create view analytics.rates as select * from star.fact_rate', at)
  await expect(engine.transaction(createViews)).rejects.toThrow(
    /^star\.fact_rate must be created again, [^\n]*view analytics\.rates \(owner owner\)[^\n]*drop view analytics\.rates;[^\n]*$/,
  )
})
