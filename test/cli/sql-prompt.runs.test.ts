/** `muster sql` without a query: a prompt on a terminal, with history. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, expect, test } from 'vitest'
import { StatementInterrupted } from '../../src/lib/errors.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const cwd = temporaryFolder()
const home = join(cwd, 'home')
const history = join(home, '.local', 'state', 'muster', 'sql-history')

beforeAll(async () => {
  const instance = await DuckDBInstance.create(join(cwd, 'w.duckdb'))
  const connection = await instance.connect()
  await connection.run(
    'create schema star; create table star.dim_company as select i::integer as company_key, i * 7 as size from range(3) r(i)',
  )
  connection.closeSync()
  instance.closeSync()
})

/** A terminal on which keys are typed as soon as the text before them is shown. */
async function typed(steps: readonly (readonly [shown: string | RegExp, keys: string, afterMs?: number])[]) {
  const [stdin, screen] = [new PassThrough(), new PassThrough()]
  Object.assign(stdin, { isTTY: true, setRawMode: () => stdin })
  let out = ''
  const left = [...steps]
  const see = (text: string): void => {
    out += text
    const [shown, keys, afterMs = 0] = left[0] ?? []
    const at = shown === undefined ? -1 : out.slice(seen).search(shown)
    if (at < 0 || keys === undefined) return
    left.shift()
    seen = out.length
    setTimeout(() => stdin.write(keys), afterMs)
  }
  let seen = 0
  screen.on('data', data => see(String(data)))
  const parts = {
    cwd,
    env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb', HOME: home },
    stdin: () => stdin as unknown as NodeJS.ReadStream,
    screen,
    stdout: { write: see, isTTY: true, columns: 100 },
    stderr: { write: see, isTTY: true, columns: 100 },
  }
  const { code } = await muster('sql', parts)
  return { code, out, left }
}

test('answers one query after the other, over several lines, and keeps their history', async () => {
  const { code, out, left } = await typed([
    ['muster> ', 'select sum(size) as total\r'],
    [/\.\.\.> /, 'from star.dim_company;\r'],
    [/total\n.*\n +21/s, 'select nothing from star.dim_company;\r'],
    [/Binder Error: .*nothing/s, 'drop table star.dim_company;\r'],
    [/DROP is not a query/, '\u001b[A\u001b[A\u001b[A\r'],
    [/total\n.*\n +21/s, 'help\r'],
    [/arrow keys/, 'quit\r'],
  ])
  expect([code, left]).toEqual([0, []])
  expect(out).not.toContain('muster: ')
  expect(readFileSync(history, 'utf8').split('\n')).toEqual([
    'select nothing from star.dim_company;',
    'drop table star.dim_company;',
    'select sum(size) as total from star.dim_company;',
    'help',
    'quit',
    '',
  ])
  expect(statSync(history).mode & 0o777).toBe(0o600)
})

test('Ctrl-C forgets what was typed and stops what runs; Ctrl-D ends', async () => {
  const { code, left } = await typed([
    ['muster> ', 'select 1 as\r'],
    [/\.\.\.> /, '\u0003'],
    [/\^C\n/, 'select levenshtein(repeat(chr(97), 200000), repeat(chr(98), 200000));\r'],
    [/200000\)\);/, '\u0003', 1500],
    [/the query was stopped/, 'select 42 as answer;\r'],
    [/answer\n.*\n +42/s, '\u0004'],
  ])
  expect([code, left]).toEqual([0, []])
})

test('a signal that came while the program loaded ends it before it asks', async () => {
  const stdin = new PassThrough()
  Object.assign(stdin, { isTTY: true, setRawMode: () => stdin })
  const signal = AbortSignal.abort(new StatementInterrupted({ what: 'stopped by SIGTERM' }))
  const asked = muster('sql', {
    cwd,
    env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb', HOME: home },
    stdin: () => stdin as unknown as NodeJS.ReadStream,
    screen: new PassThrough().resume(),
    signal,
  })
  const { out, err } = await asked
  expect([out, err]).toEqual(['', expect.stringContaining('stopped by SIGTERM')])
}, 10_000)

test('without a terminal the query is missing', async () => {
  const { code, err } = await muster('sql', { cwd, env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb' } })
  expect([code, err]).toEqual([2, expect.stringMatching(/^muster: the query is missing: /)])
})

test('a home that cannot be written costs the history only', async () => {
  const blocked = join(cwd, 'blocked')
  mkdirSync(blocked)
  writeFileSync(join(blocked, '.local'), '')
  const stdin = new PassThrough()
  Object.assign(stdin, { isTTY: true, setRawMode: () => stdin })
  const env = { MUSTER_WAREHOUSE: 'duckdb:w.duckdb', HOME: blocked }
  stdin.end('select 5 as five;\rquit\r')
  const { code, out } = await muster('sql', {
    cwd,
    env,
    stdin: () => stdin as unknown as NodeJS.ReadStream,
    screen: new PassThrough().resume(),
  })
  expect([code, out]).toEqual([0, expect.stringContaining('five')])
})

const piped = (text: string, line = 'sql') =>
  muster(line, {
    cwd,
    env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb' },
    stdin: () => Readable.from([text]) as NodeJS.ReadStream,
  })

test.each(['sql --csv', 'sql --csv -'])('%s runs the statements on stdin one after the other', async line => {
  const statements = `select ';' as sign; -- a comment;\n\nselect sum(size) as total\nfrom star.dim_company`
  expect(await piped(statements, line)).toMatchObject({ code: 0, out: 'sign\n;\ntotal\n21\n', err: '' })
})

test('the first statement on stdin that fails ends it', async () => {
  const { code, out, err } = await piped('select 1 as one; select nothing; select 2 as two', 'sql --csv')
  expect([code, out]).toEqual([1, 'one\n1\n'])
  expect(err).toContain('nothing')
})

test('--json of several statements is refused: it would be no JSON document', async () => {
  const { code, out, err } = await piped('select 1 as one; select 2 as two', 'sql --json')
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^muster: --json writes one document, and there are 2 statements: /)
})

test('an empty stdin is a query that is missing', async () => {
  expect(await piped(' ; -- nothing\n')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^muster: the query is missing: /),
  })
})
