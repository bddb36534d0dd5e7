/** Paths that a user names, and the limits that the system sets: each ends in one line or is taken as it stands. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeFailure } from '../../src/cli/failure.ts'
import { asPattern, whyNotLocal } from '../../src/lib/input-file.ts'
import { openStage } from '../../src/warehouse/duckdb/open.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

test.each([
  ['s3://bucket/acme', /^name a path on this machine, as s3:\/\/ is not supported here/],
  ['GS://bucket', /gs:\/\//],
  ['file:///data/acme', /^write the path itself/],
])('%s is an address, not a path', (text, why) => {
  expect(whyNotLocal(text)).toMatch(why)
})

test.each(['acme', './s3:/bucket', 'a:b', 'C:\\data', '-lead', ''])('%s is a path', text => {
  expect(whyNotLocal(text)).toBeUndefined()
})

test.each([
  'export --parquet s3://bucket/acme',
  'docs --out s3://bucket/x.html',
  'docs --markdown file:///tmp/x.md',
  'dashboard --out gs://bucket/x.html',
  'sql --parquet https://host/x.parquet',
  'metrics --file s3://bucket/x',
  'publish --company c --out s3://bucket/x.duckdb',
  'dag export nightly --output s3://bucket/x',
  'workers create s3://bucket/x.csv',
  'discover requisitions s3://bucket/x.csv',
  '--config s3://bucket/muster.yaml status',
])('%s is refused in one line, and makes no folder', async line => {
  const { code, err, cwd } = await muster(line)
  expect([code, err.trimEnd().split('\n').length]).toEqual([2, 1])
  expect(err).toMatch(/(Name a path on this machine|Write the path itself)/)
  expect(readdirSync(cwd)).toEqual([])
})

test.each([
  ['MUSTER_WAREHOUSE', 'duckdb:s3://bucket/x.duckdb'],
  ['MUSTER_LANDING', 'gs://bucket/x'],
])('%s=%s is a wrong setting', async (name, value) => {
  const env = {
    ...{ MUSTER_BASE_URL: 'http://127.0.0.1:1/v1', MUSTER_API_KEY: 'k', MUSTER_WAREHOUSE: 'duckdb:x.duckdb' },
    [name]: value,
  }
  expect(await muster('status', { env })).toMatchObject({ code: 78 })
})

test.each(['a*b', 'a?b', 'a[X]b', 'a\\b', 'a*\\[b', 'a{b,c}', "a'b", 'ä漢 b'])(
  'a file in the folder %s is read by itself, not with those that its name would match',
  async name => {
    const folder = temporaryFolder()
    const stage = await openStage(join(folder, 'stage'))
    try {
      for (const one of [name, 'aXb']) {
        mkdirSync(join(folder, one))
        writeFileSync(join(folder, one, 'x.csv'), `${one === name ? 1 : 2}\n`)
      }
      const file = quoteText(asPattern(join(folder, name, 'x.csv')))
      expect(
        await stage.rows(`select * from read_csv(${file}, header = false, columns = {n: 'INTEGER'})`),
      ).toEqual([{ n: 1 }])
    } finally {
      await stage.close()
    }
  },
)

test('a warehouse file with a ? in its path is refused in one line', async () => {
  const env = {
    MUSTER_BASE_URL: 'http://127.0.0.1:1/v1',
    MUSTER_API_KEY: 'k',
    MUSTER_WAREHOUSE: 'duckdb:a?b.duckdb',
  }
  const { code, err } = await muster('sync', { env })
  expect([code, err]).toEqual([
    78,
    expect.stringMatching(/^muster: DuckDB cannot keep the log of .* with a \? in its path \(.*\): .*\n$/),
  ])
})

describe('a limit of the system, whichever library runs into it,', () => {
  const said = (error: unknown) =>
    describeFailure(error, {
      isVerbose: false,
      signal: new AbortController().signal,
      keyPlace: () => undefined,
    }).text

  test.each([
    ["EMFILE: too many open files, open '/x/chunk.js'", /ulimit -n 1024/],
    ['ENFILE: file table overflow', /fs\.file-max/],
    ['libduckdb.so: failed to map segment from shared object', /ulimit -v unlimited/],
    ['std::bad_alloc', /ulimit -v/],
    ['WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance', /ulimit -v/],
    ['spawn EAGAIN', /ulimit -u 4096/],
    ['Resource temporarily unavailable', /ulimit -u/],
    ['EFBIG: file too large, write', /ulimit -f/],
  ])('is named with what to do: %s', (message, next) => {
    expect(said(new Error(message))).toMatch(next)
    expect(said(new Error('outer', { cause: new Error(message) }))).toMatch(next)
    expect(said(new Error(message))).not.toMatch(/unexpected/)
  })

  test('an error about something else stays unexpected', () => {
    expect(said(new Error('boom'))).toBe('muster: unexpected Error: boom')
  })
})
