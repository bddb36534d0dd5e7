/** Files that users name and that are no ordinary files: each command says so in one line, at once. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readInput } from '../../src/lib/input-file.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const cwd = temporaryFolder()
const at = (name: string): string => join(cwd, name)
const env = {
  MUSTER_BASE_URL: 'http://127.0.0.1:1',
  MUSTER_API_KEY: 'key-0123456789',
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
}

/** Ending of the name, which some commands read the kind of a file from -> makes odd files with it. */
const odd: Readonly<Record<string, (name: string) => void>> = {
  endless: name => symlinkSync('/dev/zero', at(name)),
  fifo: name => void execFileSync('mkfifo', [at(name)]),
  folder: name => mkdirSync(at(name)),
  loop: name => symlinkSync(at(name), at(name)),
  proc: name => symlinkSync('/proc/self/status', at(name)),
  memory: name => symlinkSync('/proc/self/mem', at(name)),
  large: name => {
    writeFileSync(at(name), '')
    // Sparse: it takes no space.
    truncateSync(at(name), 3_000_000_000)
  },
}

const settings = (rest: string): string =>
  `connections:\n  acme:\n    baseUrl: http://127.0.0.1:1\n    ${rest.replaceAll('\n', '\n    ')}\n`

interface Reading {
  readonly end: string
  /** The command line that reads the file. */
  readonly line: (name: string) => string
  /** Writes what names the file. */
  readonly prepare?: (name: string) => void
}

const upload = '--resource worker --record w1 --purpose attachments'

const readings: Readonly<Record<string, Reading>> = {
  settings: { end: 'yaml', line: name => `--config ${name} status` },
  key: {
    end: 'key',
    prepare: name =>
      writeFileSync(at(`${name}.yaml`), settings(`apiKeyFile: ${name}\nwarehouse: duckdb:w.duckdb`)),
    line: name => `--config ${name}.yaml status`,
  },
  workers: { end: 'json', line: name => `workers create ${name}` },
  changes: { end: 'csv', line: name => `workers update ${name} --dry-run` },
  'files of workers': {
    end: 'pdf',
    prepare: name => {
      const attachments = [{ documentId: 'd', files: [{ path: name }] }]
      writeFileSync(at(`${name}.json`), JSON.stringify([{ id: 'w1', attachments }]))
    },
    line: name => `workers update ${name}.json --dry-run --allow-outside`,
  },
  uploads: { end: 'pdf', line: name => `files upload ${name} ${upload}` },
  ids: { end: 'txt', line: name => `discover credit-notes ${name}` },
  warehouse: {
    end: 'duckdb',
    prepare: name => {
      writeFileSync(at(`${name}.txt`), 'key-0123456789', { mode: 0o600 })
      writeFileSync(at(`${name}.yaml`), settings(`apiKeyFile: ${name}.txt\nwarehouse: duckdb:${name}`))
    },
    line: name => `--config ${name}.yaml runs`,
  },
}

const cases = Object.entries(readings).flatMap(([reading, { end }]) =>
  Object.keys(odd).map(kind => [reading, kind, `${reading.replaceAll(' ', '-')}-${kind}.${end}`] as const),
)

test.each(cases)('%s: %s', async (reading, kind, name) => {
  const { prepare, line } = readings[reading] ?? expect.unreachable()
  odd[kind]?.(name)
  prepare?.(name)
  const started = process.hrtime.bigint()
  // Variables beside a settings file have a warning of their own.
  const { code, err } = await muster(line(name), { cwd, env: line(name).includes('--config') ? {} : env })
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(10_000)
  expect([code === 0, err.trimEnd().split('\n').length, err.includes('unexpected')]).toEqual([
    false,
    1,
    false,
  ])
  expect(err).toMatch(
    /is not a regular file|is a folder|has no settings file|is a link that leads|cannot be read|has more than|duckdb/,
  )
})

