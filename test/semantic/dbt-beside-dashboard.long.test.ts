/** dbt reads the published copy of a healthy warehouse, whose freshness passes, while a dashboard shows the same copy. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { type Built, start } from '../support/built-program.ts'
import { dbtPackages, pythonTool, run } from './tool.ts'

const cwd = mkdtempSync(join(tmpdir(), 'muster-dbt-beside-'))
const project = join(cwd, 'bi')
let programs = ''

const muster = (line: string): Built => start(`${line} --config data/demo/muster.yaml`, { cwd, env: {} })

async function good(built: Built): Promise<string> {
  const { code, out, err } = await built.ended
  expect([code, err]).toEqual([0, expect.any(String)])
  return out
}

const dbt = (...args: string[]) =>
  run(join(programs, 'dbt'), [...args, '--no-use-colors'], {
    cwd: project,
    env: { DBT_SEND_ANONYMOUS_USAGE_STATS: 'false', DBT_PROFILES_DIR: '.' },
  })

beforeAll(async () => {
  programs = await pythonTool('dbt', dbtPackages)
  await good(start('demo --scale 0.03 --changes 40 --quiet', { cwd, env: {} }))
  await good(muster('publish'))
  await good(muster('docs --metricflow bi'))
}, 1_800_000)

afterAll(() => rmSync(cwd, { recursive: true, force: true }))

async function statusOf(dashboard: Built, page: string): Promise<number> {
  const [url = ''] = /http:\S+/.exec(dashboard.out()) ?? []
  const answer = await fetch(new URL(`/api/pages/${page}`, url))
  await answer.arrayBuffer()
  return answer.status
}

test('dbt source freshness passes just after a sync, though some marts have no rows', async () => {
  const copy = await openDuckdb(join(cwd, 'data/demo/demo.published.duckdb'), { readOnly: true })
  const empty = await copy.rows(
    `select table_name from duckdb_tables() where schema_name = 'mart' and estimated_size = 0`,
  )
  await copy.close()
  expect(empty.length).toBeGreaterThan(0)
  const fresh = await dbt('source', 'freshness')
  expect([fresh.code, fresh.output.slice(-1500)]).toEqual([0, expect.stringMatching(/1 of 1 PASS freshness/)])
  const { results } = JSON.parse(readFileSync(join(project, 'target/sources.json'), 'utf8'))
  expect(results).toMatchObject([{ unique_id: 'source.muster.muster.data_health', status: 'pass' }])
})

test('dbt makes its models and tests its sources while the dashboard reads the same copy', async () => {
  expect(readFileSync(join(project, 'profiles.yml'), 'utf8')).toMatch(
    /demo\.published\.duckdb[\s\S]*read_only: true/,
  )
  const dashboard = muster('dashboard --port 0')
  await vi.waitUntil(() => dashboard.out().includes('Ctrl-C stops it.'), { timeout: 60_000 })
  const building = dbt('build')
  const statuses = new Set<number>()
  let hasEnded = false
  void building.finally(() => {
    hasEnded = true
  })
  while (!hasEnded) for (const { id } of pages) statuses.add(await statusOf(dashboard, id))
  const built = await building
  expect([built.code, built.output.slice(-1500)]).toEqual([0, expect.stringMatching(/WARN=0 ERROR=0/)])
  expect([...statuses]).toEqual([200])
  dashboard.signal('SIGTERM')
  expect((await dashboard.ended).err).toBe('')
})
