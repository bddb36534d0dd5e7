/** Ad hoc queries on a server: only reading passes, whatever the user may do, and a query that takes too much is stopped. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgresQuery } from '../../src/warehouse/postgres/ad-hoc-session.ts'
import type { QuerySession } from '../../src/warehouse/query.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { type Database, database, onServer } from '../support/postgres-database.ts'
import { structureName } from '../support/warehouse-fixture.ts'
import { attempts } from './ad-hoc-statements.ts'

const bounds = { seconds: 2, memoryMegabytes: 512, answerMegabytes: 1, threads: 2 }
const out = join(temporaryFolder(), 'out')
const role = `q${process.pid}_reader`
let made: Database
/** Of a superuser, to whom the server refuses nothing but what a read-only transaction refuses. */
let mighty: QuerySession
let reader: QuerySession
let readerAddress: { url: string; shown: string }
let client: pg.Client

beforeAll(async () => {
  made = await database(structureName())
  client = new pg.Client({ connectionString: made.url })
  await client.connect()
  await client.query(`create table public.t as select n from generate_series(0, 2) n; create sequence public.q;
    create role ${role} login password 'for this test';
    grant usage on schema star, public to ${role}; grant select on all tables in schema star, public to ${role};
    grant all on sequence public.q to ${role};
    create function public.grows(public.t) returns int volatile language sql as 'select 1';
    create function public.runs(sql text) returns int stable language plpgsql as 'begin execute sql; return 1; end'`)
  const url = new URL(made.url)
  url.username = role
  url.password = 'for this test'
  mighty = await openPostgresQuery({ url: made.url, shown: 'server' }, { bounds })
  readerAddress = { url: url.href, shown: 'server' }
  reader = await openPostgresQuery(readerAddress, { bounds })
})
afterAll(async () => {
  await Promise.all([mighty?.close(), reader?.close(), client?.end()])
  await made.drop()
  await onServer(`drop role if exists ${role}`)
})

const refusal = async (session: QuerySession, sql: string): Promise<unknown> => {
  try {
    return { answered: (await session.query(sql, 10)).rows }
  } catch (error) {
    return error
  }
}

const stateOf = async (): Promise<unknown> => ({
  rows: (await client.query('select * from public.t order by n')).rows,
  sequence: (await client.query('select is_called from public.q')).rows,
  relations: (await client.query('select count(*) from pg_class')).rows,
  roles: (await client.query(`select count(*) from pg_roles where rolname = 'intruder'`)).rows,
  file: existsSync(out),
})

test('no statement but a query runs, however it is wrapped', async () => {
  const before = await stateOf()
  const passed: unknown[] = []
  for (const sql of attempts(out)) {
    const error = await refusal(mighty, sql)
    if (!(error instanceof Error) || error.message.includes('\n')) passed.push([sql, error])
  }
  expect(passed).toEqual([])
  expect(await stateOf()).toEqual(before)
}, 60_000)

