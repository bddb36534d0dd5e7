/** Ad hoc queries on a DuckDB file: only reading passes, and a query that takes too much is stopped. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import { openQuery } from '../../src/warehouse/duckdb/ad-hoc/child.ts'
import { openFile } from '../../src/warehouse/duckdb/ad-hoc/session.ts'
import type { QuerySession } from '../../src/warehouse/query.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { attempts } from './ad-hoc-statements.ts'

const folder = temporaryFolder()
const file = join(folder, 'w.duckdb')
const csv = join(folder, 'other.csv')
const bounds = { seconds: 2, memoryMegabytes: 512, answerMegabytes: 1, threads: 2 }
let session: Awaited<ReturnType<typeof openFile>>

beforeAll(async () => {
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  await connection.run('create table t as select i::integer as n from range(3) r(i)')
  await connection.run('create sequence q; create macro twice(x) as x * 2')
  connection.closeSync()
  instance.closeSync()
  writeFileSync(csv, 'a,b\n1,2\n')
  session = await openFile({ file, bounds })
})
afterAll(() => session.close())

const refusal = async (sql: string): Promise<unknown> => {
  try {
    return { answered: (await session.query(sql, 10)).rows }
  } catch (error) {
    return error
  }
}

const stateOf = (): unknown => ({
  files: readdirSync(folder).sort(),
  hash: createHash('sha256').update(readFileSync(file)).digest('hex'),
})

test('no statement but a query runs, however it is wrapped', async () => {
  const before = stateOf()
  const passed: unknown[] = []
  for (const sql of attempts(join(folder, 'out'))) {
    const error = await refusal(sql)
    // A word of the first or the second kind stands where a query could be.
    if (!(error instanceof Error) || /unexpected|type/.test(error.name) || error.message.includes('\n'))
      passed.push([sql, error])
  }
  expect(passed).toEqual([])
  expect(stateOf()).toEqual(before)
  expect((await session.query('select count(*)::integer as n from t', 10)).rows).toEqual([{ n: 3 }])
})

test.each([
  `from read_csv('${csv}')`,
  `from read_csv_auto('${csv}')`,
  `from READ_CSV('${csv}')`,
  `from "read_csv"('${csv}')`,
  `from main.read_csv('${csv}')`,
  `from system.main.read_csv('${csv}')`,
  `select * from t, lateral (from read_text('${csv}'))`,
  `select (select count(*) from read_blob('${csv}'))`,
  `from sniff_csv('${csv}')`,
  `from glob('${folder}/*')`,
  `from parquet_scan('${csv}')`,
  `from parquet_metadata('${csv}')`,
  `from parquet_schema('${csv}')`,
  `from read_json('${csv}')`,
  `from read_ndjson_auto('${csv}')`,
  `from read_duckdb('${file}')`,
  `from sqlite_scan('${csv}', 't')`,
  `from postgres_scan('host=x', 'public', 't')`,
  `from read_parquet('https://example.com/x.parquet')`,
  `from '${csv}'`,
  `from "${csv}"`,
  `from 's3://bucket/x.parquet'`,
  `describe '${csv}'`,
  `summarize '${csv}'`,
  `from query('select 1')`,
  `from query_table('t')`,
  `from json_execute_serialized_sql('{}')`,
  'from duckdb_secrets()',
  'from duckdb_settings()',
  'from duckdb_temporary_files()',
  'from duckdb_databases()',
  'from duckdb_logs()',
  'from duckdb_extensions()',
  'from pragma_user_agent()',
  'from checkpoint()',
  `from enable_logging()`,
  'from seq_scan(1)',
  `select getenv('HOME')`,
  `select current_setting('temp_directory')`,
  `select getvariable('x')`,
  `select nextval('q')`,
  `select "nextval"('q')`,
  `select twice(nextval('q'))`,
  `select 'q'.nextval()`,
  `select list_transform([1], x -> nextval('q'))`,
  `select count(*) filter (where nextval('q') > 0) from t`,
  `select n from t order by nextval('q') limit (select currval('q'))`,
  'select sleep_ms(10)',
  `select write_log('x')`,
  'select pg_sleep(10)',
  'from pg_settings',
  'from pg_catalog."PG_Settings"',
  'select (select max(setting) from pg_catalog.pg_settings)',
  'from duckdb_databases',
  'from pragma_database_list',
])('a function that does more than read the tables is refused: %s', async sql => {
  const error = await refusal(sql)
  expect(error).toBeInstanceOf(Error)
  expect((error as Error).message).toMatch(
    /does more than read the warehouse|does not exist|disabled|Parser Error|Binder Error|Invalid Input/,
  )
})

test.each([
  'describe t',
  'show tables',
  'show all tables',
  'summarize t',
  'from t',
  'table t',
  'values (1), (2)',
  '( select 1 );',
  ' -- one\n /* two */ select 1 -- three',
  'with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) from r',
  'explain from t',
  'explain analyze select count(*) from t',
  'explain (format json) select 1',
  'explain (analyze, format json) select 1',
  `select twice(2), 'copy; delete from t', random(), uuid(), now(), $$ drop table t $$`,
  'pivot t on n in (1, 2) using count(*)',
  `unpivot (select 1 as a, 2 as b) on a, b`,
  'select * from duckdb_columns(), range(2), unnest([1])',
  'from information_schema.tables',
  'from information_schema.columns',
  'from pg_catalog.pg_class join pg_catalog.pg_namespace n on n.oid = relnamespace',
  'select current_user, current_database(), current_schema()',
  `select 'system', 'getenv(''HOME'')', 'nextval', $$ sleep_ms(10) $$, 1 as "read_csv", 2 as nextval`,
  `select system, x.getenv from (select 1 as system, 2 as getenv) x -- sleep_ms(10)`,
  'with nextval as (select 1 as n) select n from nextval',
  `select 'infinity'::timestamp, '-infinity'::timestamptz, 'infinity'::date, 'nan'::double, 290000::varchar`,
])('a query passes: %s', async sql => {
  expect((await session.query(sql, 10)).rows.length).toBeGreaterThan(0)
})

