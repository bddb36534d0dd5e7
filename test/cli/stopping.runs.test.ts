/** Commands that stay or take long end within five seconds of a signal, at any moment. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'

/** Seconds are those of a machine that does nothing else. */
const limitMs = 5_000

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await keptSandbox({ seed: 1, scale: 0.3, clock: systemClock })
})
afterAll(() => sandbox.close())

const environment = (more: Record<string, string> = {}) => ({
  MUSTER_BASE_URL: sandbox.url,
  MUSTER_API_KEY: sandboxKeys.company,
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  MUSTER_WEBHOOK_SECRET: 'hook-0123456789',
  ...more,
})

const pause = (ms: number): Promise<void> => systemClock.sleep(ms)

/** A folder with a DAG that syncs. */
function project(): string {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(
    join(cwd, 'dags/night.yaml'),
    'name: night\ndescription: x\nschedule: "0 3 * * *"\ntasks: { sync: { run: sync } }\n',
  )
  return cwd
}

const commands = [
  'sync',
  'dag run night',
  'demo',
  'sandbox --live 20 --port 0',
  'serve --port 0',
  'dashboard --port 0',
]

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  test.each(commands.flatMap(line => [300, 2_500, 6_000].map(ms => [line, ms] as const)))(
    'ends %s after %i ms',
    async (line, ms) => {
      const cwd = project()
      if (line.startsWith('dashboard')) await (await openDuckdb(join(cwd, 'w.duckdb'))).close()
      const built = start(line, { cwd, env: environment() })
      await pause(ms)
      const hasBegun = built.out() + built.err() !== ''
      built.signal(signal)
      const { code, err, milliseconds } = await built.ended
      expect(milliseconds).toBeLessThan(limitMs)
      // What had ended before the signal came is none of its cases; what stays ends as it should. A program that has said nothing
      // may not listen yet, has done nothing, and is ended by the signal itself.
      expect(hasBegun ? [0, 75] : [0, 75, null]).toContain(code)
      expect(err).not.toMatch(/unexpected|\n {4}at /)
    },
  )
})

test('a sync that waits for its minute ends at once', async () => {
  const limited = await keptSandbox({ seed: 1, scale: 0.3, clock: systemClock, rateLimitPerMinute: 20 })
  const built = start('sync', { cwd: project(), env: environment({ MUSTER_BASE_URL: limited.url }) })
  await pause(8_000)
  built.signal('SIGTERM')
  const { code, milliseconds } = await built.ended
  await limited.close()
  expect([code, milliseconds < limitMs]).toEqual([75, true])
})

test('serve with hundreds of queued events: what was acknowledged is in the inbox', async () => {
  const cwd = project()
  const env = environment()
  const serve = start('serve --port 18923 --no-schedule', { cwd, env })
  await expect
    .poll(
      () =>
        fetch('http://127.0.0.1:18923/health').then(
          ({ status }) => status > 0,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true)
  const burst = start('sandbox --scale 0.3 --webhook http://127.0.0.1:18923/webhook --webhook-burst 300', {
    cwd: temporaryFolder(),
    env,
  })
  const queued = async (): Promise<number> => {
    const answer = await fetch('http://127.0.0.1:18923/health').then(
      one => one.json() as Promise<{ inbox: { depth: number } }>,
      () => undefined,
    )
    return answer?.inbox.depth ?? 0
  }
  await expect.poll(queued, { timeout: 60_000 }).toBeGreaterThan(100)
  serve.signal('SIGTERM')
  const { code, milliseconds } = await serve.ended
  burst.signal('SIGTERM')
  await burst.ended
  expect([code, milliseconds < limitMs]).toEqual([expect.toBeOneOf([0, 75]), true])
})
