/** `muster lake publish` as processes: killed in its commits, two at once, and after a person was forgotten. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { type Machine, machine } from '../support/machine.ts'

let here: Machine

beforeAll(async () => {
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_WAREHOUSE: 'duckdb:w.duckdb' }
  here = machine({ ...env, MUSTER_LAKE: 'lake', MUSTER_LAKE_PII: 'true' })
  expect(await here.run('sync --quiet timesheets sites users')).toMatchObject({ code: 0 })
}, 300_000)

const commits = (): number => {
  const lake = join(here.home, 'lake')
  if (!existsSync(lake)) return 0
  return readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter(name =>
    /_delta_log.*\d{20}\.json$/.test(name),
  ).length
}

test('a publication that was killed after any commit is completed by the next one', async () => {
  for (const after of [0, 2, 40]) {
    const { child, ended } = here.start('lake publish')
    while (commits() < after && child.exitCode === null) await wait(10)
    if (after === 0) await wait(1_000)
    child.kill('SIGKILL')
    expect((await ended).code).toBeNull()
  }
  expect(await here.run('lake publish')).toMatchObject({ code: 0, err: '' })
  expect(await here.run('lake check')).toMatchObject({ code: 0 })
  const made = commits()
  expect((await here.run('lake publish')).out).toContain('nothing has changed')
  expect(commits()).toBe(made)
}, 300_000)

test('of two publications at once each ends well or in one line, and the lake is complete', async () => {
  const env = { MUSTER_LAKE: 'lake-of-two' }
  const both = await Promise.all([1, 2].map(() => here.run('lake publish', env)))
  for (const { code, err } of both)
    if (code !== 0)
      expect([code, err]).toEqual([
        75,
        expect.stringMatching(/^muster: another process publishes default.*\n$/),
      ])
  expect(await here.run('lake publish', env)).toMatchObject({ code: 0 })
  expect(await here.run('lake check', env)).toMatchObject({ code: 0 })
}, 300_000)

test('a person who is forgotten is in no file of either lake, and the audit searches the lake', async () => {
  expect((await here.run('lake publish')).code).toBe(0)
  const files = (): string[] =>
    here.files().filter(file => file.startsWith('lake-pii/pii/worker/') && file.endsWith('.parquet'))
  const before = files()
  expect(before.length).toBeGreaterThan(0)
  const { out } = await here.run([
    'sql',
    '--json',
    'select worker_id as id from pii.worker where name is not null limit 1',
  ])
  const id = /[0-9a-f]{24}/.exec(out)?.[0] ?? ''
  const forgotten = await here.run(`forget worker ${id} --yes`)
  expect(forgotten.code).toBe(0)
  expect(forgotten.out).toContain('readers of the lake')
  expect(files().filter(file => before.includes(file))).toEqual([])
  const audit = await here.run('audit-pii --json')
  expect(audit).toMatchObject({ code: 0 })
  expect(JSON.parse(audit.out).searched).toContain(join(here.home, 'lake'))
  expect((await here.run('lake check')).code).toBe(0)
  const log = join(here.home, 'lake-pii/pii/worker/_delta_log')
  for (const commit of readdirSync(log))
    expect(readFileSync(join(log, commit), 'utf8')).not.toMatch(/minValues":\{"(?!worker_id)/)
}, 300_000)