test('an answer is cut by rows, and by bytes while it streams', async () => {
  expect(await session.query('from t', 2)).toMatchObject({ cut: 'rows', rows: [{ n: 0 }, { n: 1 }] })
  expect(await session.query('from t', 3)).toMatchObject({ cut: null })
  const wide = await session.query(`select repeat('x', 100000) as x from range(100)`, 1000)
  expect([wide.cut, wide.rows.length]).toEqual(['bytes', 10])
  const one = await session.query(`select repeat('x', 2000000) as x`, 1000)
  expect([one.cut, one.rows.length]).toEqual(['bytes', 0])
})

const long = [
  `select levenshtein(repeat('a', 200000), repeat('b', 200000))`,
  'select count(*) from range(10000000) a, range(10000000) b where (a.range + b.range) % 7 = 1',
  'with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r',
  'select sum(x) from generate_series(1, 1000000000000000000) g(x)',
  `select regexp_replace(repeat('ab', 30000000), '(a|b)*c', 'x', 'g')`,
  'select max(md5(range::varchar)) from range(10000000000)',
]
const large = [
  `select repeat('x', 60000000) from range(100)`,
  'select range(1000000000)',
  'select list_sort(range(200000000))',
  'select list(range) from range(1000000000)',
  'select string_agg(range::varchar) from range(1000000000)',
  'from (select range as a, md5(range::varchar) as b from range(100000000)) order by b',
  'select count(distinct md5(range::varchar)) from range(1000000000)',
]

describe('a query that takes too much is stopped', () => {
  const sample = (all: readonly string[]): readonly string[] => (thorough ? all : all.slice(0, 1))

  test.each([...sample(long), ...sample(large)])('%s', async sql => {
    const child: QuerySession = await openQuery(file, bounds)
    try {
      await expect(child.query(sql, 10)).rejects.toThrow(/^the query (ran longer than 2 s|needs more )/)
    } finally {
      await child.close()
    }
  })
})

test('the process of queries has no environment, and ends with its session', async () => {
  const child = await openQuery(file, bounds)
  const [pid] = childrenOf(process.pid).filter(pid =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ad-hoc'),
  )
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/MUSTER|KEY|PASSWORD|HOME/)
  const stop = new AbortController()
  const running = child.query(long[0] ?? '', 10, stop.signal)
  stop.abort(new UsageError({ what: 'stopped' }))
  await expect(running).rejects.toThrow('stopped')
  expect(existsSync(`/proc/${pid}`)).toBe(false)
  await child.close()
})

test('the process of queries ends when the one that asks is killed', async () => {
  const script = `
    import { openQuery } from '${new URL('../../src/warehouse/duckdb/ad-hoc/child.ts', import.meta.url).href}'
    const session = await openQuery(${JSON.stringify(file)}, ${JSON.stringify({ ...bounds, seconds: 60 })})
    console.log('open')
    await session.query(${JSON.stringify(long[0])}, 1)`
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  await once(parent.stdout, 'data')
  const [child] = childrenOf(parent.pid ?? 0)
  expect(child).toBeDefined()
  parent.kill('SIGKILL')
  // A zombie has ended too: where nothing collects the orphans of a container, it stays listed.
  await expect.poll(() => /\) [^Z]/.test(readStat(child ?? '')), { timeout: 10_000 }).toBe(false)
})

const childrenOf = (parent: number): string[] =>
  readdirSync('/proc').filter(
    pid => /^\d+$/.test(pid) && readStat(pid).split(') ')[1]?.split(' ')[1] === `${parent}`,
  )

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It has ended since it was listed.
    return ''
  }
}
