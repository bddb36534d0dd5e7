/** `--all`: one process a connection, and a failed one leaves the others alone. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { StatementInterrupted } from '../../src/lib/errors.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

/** A program that notes how it was called, and ends as the name of its connection says. */
function place(names: readonly string[]) {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  const lines = names.map(
    name =>
      `  ${name}: { baseUrl: https://a.example.com, apiKeyFile: key, warehouse: "duckdb:${name}.duckdb" }`,
  )
  writeFileSync(join(cwd, 'config/muster.yaml'), `connections:\n${lines.join('\n')}\n`)
  writeFileSync(join(cwd, 'key'), 'key-1234567', { mode: 0o600 })
  const program = join(cwd, 'program')
  writeFileSync(
    program,
    '#!/bin/sh\necho "$@" >> called\nfor name; do :; done\necho "{\\"name\\":\\"$name\\"}"\ncase $name in bad*) echo "muster: it broke" >&2; exit 1;; wrong*) echo "muster: no key" >&2; exit 78;; later*) echo "muster: spent" >&2; exit 75;; esac\n',
  )
  chmodSync(program, 0o755)
  return { cwd, startedAs: [program], clock: systemClock, env: { PATH: '/usr/bin:/bin' } }
}

test('each connection has its own process and line, and the worst code counts', async () => {
  const at = place(['one', 'bad', 'later', 'two'])
  const { code, out } = await muster('sync timesheets --all --max-requests 5', at)
  expect(code).toBe(1)
  expect(out).toMatch(/^bad +failed \(1\) +[\d.]+ +it broke$/m)
  expect(out).toMatch(/^later +later +[\d.]+ +spent$/m)
  expect(out).toMatch(/^two +done +[\d.]+ *$/m)
  expect(readFileSync(join(at.cwd, 'called'), 'utf8').trim().split('\n').sort()).toEqual(
    ['bad', 'later', 'one', 'two'].map(name => `sync timesheets --max-requests 5 --connection ${name}`),
  )
})

test.each([
  ['dag run nightly --all --json', ['one', 'later'], 75],
  ['check --all --json', ['one', 'wrong', 'bad'], 78],
  ['sync --all --json', ['one', 'two'], 0],
])('%s gives one document', async (line, names, expected) => {
  const { code, out } = await muster(line, place(names))
  expect(code).toBe(expected)
  expect(JSON.parse(out)).toMatchObject(names.map(name => ({ connection: name, output: { name } })))
})

test('a signal ends those that run, and begins no other', async () => {
  const at = place(['one', 'two', 'three', 'four'])
  const called = join(at.cwd, 'called')
  writeFileSync(join(at.cwd, 'program'), '#!/bin/sh\necho "$@" >> called\nexec sleep 20\n')
  const stop = new AbortController()
  const ended = muster('sync --all', { ...at, signal: stop.signal })
  const calls = () => (existsSync(called) ? readFileSync(called, 'utf8').trim().split('\n').length : 0)
  await expect.poll(calls, { timeout: 5_000 }).toBe(2)
  stop.abort(new StatementInterrupted({ what: 'stopped by SIGTERM' }))
  const { code, out } = await ended
  expect([code, calls()]).toEqual([75, 2])
  for (const name of ['one', 'two']) expect(out).toMatch(new RegExp(`^${name} +later`, 'm'))
  expect(out).toMatch(/^four +later +0 +stopped before it began$/m)
}, 15_000)

test('not together with --connection', async () => {
  expect(await muster('sync --all --connection one', place(['one']))).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--all and --connection exclude each other/),
  })
})
