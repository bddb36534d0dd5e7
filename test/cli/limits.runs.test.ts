/** The built program under limits of the system: it works, or ends with one line that names the limit and what helps. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const cwd = temporaryFolder()

/** A service that nobody asks: each of these ends before. */
const env = {
  ...process.env,
  MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
  MUSTER_API_KEY: sandboxKeys.company,
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
}

function under(limit: string, words: string) {
  const { status, stderr, stdout } = spawnSync(
    'sh',
    ['-c', `${limit} && exec "$0" "$1" ${words}`, process.execPath, program],
    {
      ...{ cwd, env, encoding: 'utf8' },
    },
  )
  return { status, stdout, stderr }
}

test.each([
  [
    'ulimit -n 40',
    'sync sites --quiet',
    /open more files at once: raise the limit of open files, as with ulimit -n/,
  ],
  ['ulimit -n 40', 'doctor', /ulimit -n 1024/],
  [
    'ulimit -v 1000000',
    'sync sites --quiet',
    /no more memory or address space: raise its limit, as with ulimit -v/,
  ],
  [
    'ulimit -f 1000',
    'demo',
    /would exceed the limit of file sizes: raise the limit of file sizes, as with ulimit -f/,
  ],
  ['ulimit -v 2000000', 'demo', /no more memory or address space: raise its limit, as with ulimit -v/],
])('%s: %s ends in one line that names the limit', (limit, words, named) => {
  const { status, stderr } = under(limit, words)
  const last = stderr.trimEnd().split('\n').at(-1)
  expect([status, last]).toEqual([1, expect.stringMatching(named)])
  expect(stderr).not.toMatch(/unexpected|^ +at |this as a bug/m)
})

test.each(['unset HOME', 'export TMPDIR=/missing', 'export TMPDIR=/proc'])(
  '%s keeps no command from reading its settings',
  setting => {
    const { status, stderr } = under(setting, 'config --json')
    expect([status, stderr]).toEqual([0, ''])
  },
)
