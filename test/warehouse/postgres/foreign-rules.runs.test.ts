/** Rules that others put on tables of the warehouse are named, and no record goes to quarantine for them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { onServer } from '../../support/postgres-database.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { type HoldingSandbox, openHoldingSandbox } from './delayed-page.ts'

const made = useEngines()
let sandbox: HoldingSandbox

beforeAll(async () => {
  sandbox = await openHoldingSandbox({
    records: plainRecords({ timesheets: 60 }),
    rateLimitPerDay: 1_000_000,
  })
})

const analyst = (statements: string) => `create schema analytics; ${statements}`
const trigger = (body: string, timing = 'before insert or update', table = 'star.fact_timesheet'): string =>
  `create function analytics.note() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
   create trigger noting ${timing} on ${table} for each row execute function analytics.note()`
const owned = 'analytics\\.notes \\(owner owner\\)'

const rules: readonly (readonly [string, string, string])[] = [
  [
    'a foreign key of a table of its own',
    `create table analytics.sites (id text primary key); alter table star.fact_timesheet add constraint known_site foreign key (site_id) references analytics.sites (id)`,
    'foreign key known_site of star\\.fact_timesheet .*alter table star\\.fact_timesheet drop constraint known_site',
  ],
  [
    'a deferred foreign key',
    `create table analytics.sites (id text primary key); alter table star.fact_timesheet add constraint known_site foreign key (site_id) references analytics.sites (id) deferrable initially deferred`,
    'foreign key known_site of star\\.fact_timesheet ',
  ],
  [
    'a check constraint',
    'alter table star.fact_timesheet add constraint early check (length(timesheet_id) = 0)',
    'check constraint early of',
  ],
  [
    'a unique index',
    'create unique index one_each on star.fact_timesheet (company_id)',
    'unique index one_each of .*drop index star\\.one_each',
  ],
  [
    'a unique constraint',
    'alter table star.fact_timesheet add constraint one_each unique (is_deleted)',
    'unique constraint one_each of',
  ],
  [
    'an exclusion constraint',
    'alter table star.fact_timesheet add constraint no_two exclude (is_deleted with =)',
    'exclusion constraint no_two of',
  ],
  [
    'a column that may not be null',
    'alter table star.fact_timesheet add column reviewed boolean not null',
    'not null column reviewed of .*alter column reviewed drop not null',
  ],
  [
    'a trigger that refuses',
    trigger(`raise exception 'not on my watch';`),
    'trigger noting of .*drop trigger noting on star\\.fact_timesheet',
  ],
  [
    'a trigger that fails without a path to its table',
    trigger(`insert into notes values (1);`),
    'trigger noting of',
  ],
  [
    'a trigger that violates a key of another table',
    `create table analytics.notes (id int primary key check (id > 1)); ${trigger('insert into analytics.notes values (1);')}`,
    'trigger noting of',
  ],
  [
    'a generated column that cannot be computed',
    'alter table star.fact_timesheet add column part numeric generated always as (1 / (length(timesheet_id) * 0)) stored',
    'generated column part of .*drop column part',
  ],
  [
    'an index over an expression that fails',
    'create index halves on star.fact_timesheet ((1 / (length(timesheet_id) * 0)))',
    'index halves of',
  ],
]

async function expectNamed(warehouse: Warehouse, expected: string): Promise<void> {
  const started = performance.now()
  const { failure } = await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
  expect(failure?.message).toMatch(new RegExp(`^timesheets failed: the [^\\n]*${expected}[^\\n]*$`))
  expect(failure?.message).toMatch(/\(owner owner\), which is not Muster's/)
  expect(await warehouse.engine.rows('select * from ops.quarantine')).toEqual([])
  expect(performance.now() - started).toBeLessThan(20_000)
}

describe('a sync ends with one line that names', () => {
  test.each(rules)('%s', async (_, statements, expected) => {
    const warehouse = await made.postgres()
    await onServer(analyst(statements), new URL(warehouse.address).pathname.slice(1))
    await expectNamed(warehouse, expected)
  })
})

test('a foreign key of another table that keeps rows from being replaced is named with the owner of that table', async () => {
  const warehouse = await made.postgres()
  const at = new URL(warehouse.address).pathname.slice(1)
  await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
  await onServer(
    analyst(`create table analytics.notes (id text constraint of_timesheet references star.fact_timesheet (timesheet_id) on update restrict);
     insert into analytics.notes select timesheet_id from star.fact_timesheet`),
    at,
  )
  await expect(warehouse.engine.run('delete from star.fact_timesheet')).rejects.toThrow(
    new RegExp(
      `^the foreign key of_timesheet of ${owned}, which is not Muster's, rejects changes of star\\.fact_timesheet \\([^)]*\\): alter table analytics\\.notes drop constraint of_timesheet; [^\\n]*$`,
    ),
  )
})

test('a failure that no rule of others explains stays what it was', async () => {
  const { engine, address } = await made.postgres()
  await onServer(
    'alter table star.fact_timesheet add constraint early check (is_deleted is not null)',
    new URL(address).pathname.slice(1),
  )
  await expect(
    engine.run(`select 1 / 0 from star.fact_invoice right join (select 1) as one on true`),
  ).rejects.toThrow(/^division by zero$/)
  await engine.run(`insert into star.dim_company (company_id) values ('x')`)
  await expect(engine.run(`insert into star.dim_company (company_id) values ('x')`)).rejects.toThrow(
    /^duplicate key value violates unique constraint "dim_company_pkey"$/,
  )
})

test('a unique index that others put into a DuckDB file is the fault of the file, and no record goes to quarantine', async () => {
  const warehouse = await made.duckdb()
  await warehouse.engine.run('create unique index one_each on star.fact_timesheet (company_id)')
  const { failure } = await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
  expect(failure?.message).toMatch(
    /^timesheets failed: a unique index or constraint of the warehouse file rejects its rows \([^)]*\): drop indexes and constraints that Muster did not create[^\n]*$/,
  )
  expect(await warehouse.engine.rows('select * from ops.quarantine')).toEqual([])
})
