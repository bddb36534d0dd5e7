/** `muster sql` with values that JSON, CSV and Parquet have no simple form for, on both engines. */
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { DuckDBInstance } from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import type { ProcessIo } from '../../src/cli/world.ts'
import { captured, temporaryFolder } from '../support/captured-world.ts'
import { addressOf } from '../support/postgres-database.ts'

const cwd = temporaryFolder()
const addresses = { DuckDB: 'duckdb:w.duckdb', PostgreSQL: addressOf('postgres') }

async function ask(engine: keyof typeof addresses, args: readonly string[], stdin?: string) {
  const from = stdin === undefined ? {} : { stdin: () => Readable.from([stdin]) }
  const env = { MUSTER_WAREHOUSE: addresses[engine] }
  const { world, out, err } = captured({ cwd, env, ...from } as unknown as Partial<ProcessIo>)
  return { code: await run(['sql', ...args], world, commandSet), out: out(), err: err() }
}

async function inParquet(file: string): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const read = await connection.runAndReadAll(`select columns(*)::varchar from '${join(cwd, file)}'`)
  const texts = read.getRows().flat().map(String)
  const types = await connection.runAndReadAll(`describe from '${join(cwd, file)}'`)
  connection.closeSync()
  instance.closeSync()
  return types.getRows().map(([name, type], at) => `${name} ${type} ${texts[at]}`)
}

beforeAll(async () => {
  const instance = await DuckDBInstance.create(join(cwd, 'w.duckdb'))
  instance.closeSync()
})

const beforeChrist = { DuckDB: '0044-03-15 (BC)', PostgreSQL: '0044-03-15 BC' }
const noonBeforeChrist = { DuckDB: '0044-03-15 (BC) 12:00:00+00', PostgreSQL: '0044-03-15 12:00:00+00 BC' }
const engines = ['DuckDB', 'PostgreSQL'] as const

