/** `muster serve` as a command: what it needs, and what it refuses. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

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

test('without a secret it only runs DAGs, and no event can be delivered', async () => {
  const stop = new AbortController()
  let due: { dag: string }[] = []
  let statuses: Promise<number[]> | undefined
  const stdout = {
    write: (text: string) => {
      const ready = JSON.parse(text)
      due = ready.due
      const asked = ['/health', '/webhook'].map(path =>
        fetch(new URL(path, ready.url), path === '/health' ? {} : { method: 'POST', body: '{}' }),
      )
      statuses = Promise.all(asked)
        .then(answers => answers.map(({ status }) => status))
        .finally(() => stop.abort(new Error('enough')))
    },
  }
  await muster('serve --port 0 --json', {
    env,
    stdout,
    signal: stop.signal,
    clock: systemClock,
  })
  // Which of them comes first depends on the day.
  expect(due.map(({ dag }) => dag).sort()).toEqual(['nightly', 'weekly'])
  expect(await statuses).toEqual([200, 404])
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

test('starts, runs a due DAG in the file that it serves, and ends on a signal', async () => {
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

const marts = async (file: string): Promise<void> => {
  const engine = await openDuckdb(file)
  await engine.run('create schema if not exists mart')
  await engine.run(`create table mart.data_health as select timestamptz '2026-11-02 02:30:00Z' as as_of`)
  await engine.close()
}

/** Asks while the server runs, which ends afterwards. */
async function withDashboard(
  line: string,
  cwd: string,
  work: (dashboard: string, url: string) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  let told: Promise<void> = Promise.reject(new Error('it did not start'))
  told.catch(() => undefined)
  const stdout = {
    write: (text: string) => {
      const { dashboard, url } = JSON.parse(text)
      told = work(dashboard, url).finally(() => stop.abort(new Error('enough')))
    },
  }
  await muster(`serve --port 0 --no-schedule --dashboard --dashboard-port 0 --json ${line}`, {
    env: { ...env, MUSTER_WAREHOUSE: `duckdb:${join(cwd, 'acme.duckdb')}` },
    cwd,
    stdout,
    signal: stop.signal,
    clock: systemClock,
  })
  await told
}

test('the dashboard has a port of its own, reads the published copy once there is one, and ends with the server', async () => {
  const cwd = temporaryFolder()
  let address = ''
  await withDashboard('', cwd, async (dashboard, url) => {
    address = dashboard
    expect(new URL(dashboard).port).not.toBe(new URL(url).port)
    expect((await fetch(new URL('/api/pages', url))).status).toBe(404)
    const page = await fetch(dashboard)
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("script-src 'self';"),
    ])
    const none = await fetch(new URL('/api/pages/data-health', dashboard))
    expect([none.status, await none.text()]).toEqual([503, expect.stringContaining('no published copy yet')])
    await marts(join(cwd, 'acme.published.duckdb'))
    const today = (await (await fetch(new URL('/api/pages/data-health', dashboard))).json()) as {
      asOf: string
    }
    expect(today.asOf).toContain('2026-11-02')
  })
  await expect(fetch(address)).rejects.toThrow()
})

test('for other machines it takes a token, and a host name that is allowed', async () => {
  const cwd = temporaryFolder()
  await withDashboard('--dashboard-host 0.0.0.0 --figures-host figures.example.com', cwd, async dashboard => {
    const { hash, port } = new URL(dashboard)
    const authorization = `Bearer ${hash.replace('#token=', '')}`
    const status = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`http://127.0.0.1:${port}/api/pages`, { headers }, answer =>
          resolve(answer.resume().statusCode),
        )
          .on('error', reject)
          .end()
      })
    expect(authorization.length).toBeGreaterThan(30)
    expect(await status({})).toBe(401)
    expect(await status({ authorization })).toBe(200)
    expect(await status({ authorization, host: 'figures.example.com' })).toBe(200)
    expect(await status({ authorization, host: 'evil.example.com' })).toBe(421)
  })
})