test.each([
  `nextval('public.q')`,
  `setval('public.q', 9)`,
  `lo_create(1)`,
  `lo_from_bytea(0, 'x')`,
  `lo_export(1, 'OUT')`,
  `lo_import('/etc/passwd')`,
  `pg_read_file('/etc/passwd')`,
  `"pg_read_file"('/etc/passwd')`,
  `pg_catalog.pg_read_binary_file('/etc/passwd')`,
  `PG_READ_FILE/**/('/etc/passwd')`,
  `U&"\\0070g_read_file"('/etc/passwd')`,
  `E'\\'', pg_ls_dir('.'), 'x'`,
  `pg_stat_file('/etc/passwd')`,
  `pg_terminate_backend(1)`,
  `pg_cancel_backend(1)`,
  `pg_advisory_lock(1)`,
  `pg_try_advisory_xact_lock(1)`,
  'pg_sleep(9)',
  `pg_sleep_for('9 s')`,
  `set_config('transaction_read_only', 'off', false)`,
  `set_config('role', 'postgres', false)`,
  `pg_notify('x', 'y')`,
  'pg_reload_conf()',
  'pg_rotate_logfile()',
  'pg_switch_wal()',
  `pg_create_restore_point('x')`,
  `pg_logical_emit_message(false, 'x', 'y')`,
  'pg_export_snapshot()',
  'pg_stat_reset()',
  `query_to_xml('delete from t', true, true, '')`,
  `dblink('host=x', 'select 1')`,
  `dblink_exec('host=x', 'delete from t')`,
])('a function that does more than read is refused to everybody: select %s', async call => {
  const sql = call.replace('OUT', out)
  for (const session of [mighty, reader])
    for (const text of [
      `select ${sql}`,
      `values (1) limit (select count(*) from (select ${sql}) x)`,
      `select 'a', $$ ' $$, "b".n -- ' \n, ${sql} from public.t "b"`,
      `select E'a'\n 'b\\' , ' || (select (${sql})::text) || ' , '`,
    ]) {
      const error = await refusal(session, text)
      expect(error).toBeInstanceOf(Error)
      expect((error as Error).message).toMatch(/does more than read|not supported here|does not exist/)
    }
})

test.each([
  `select ('9'::double precision).pg_sleep`,
  `select ('9'::double precision) . /* x */ "pg_sleep"`,
  `select ('{/etc/passwd}'::text[])[1].pg_read_file`,
  'select t.grows from public.t',
  'select (t).grows from public.t',
  'select public.t."grows" from public.t',
  `select public.runs('select pg_sleep(9)')`,
  `select ('select pg_sleep(9)'::text).runs`,
  `with x as (select $$select pg_sleep(9)$$ as sql) select public.runs(sql) from x`,
])('a call is refused however it is written: %s', async sql => {
  for (const session of [mighty, reader])
    expect(await refusal(session, sql)).toMatchObject({
      message: expect.stringMatching(/^\w+\(\) does more than read the warehouse/),
    })
})

test.each([
  `select 'system', 'pg_sleep(9)', 'nextval', $$ lo_create(1) $$, E'\\'set_config' as x`,
  'select 1 as system, 2 as "pg_sleep", 3 nextval',
  'select system, x.nextval, (x.setval + 1) from (select 1 as system, 2 as nextval, 3 as setval) x',
  `select 1 -- pg_sleep(9)\n, 2 /* lo_create(1) */`,
  `with pg_sleep as (select 1 as n) select n from pg_sleep`,
  'select n from t as lo_create where lo_create.n = 0',
  `select n from t where 'nextval(''q'')' <> 'x'`,
  `select count(*) from t tablesample system (100)`,
  'select count(*) from t tablesample bernoulli (100)',
  `select 'U&"pg_sleep"'`,
])('a word that is no call passes: %s', async sql => {
  for (const session of [mighty, reader])
    expect(await refusal(session, sql)).toEqual({ answered: expect.any(Array) })
})

test.each([
  'select count(*) from pii.worker',
  'select (select name from pii.worker limit 1) from star.dim_company',
  'with x as (select * from history.dim_company) select * from x',
  'select * from ops.run',
  `select table_to_xml('pii.worker', true, true, '')`,
  `select schema_to_xml('pii', true, true, '')`,
  'select rolpassword from pg_authid',
  'table pii.worker',
  'explain analyze select * from pii.worker',
])('personal data is not for a reader: %s', async sql => {
  expect(await refusal(reader, sql)).toMatchObject({ message: expect.stringMatching(/permission denied/) })
})

test.each([
  'select 1',
  '(select 1);',
  'values (1), (2)',
  'table star.dim_company limit 0',
  'with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select * from r',
  'show server_version',
  'show all',
  'explain select 1',
  'explain analyze select 1',
  'explain (analyze, costs off, format json) select 1',
  'explain (select 1)',
  'explain analyze verbose (select 1)',
  `select random(), gen_random_uuid(), now(), 'drop table t; --', $$ copy $$, pg_total_relation_size('star.dim_company')`,
  ' -- one\n /* two */ select 1 -- three',
])('a query passes: %s', async sql => {
  expect(await refusal(reader, sql)).toEqual({ answered: expect.any(Array) })
})