describe.each(engines)('muster sql on %s', engine => {
  const query = `select cast('NaN' as double precision) as "2", cast('-Infinity' as real) as "1", 1 as "__proto__",
    1 as a, 2 as a, cast('infinity' as date) as ever, date '${beforeChrist[engine]}' as day,
    timestamptz '${noonBeforeChrist[engine]}' as noon, timestamptz '12345-01-01 00:00:00+00' as late,
    timestamptz '1969-12-31 23:59:59.5+00' as early, 123456789012345678.12::numeric(20,2) as much, 9007199254740993 as whole,
    time '23:00:00' as clock, interval '2 days' as span`

  test('--json loses no value and keeps the order of the columns', async () => {
    const { code, out, err } = await ask(engine, ['--ndjson', query])
    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(
      `{"2":"NaN","1":"-Infinity","__proto__":1,"a":1,"a:1":2,"ever":"infinity","day":"${beforeChrist[engine]}",` +
        `"noon":"${noonBeforeChrist[engine]}","late":"+012345-01-01T00:00:00.000Z","early":"1969-12-31T23:59:59.500Z",` +
        `"much":"123456789012345678.12","whole":"9007199254740993","clock":"23:00:00","span":"2 days"}\n`,
    )
    const whole = (await ask(engine, ['--json', query])).out
    expect(JSON.stringify(JSON.parse(whole))).toBe(JSON.stringify([JSON.parse(out)]))
    expect(whole.indexOf('"2"')).toBeLessThan(whole.indexOf('"1"'))
  })

  test('--spreadsheet is CSV in which no text is a formula, and numbers stay numbers', async () => {
    const texts = ['=1+1', '@cmd', '+44 20', '-5 of them', '\t=1', '＝1+1', '=a,"b"', 'as it is']
    const select = `select ${texts.map((text, at) => `'${text}' as t${at}`).join(', ')}, -5.25 as n,
      cast(-1e-7 as double precision) as small, null as nothing, 'x' as "=1+1"`
    const read = async (form: string) => parse((await ask(engine, [form, select])).out) as string[][]
    const [names, values] = await read('--spreadsheet')
    const safe = texts.map(text => (text === 'as it is' ? text : `'${text}`))
    expect(values).toEqual([...safe, '-5.25', expect.stringMatching(/^-1e-0?7$/), '', 'x'])
    expect(names?.at(-1)).toBe("'=1+1")
    expect((await read('--csv'))[1]?.slice(0, texts.length)).toEqual(texts)
    expect((await ask(engine, ['--csv', '--spreadsheet', 'select 1'])).code).toBe(2)
  })

  test('--parquet has them in their types', async () => {
    const file = `${engine}.parquet`
    expect(await ask(engine, ['--parquet', file, query])).toMatchObject({ code: 0, err: '' })
    expect(await inParquet(file)).toEqual([
      '2 DOUBLE nan',
      '1 FLOAT -inf',
      '__proto__ INTEGER 1',
      'a INTEGER 1',
      'a:1 INTEGER 2',
      'ever DATE infinity',
      'day DATE 0044-03-15 (BC)',
      'noon TIMESTAMP WITH TIME ZONE 0044-03-15 (BC) 12:00:00+00',
      'late TIMESTAMP WITH TIME ZONE 12345-01-01 00:00:00+00',
      'early TIMESTAMP WITH TIME ZONE 1969-12-31 23:59:59.5+00',
      'much DECIMAL(20,2) 123456789012345678.12',
      'whole BIGINT 9007199254740993',
      'clock TIME 23:00:00',
      'span VARCHAR 2 days',
    ])
  })

  test('an empty answer has names in CSV and types in Parquet', async () => {
    const none = `select 1 as a, cast('x' as text) as b, 1.5::numeric(9,2) as c where 1 = 0`
    expect((await ask(engine, ['--csv', none])).out).toBe('a,b,c\n')
    expect((await ask(engine, ['--ndjson', none])).out).toBe('')
    expect((await ask(engine, ['--parquet', `${engine}-none.parquet`, none])).code).toBe(0)
    expect((await inParquet(`${engine}-none.parquet`)).map(line => line.replace(' undefined', ''))).toEqual([
      'a INTEGER',
      'b VARCHAR',
      'c DECIMAL(9,2)',
    ])
  })

  test('a query may begin with a comment, and - reads it from stdin', async () => {
    expect((await ask(engine, ['--csv', '-- five\nselect 5 as five'])).out).toBe('five\n5\n')
    expect((await ask(engine, ['--csv', '-'], 'select 6 as six;\n')).out).toBe('six\n6\n')
    const empty = await ask(engine, ['-'], '-- nothing\n')
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('the query is missing')])
    expect((await ask(engine, ['-'])).err).toContain('the query is missing')
  })

  const nested = `select array[1, null, 3] as whole, array[array[1, 2], array[3, 4]] as square, array['x', 'y,"z"', 'NULL', ''] as words,
    cast(array[] as integer[]) as none, cast(null as integer[]) as nothing, array[1.50::numeric(9,2)] as money,
    array[date '2026-03-01'] as days, array[timestamptz '2026-03-01 09:00:00.5+01'] as times,
    t as one, array_agg(t) over () as all_of_them, '{"n": [1, 12345678901234567890], "s": "a\\"b"}'::json as doc
    from (select 7 as id, 'a, "b"' as name, true as sure) as t`
  const lists = {
    whole: [1, null, 3],
    square: [
      [1, 2],
      [3, 4],
    ],
    words: ['x', 'y,"z"', 'NULL', ''],
    none: [],
    nothing: null,
    money: ['1.50'],
    days: ['2026-03-01'],
    times: ['2026-03-01T08:00:00.500Z'],
  }
  const one = { id: 7, name: 'a, "b"', sure: true }
  const doc = { n: [1, '12345678901234567890'], s: 'a"b' }

  test('arrays, rows and JSON are JSON in every form', async () => {
    const whole = { ...lists, one, all_of_them: [one], doc }
    expect(JSON.parse((await ask(engine, ['--json', nested])).out)).toEqual([whole])
    expect(JSON.parse((await ask(engine, ['--ndjson', nested])).out)).toEqual(whole)
    const { out } = await ask(engine, ['--csv', nested])
    const [, ...cells] = parse(out, { relax_column_count: false }) as string[][]
    expect(cells[0]?.map(cell => (cell === '' ? null : JSON.parse(cell)))).toEqual(Object.values(whole))
    const shown = (await ask(engine, ['select array[1, null] as list, t as one from (select 7 as id) as t']))
      .out
    expect(shown).toMatch(/\[1,null\] +\{"id":7\}/)
  })

  test('--parquet has arrays as lists', async () => {
    const file = `${engine}-nested.parquet`
    expect(
      await ask(engine, ['--parquet', file, nested.replace(/array\[array.*square, /, '')]),
    ).toMatchObject({
      code: 0,
      err: '',
    })
    const [whole, words, none, nothing, money, days, times] = await inParquet(file)
    expect([whole, words, none, nothing, money, days, times]).toEqual([
      'whole INTEGER[] [1, NULL, 3]',
      `words VARCHAR[] [x, 'y,"z"', 'NULL', '']`,
      'none INTEGER[] []',
      'nothing INTEGER[] null',
      'money DECIMAL(9,2)[] [1.50]',
      'days DATE[] [2026-03-01]',
      `times TIMESTAMP WITH TIME ZONE[] ['2026-03-01 08:00:00.5+00']`,
    ])
  })

  test.each([
    ['select 1; select 2', 2],
    ['select 1; no sql at all', 2],
    [`select ';', $$;$$, e'\\';', ";" /* ; /* ; */ */ -- ;\n; select 2; select 3;`, 3],
    ['drop table t; select 1', 2],
    ['explain select 1; select 2', 2],
  ])('several statements are wrong usage: %s', async (query, count) => {
    expect(await ask(engine, [query])).toEqual({
      code: 2,
      out: '',
      err: `muster: these are ${count} statements: give one query at a time\n`,
    })
  })

  test.each([
    'explain drop table t',
    'explain (analyze) copy t to $$x$$',
    'call x()',
    'explain analyze vacuum',
  ])('what is no query is wrong usage: %s', async query => {
    expect(await ask(engine, [query])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not a query'),
    })
  })

  test.each([`select ';' as x`, 'select 1 as x;; -- ; done', ';select 1 as x', 'explain /* ; */ select 1'])(
    'semicolons around a query are none: %s',
    async query => {
      expect(await ask(engine, [query])).toMatchObject({ code: 0, err: '' })
    },
  )

  test.each(['0', '-1', 'abc', '1.5'])('--limit %s is wrong usage', async limit => {
    expect((await ask(engine, ['--limit', limit, 'select 1'])).code).toBe(2)
  })
})

