/** Pipes in the place of files that lie beside a warehouse: nobody waits for somebody to write to them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { start } from '../support/built-program.ts'
import { openPlace } from '../support/synced-warehouse.ts'

test.each([
  ['w.overview.json', 'status --all', 0],
  ['w.outputs', 'audit-pii', 1],
  ['w.inbox/000000000001.ndjson', 'runs', 0],
  ['.muster-elsewhere.1-1-1', 'runs', 0],
] as const)('%s, by %s', async (name, line, expected) => {
  const { cwd, command } = await openPlace()
  expect((await command('sync sites --quiet')).code).toBe(0)
  const path = join(cwd, name)
  rmSync(path, { force: true })
  mkdirSync(join(path, '..'), { recursive: true })
  execFileSync('mkfifo', [path])
  const env = {
    MUSTER_BASE_URL: 'http://127.0.0.1:9',
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  }
  const { code, err } = await start(line, { cwd, env }).ended
  expect([code, err]).toEqual([expected, expect.not.stringMatching(/unexpected/)])
})