test('a file that a row names is in the folder of the input file, unless --allow-outside', async () => {
  const outside = temporaryFolder()
  writeFileSync(join(outside, 'x.pdf'), '%PDF-1.7')
  symlinkSync(join(outside, 'x.pdf'), at('link.pdf'))
  mkdirSync(at('below'))
  writeFileSync(at('below/y.pdf'), '%PDF-1.7')
  const tried = async (path: string, more = ''): Promise<string> => {
    writeFileSync(
      at('paths.json'),
      JSON.stringify([{ id: 'w1', attachments: [{ documentId: 'd', files: [{ path }] }] }]),
    )
    return (await muster(`workers update paths.json --dry-run ${more}`, { cwd, env })).err
  }
  for (const path of [
    join(outside, 'x.pdf'),
    'link.pdf',
    '/etc/passwd',
    '../../etc/passwd',
    'below/../../x.pdf',
  ])
    expect(await tried(path)).toMatch(
      /path is (outside the folder of the input file: --allow-outside|not there)/,
    )
  expect(await tried(join(outside, 'x.pdf'), '--allow-outside')).toBe('')
  expect(await tried('link.pdf', '--allow-outside')).toBe('')
  expect(await tried('below/y.pdf')).toBe('')
})

test('a file that grows while it is read is refused', () => {
  const file = at('growing')
  writeFileSync(file, 'x'.repeat(1000))
  expect(readInput(file, { maxBytes: 1000 })).toHaveLength(1000)
  appendFileSync(file, 'y')
  expect(readInput(file, { maxBytes: 1000 })).toMatchObject({ why: 'has more than 1000 bytes' })
  // It says that it has 0 bytes, and has more.
  expect(readInput('/proc/self/status', { maxBytes: 1e6 })).toMatchObject({
    why: /changed while it was read/,
  })
})

const bomb = `a: &a [${'x,'.repeat(9)}x]\n${[...'bcdefghij'].map((name, index) => `${name}: &${name} [${`*${'abcdefghi'[index]},`.repeat(9)}*${'abcdefghi'[index]}]`).join('\n')}\n`

const bombs: Readonly<Record<string, string>> = {
  aliases: bomb,
  'aliases of a map': `connections: &a {b: &b {c: 1}}\n${Array.from({ length: 300 }, (_, index) => `k${index}: *b`).join('\n')}`,
  'an alias of itself': 'connections: &a [*a]',
  'a missing alias': 'connections: *nobody',
  'nested lists': `connections: ${'['.repeat(50_000)}`,
  'nested lists that end': `connections: ${'['.repeat(5000)}${']'.repeat(5000)}`,
  'nested maps': `connections: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`,
  dashes: `connections:\n  ${'- '.repeat(30_000)}x`,
  questions: `${'? '.repeat(30_000)}x`,
  indents: Array.from({ length: 400 }, (_, index) => `${' '.repeat(index)}a:`).join('\n'),
  'many keys': `connections:\n${Array.from({ length: 12_000 }, (_, index) => `  k${index}: 1`).join('\n')}`,
  'keys that are lists': '[a]: 1\n{b: c}: 2\n',
  'a merge of itself': 'connections: &a\n  <<: *a\n',
  'two documents': 'connections: {}\n---\nconnections: {}\n',
}

test.each(Object.entries(bombs))('settings and DAGs with %s are refused in one line', async (name, text) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'bomb.yaml'), text)
  mkdirSync(join(folder, 'dags'))
  writeFileSync(join(folder, 'dags', 'bomb.yaml'), text)
  const started = process.hrtime.bigint()
  for (const line of ['--config bomb.yaml status', 'dag run bomb']) {
    const { code, err } = await muster(line, { cwd: folder, env })
    expect([name, code, err.trimEnd().split('\n').length]).toEqual([name, 78, 1])
    expect(err).not.toMatch(/unexpected|RangeError|ReferenceError|call stack|YAML\.parse/)
    expect(err.length).toBeLessThan(name === 'many keys' ? 3_000_000 : 30_000)
  }
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(8000)
})

test.each(['json', 'ndjson'])('rows of %s that are nested deep are refused in one line', async end => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  writeFileSync(at(`deep.${end}`), end === 'json' ? `[${deep}]` : deep)
  const { code, err } = await muster(`workers create deep.${end}`, { cwd, env })
  expect([code, err]).toEqual([2, `deep.${end}, row 1 is nested deeper than 64\n`])
})
