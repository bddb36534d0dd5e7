/** `muster sql`: reads only, one query, from whichever file can be read. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { packageFile } from '../../src/lib/package.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { holdFile } from './locked-file.ts'

const cwd = temporaryFolder()
const env = {
  MUSTER_BASE_URL: 'https://api.example.com/api/open/v1',
  MUSTER_API_KEY: 'key-0123456789',
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
}
const sql = (line: string) => muster(`sql ${line}`, { cwd, env })

async function write(file: string, owner: string): Promise<void> {
  const instance = await DuckDBInstance.create(join(cwd, file))
  const connection = await instance.connect()
  await connection.run(`create table t as select i::bigint as id, i * 1.25::decimal(9,4) as pay, '${owner}' as owner,
    timestamptz '2026-01-02 03:04:05.6789+01' as at_time, date '2026-05-06' as day, [1, 2] as list
    from range(3) r(i)`)
  await connection.run(
    'create schema mart; create schema star; create table mart.time_to_fill as select 1 as n',
  )
  connection.closeSync()
  instance.closeSync()
}

beforeAll(() => write('w.duckdb', 'working'))

describe('muster sql', () => {
  test('--json prints an array of row objects: decimals as text, timestamps in UTC', async () => {
    const { code, out, err } = await sql('--json from t where id = 2')
    expect([code, err]).toEqual([0, ''])
    const row = { id: 2, pay: '2.5000', owner: 'working', at_time: '2026-01-02T02:04:05.678900Z' }
    expect(JSON.parse(out)).toEqual([{ ...row, day: '2026-05-06', list: [1, 2] }])
  })

  test('prints a table, and digits as they are', async () => {
    const { out } = await sql('select 20260506 as n, owner, null as nothing from t limit 1')
    expect(out).toBe('       n  owner    nothing\n--------  -------  -------\n20260506  working\n')
  })

  test('columns of one name are kept apart', async () => {
    const { out } = await sql('--json select 1 as a, 2 as a')
    expect(Object.values(JSON.parse(out)[0])).toEqual([1, 2])
  })

  test('says when there are more rows than it shows', async () => {
    const cut = await sql('--json --limit 2 from t')
    expect(JSON.parse(cut.out)).toHaveLength(2)
    expect(cut.err).toBe('there are more rows than these 2: raise --limit\n')
    expect((await sql('--limit 3 from t')).err).toBe('')
    const table = await sql('from range(5000)')
    expect([table.out.split('\n').length, table.err]).toEqual([
      1000 + 3,
      'there are more rows than these 1000: raise --limit\n',
    ])
  })

  test('a program reads the complete result unless it asks for less', async () => {
    for (const [flag, count] of [
      ['--json', (out: string) => JSON.parse(out).length],
      ['--csv', (out: string) => out.trimEnd().split('\n').length - 1],
      ['--ndjson', (out: string) => out.trimEnd().split('\n').length],
    ] as const) {
      const { code, out, err } = await sql(`${flag} from range(5000)`)
      expect([flag, code, count(out), err]).toEqual([flag, 0, 5000, ''])
    }
    expect(JSON.parse((await sql('--json from t where false')).out)).toEqual([])
    expect((await sql('--csv --ndjson from t')).code).toBe(2)
  })

  test('an answer of many parts is complete, and one with a row that is too large fails', async () => {
    const wide = await sql(`--csv select i, repeat('x',1000000) as x from range(12) r(i)`)
    expect([wide.code, wide.err, wide.out.split('\n').map(line => line.length)]).toEqual([
      0,
      '',
      [3, ...Array.from({ length: 12 }, (_, row) => String(row).length + 1_000_001), 0],
    ])
    const lines = [
      'connections: {one: {baseUrl: "https://x.example", apiKey: "k", warehouse: "duckdb:w.duckdb",',
    ]
    writeFileSync(join(cwd, 'small.yaml'), [...lines, '  queries: {answerMegabytes: 1}}}', ''].join('\n'))
    const { code, out, err } = await muster(
      `sql --config small.yaml --json select i, repeat('x',if(i=3,2000000,9)) as x from range(5) r(i) order by i`,
      { cwd },
    )
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^muster: the answer is cut after 3 rows, because the next is too large/),
    ])
    expect(() => JSON.parse(out)).toThrow()
  })

  test('more rows than fit into memory pass through', async () => {
    const query = `select i, repeat('x', 1600) as x from range(60000) r(i)`
    const child = spawn(
      process.execPath,
      ['--max-old-space-size=64', packageFile('dist/main.js'), 'sql', '--json', query],
      { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(child, 'exit')
    let bytes = 0
    let end = ''
    for await (const data of child.stdout) {
      bytes += (data as Buffer).length
      end = (end + String(data)).slice(-40)
    }
    expect([(await ended)[0], bytes > 96_000_000, end.endsWith('"\n  }\n]\n')]).toEqual([0, true, true])
  })

  test('--parquet writes one file with the types of the query, and replaces only its own', async () => {
    const query = `select id, pay, owner as "the, 'owner'", at_time, day, list, id > 1 as big, 1.5::double as half, null as nothing, {'a': 1} as s from t`
    const written = await sql(`--parquet o.parquet ${query}`)
    expect(written).toMatchObject({ code: 0, out: 'o.parquet: 3 rows\n', err: '' })
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const file = join(cwd, 'o.parquet')
    const types = await connection.runAndReadAll(`describe from '${file}'`)
    expect(types.getRows().map(([name, type]) => `${name} ${type}`)).toEqual([
      'id BIGINT',
      'pay DECIMAL(28,4)',
      "the, 'owner' VARCHAR",
      'at_time TIMESTAMP WITH TIME ZONE',
      'day DATE',
      'list INTEGER[]',
      'big BOOLEAN',
      'half DOUBLE',
      'nothing INTEGER',
      's STRUCT(a INTEGER)',
    ])
    await connection.run(`attach '${join(cwd, 'w.duckdb')}' as w (read_only)`)
    const other = await connection.runAndReadAll(
      `select count(*)::integer from (select id, pay, at_time, day, list from '${file}' except select id, pay, at_time, day, list from w.t)`,
    )
    expect(other.getRows()).toEqual([[0]])
    connection.closeSync()
    instance.closeSync()
    expect(JSON.parse((await sql('--json --limit 1 --parquet o.parquet from t')).out)).toEqual({
      file: 'o.parquet',
      rows: 1,
    })
    writeFileSync(join(cwd, 'other.parquet'), 'PAR1 of somebody else PAR1')
    expect((await sql('--parquet other.parquet from t')).err).toContain('muster did not write it')
    expect((await sql('--force --parquet other.parquet from t where false')).out).toBe(
      'other.parquet: 0 rows\n',
    )
    expect((await sql('--parquet w.duckdb --force from t')).err).toContain('this is the warehouse')
    expect((await sql('--parquet p.parquet from nothing')).code).toBe(1)
    expect(readdirSync(cwd).filter(name => /^p\.parquet|^\.muster-/.test(name))).toEqual([])
  })

  test('--csv quotes what would be read otherwise', async () => {
    const { out } = await sql(`--csv select 'a,"b"' as "x,y", '' as empty, null as nothing, [1] as list`)
    expect(out).toBe('"x,y",empty,nothing,list\n"a,""b""","",,[1]\n')
  })

  test('needs neither key nor address: with the warehouse alone, or in a file whose key is not set', async () => {
    const alone = { cwd, env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb' } }
    expect(await muster('sql --csv select 1 as a', alone)).toMatchObject({ code: 0, out: 'a\n1\n', err: '' })
    const lines = ['connections:', '  one:', '    baseUrl: not an address', `    apiKey: \${NOT_SET}`]
    writeFileSync(join(cwd, 'no-key.yaml'), [...lines, '    warehouse: duckdb:w.duckdb', ''].join('\n'))
    expect((await muster('sql --csv select 1 as a --config no-key.yaml', { cwd })).out).toBe('a\n1\n')
    const sync = await muster('sync --config no-key.yaml', { cwd })
    expect([sync.code, sync.err]).toEqual([78, expect.stringContaining('NOT_SET, which is not set')])
    expect((await muster('sync', alone)).code).toBe(78)
    writeFileSync(join(cwd, 'no-file.yaml'), [...lines, '    landing: x', ''].join('\n'))
    expect((await muster('sql select 1 --config no-file.yaml', { cwd })).err).toContain(
      'warehouse is missing',
    )
  })

  test.each([
    ['insert into t (id) values (1)', 'INSERT is not a query'],
    ['with x as (select 9 as id) insert into t (id) from x', 'INSERT is not a query'],
    [`explain analyze copy t to 'x.csv'`, 'COPY is not a query'],
    ['select 1; select 2', 'these are 2 statements'],
    [';', 'the query is empty'],
  ])('%s is wrong usage', async (query, what) => {
    const { code, out, err } = await sql(query)
    expect([code, out, err.split('\n').length]).toEqual([2, '', 2])
    expect(err).toContain(`muster: ${what}: `)
  })

  test.each([
    ['select nothing from t', /^muster: Binder Error: Referenced column "nothing" not found/],
    ['selec 1', /^muster: SELEC is not a query/],
    ['select (', /^muster: Parser Error: syntax error at end of input\n$/],
    [`from read_text('/etc/passwd')`, /^muster: read_text\(\) does more than read the warehouse: /],
    ['from mart.worker_week', /^muster: mart\.worker_week is declared but not built: run muster build\n$/],
    [
      'describe "mart".open_demand',
      /^muster: mart\.open_demand is declared but not built: run muster build\n$/,
    ],
    ['from mart.nonsense', /^muster: Catalog Error: Table with name nonsense does not exist!/],
    ['from star.time_to_fill', /^muster: Catalog Error: .*Did you mean "mart\.time_to_fill"/],
  ])('%s is one line', async (query, expected) => {
    const { code, err } = await sql(query)
    expect(code).toBeGreaterThan(0)
    expect(err).toMatch(expected)
    expect(err.trimEnd()).not.toContain('\n')
  })

  test('nothing is created where no warehouse is', async () => {
    const empty = temporaryFolder()
    const { code, err } = await muster('sql select 1', { cwd: empty, env })
    expect([code, err]).toEqual([
      1,
      `muster: there is no warehouse file (${join(empty, 'w.duckdb')}): run muster sync first\n`,
    ])
    expect(existsSync(join(empty, 'w.duckdb'))).toBe(false)
  })

  test('reads the published copy while another process holds the file, and says so', async () => {
    await holdFile(join(cwd, 'w.duckdb'))
    const alone = await sql('from t')
    expect([alone.code, alone.out]).toEqual([75, ''])
    expect(alone.err).toMatch(/^muster: another process has the warehouse file open \(process \d+\)/)
    await write('w.published.duckdb', 'published')
    const { code, out, err } = await sql('--json select distinct owner from t')
    expect([code, JSON.parse(out)]).toEqual([0, [{ owner: 'published' }]])
    expect(err).toMatch(/^another process has .*: reading the published copy .*w\.published\.duckdb\n$/)
    expect((await sql('from mart.worker_week')).err).toMatch(
      /not built: run muster build, then muster publish\n$/,
    )
    const asOf = await sql('--as-of 2026-09-30 from asof.fact_timesheet')
    expect([asOf.code, asOf.out], 'the copy has no history').toEqual([75, ''])
    expect(asOf.err).toMatch(/^muster: another process has the warehouse file open/)
  })
})