test('a type of the server is read by what it is made of', async () => {
  const query = `select e.oid::regtype as name, array_fill(7, array[2], array[0]) as shifted, '{1 2}'::text as text,
    int2vector '1 2' as vector, array[point '(1,2)', point '(3,4)'] as points, array[box '(1,2),(3,4)'] as boxes,
    (select p from pg_catalog.pg_language p where lanname = 'internal') is null as "none" from pg_type e where typname = 'int4'`
  expect(JSON.parse((await ask('PostgreSQL', ['--json', query])).out)).toEqual([
    {
      name: 'integer',
      shifted: [7, 7],
      text: '{1 2}',
      vector: '1 2',
      points: ['(1,2)', '(3,4)'],
      boxes: ['(3,4),(1,2)'],
      none: false,
    },
  ])
  const row = `select l as language from pg_catalog.pg_language l where lanname = 'internal'`
  expect(JSON.parse((await ask('PostgreSQL', ['--json', row])).out)).toEqual([
    { language: expect.objectContaining({ lanname: 'internal', lanpltrusted: false, lanacl: null }) },
  ])
})

test('reports a value that its Parquet column cannot hold in one line', async () => {
  const { code, err } = await ask('PostgreSQL', ['--parquet', 'n.parquet', `select 'NaN'::numeric(9,2) as n`])
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^muster: Parquet cannot take a value: .*"NaN".*\n$/),
  ])
})

test('a parameter is wrong usage, not a lost connection', async () => {
  const { code, err } = await ask('PostgreSQL', ['select $1::int'])
  expect([code, err]).toEqual([2, expect.stringContaining('write values instead of parameters')])
})
