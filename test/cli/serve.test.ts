/** `muster serve` as a command: what it needs, and what it refuses. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { muster, temporaryFolder } from './captured-world.ts'

const env = {
  MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
  MUSTER_API_KEY: 'key-1234567',
}
const secret = { MUSTER_WEBHOOK_SECRET: 'planted-secret-12345' }

test('without a secret and without a DAG there is nothing to serve', async () => {
  const { code, err } = await muster('serve --no-schedule', { env })
  expect([code, err]).toEqual([78, expect.stringContaining('there is nothing to serve')])
  expect(err).toContain('MUSTER_WEBHOOK_SECRET')
})

test('without a secret it only runs DAGs, and nobody can deliver an event', async () => {
  const stop = new AbortController()
  const statuses: number[] = []
  const stdout = {
    write: (text: string) => {
      const { url, due } = JSON.parse(text)
      expect(due[0]).toMatchObject({ dag: 'nightly' })
      const origin = new URL(url).origin
      const asked = ['/health', '/webhook'].map(path =>
        fetch(origin + path, path === '/health' ? {} : { method: 'POST', body: '{}' }),
      )
      Promise.all(asked)
        .then(answers => statuses.push(...answers.map(({ status }) => status)))
        .finally(() => stop.abort(new Error('enough')))
    },
  }
  await muster('serve --port 0 --json', {
    env,
    stdout,
    signal: stop.signal,
    clock: systemClock,
  })
  expect(statuses).toEqual([200, 404])
})

test.each([
  ['--path webhook', 'Give a path as /webhook'],
  ['--path /:any', 'Give a path as /webhook'],
  ['--path /health', 'Give a path as /webhook'],
  ['--port 70000', 'whole number'],
  ['--every soon', 'Give a time span'],
  ['--dag nonsuch', 'there is no DAG named nonsuch'],
])('refuses %s', async (options, words) => {
  const { code, err } = await muster(`serve ${options}`, { env: { ...env, ...secret } })
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})

test('starts, runs a DAG that is due in the file that it serves, and ends when told to', async () => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'dags'))
  const dag =
    "name: often\ndescription: A copy.\nschedule: '* * * * *'\ntasks: { publish: { run: publish } }\n"
  writeFileSync(join(cwd, 'dags/often.yaml'), dag)
  let shift = 0
  let out = ''
  const stdout = {
    write: (text: string) => {
      out += text
      // Once it is ready, the next minute begins.
      shift = 60_000 - (Date.now() % 60_000)
    },
  }
  const stop = new AbortController()
  const running = muster('serve --port 0 --json', {
    env: { ...env, ...secret },
    cwd,
    stdout,
    signal: stop.signal,
    clock: {
      now: () => Date.now() + shift,
      sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal),
    },
  })
  const copy = join(cwd, 'data/muster.published.duckdb')
  for (let tries = 0; tries < 200 && !existsSync(copy); tries += 1) await wait(50)
  // Its ledger is written after the copy.
  await wait(300)
  stop.abort()
  const { code, err } = await running
  expect([code, existsSync(copy)]).toEqual([0, true])
  expect(JSON.parse(out)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/webhook$/),
    due: [{ dag: 'often', at: expect.any(String) }],
  })
  expect(err).toContain('"dag":"often","code":0')
  expect(out + err).not.toContain(secret.MUSTER_WEBHOOK_SECRET)
})