test('a text ends where the judge says, also for a user whose texts would end elsewhere', async () => {
  await client.query(`alter role ${role} set standard_conforming_strings = off`)
  const other = await openPostgresQuery(readerAddress, { bounds })
  try {
    expect((await other.query(`select 'a\\' as one, 'b' as two`, 10)).rows).toEqual([
      { one: 'a\\', two: 'b' },
    ])
  } finally {
    await other.close()
    await client.query(`alter role ${role} reset standard_conforming_strings`)
  }
})

test('the bounds are set, and a reader may read what is granted', async () => {
  const settings = `select name, setting from pg_settings where name in ('work_mem', 'statement_timeout',
    'temp_file_limit', 'default_transaction_read_only') order by name`
  const asked = (await mighty.query(settings, 10)).rows.map(row => `${row.name} ${row.setting}`)
  expect(asked).toEqual([
    'default_transaction_read_only on',
    'statement_timeout 2000',
    'temp_file_limit 524288',
    'work_mem 32768',
  ])
  expect((await reader.query('select sum(n) as n from t', 10)).rows).toEqual([{ n: 3 }])
})

describe('an answer is cut', () => {
  test('by rows', async () => {
    const cut = await reader.query('select * from generate_series(1, 100000) n', 1000)
    expect([cut.cut, cut.rows.length, cut.rows[999]]).toEqual(['rows', 1000, { n: 1000 }])
    expect(await reader.query('table t', 3)).toMatchObject({ cut: null })
    expect(await reader.query('table t', 2)).toMatchObject({ cut: 'rows' })
  })

  test('by bytes, also when a row is larger than all that may arrive', async () => {
    const wide = `select repeat('x', 100000) as x from generate_series(1, 100)`
    const cut = await reader.query(wide, 1000)
    expect([cut.cut, cut.rows.length]).toEqual(['bytes', 10])
    const late = `select repeat('x', case when n = 9 then 5000000 else 1 end) as x from generate_series(1, 100) n`
    const grown = await reader.query(late, 1000)
    expect([grown.cut, grown.rows.length < 9]).toEqual(['bytes', true])
    // That connection is closed; the session opens another.
    expect((await reader.query('select 1 as n', 10)).rows).toEqual([{ n: 1 }])
  })
})

const long = [
  'select count(*) from generate_series(1, 10000000) a, generate_series(1, 10000000) b',
  'with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r',
  `select count(*) from generate_series(1, 1000000) n where repeat(md5(n::text), 100) ~ '(.+)x(.+)\\1y\\2'`,
  `select length(string_agg(repeat('x', 1000000), '')) from generate_series(1, 1000000)`,
  'select count(*) from generate_series(1, 1000000000000000000)',
]

test.each(thorough ? long : long.slice(0, 1))('a query that takes too long is stopped: %s', async sql => {
  expect(await refusal(reader, sql)).toMatchObject({
    message: expect.stringMatching(/^the query ran longer than 2 s|memory|temporary file size/),
  })
  const left = await client.query(
    `select count(*)::int as n from pg_stat_activity where state = 'active' and query like '%muster_query%' and pid <> pg_backend_pid()`,
  )
  expect(left.rows).toEqual([{ n: 0 }])
})

test('a query whose caller has gone ends on the server', async () => {
  const stop = new AbortController()
  const running = refusal(
    { ...reader, query: (sql, limit) => reader.query(sql, limit, stop.signal) },
    long[0] ?? '',
  )
  setTimeout(() => stop.abort(new Error('enough')), 100)
  expect(await running).toMatchObject({ message: 'enough' })
  const active = `select count(*)::int as n from pg_stat_activity where usename = '${role}' and state = 'active'`
  await expect.poll(async () => (await client.query(active)).rows, { timeout: 800 }).toEqual([{ n: 0 }])
})
