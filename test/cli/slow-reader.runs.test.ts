/** What a program has told arrives, however slowly it is read, and its work goes on when nobody reads any more. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/captured-world.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A thousand lines of 250 bytes, more than a socket holds. */
function tells(): ReturnType<typeof spawn> {
  const cwd = temporaryFolder()
  const file = `${'many'.repeat(50)}.ndjson`
  writeFileSync(join(cwd, file), '{"wrong":1}\n'.repeat(2_000))
  const own = {
    MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
    MUSTER_API_KEY: 'key',
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  }
  return spawn(process.execPath, [program, 'workers', 'create', file, '--dry-run'], {
    cwd,
    env: { ...process.env, ...own },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

test('a slow reader gets every line', async () => {
  const child = tells()
  const closed = once(child, 'close')
  let text = ''
  child.stderr?.on('data', data => (text += data))
  child.stderr?.pause()
  // Long enough to write all of it and to leave, if it did not wait.
  await new Promise(resolve => setTimeout(resolve, 4_000))
  child.stderr?.resume()
  const [code] = await closed
  expect({ code, lines: text.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1_001 })
})

test('a reader that leaves changes no exit code', async () => {
  const child = tells()
  child.stderr?.once('data', () => child.stderr?.destroy())
  const [code] = await once(child, 'close')
  expect(code).toBe(2)
})
