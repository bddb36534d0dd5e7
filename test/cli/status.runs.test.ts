/** What the reading commands say of a warehouse: status, runs, plan and doctor, before and after a sync. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { catalogue, collections } from '../../src/contract/catalogue.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'
import { holdFile } from './locked-file.ts'

let place: Place
let planned: { totals: { requests: { low: number; high: number } } }
let spent: number

const json = async (line: string) => JSON.parse((await place.command(`${line} --json`)).out)
const named = <Row extends { resource: string }>(rows: readonly Row[], name: string): Row =>
  rows.find(({ resource }) => resource === name) as Row

beforeAll(async () => {
  place = await openPlace()
})

describe('before the first sync', () => {
  test('doctor creates nothing, and counts its requests', async () => {
    const { code, out } = await place.command('doctor --json')
    const { findings, requests, ok } = JSON.parse(out)
    expect([code, ok, requests]).toEqual([0, true, place.sandbox.requests.length])
    expect(requests).toBe(collections.length)
    expect(findings.filter((one: { state: string }) => one.state !== 'ok')).toEqual([])
    expect((await place.command('doctor')).out).toContain('w.duckdb will be created')
    expect(readdirSync(place.cwd)).toEqual([])
  })

  test('plan asks once for each total, and looks for ids in a few pages', async () => {
    const before = place.sandbox.requests.length
    planned = await json('plan')
    const asked = place.sandbox.requests.slice(before)
    expect(planned).toMatchObject({ command: 'sync', spent: asked.length })
    expect(new Set(asked.map(({ path, query }) => JSON.stringify([path, query]))).size).toBe(asked.length)
    const isTotal = ({ path, query }: (typeof asked)[number]): boolean =>
      path === '/me' || query.limit === '1'
    expect(asked.filter(one => !isTotal(one)).map(({ path }) => path.replace(/[0-9a-f]{24}/, 'ID'))).toEqual([
      '/companies/ID/competency-matrix',
      '/timesheets',
    ])
    expect(readdirSync(place.cwd)).toEqual([])
  })

  test('plan --offline has nothing to go by', async () => {
    expect(await place.command('plan --offline')).toMatchObject({
      code: 1,
      err: 'muster: nothing is known about this key yet: leave out --offline: the plan then costs a few requests\n',
    })
  })

  test('status and runs say what to do', async () => {
    for (const line of ['status', 'runs']) {
      const { code, err } = await place.command(line)
      expect([code, err]).toEqual([
        1,
        `muster: there is no warehouse file (${place.file}): run muster sync first\n`,
      ])
    }
    expect(existsSync(place.file)).toBe(false)
  })

  test('and so do they of a file in which nothing was made before the process was killed', async () => {
    const instance = await DuckDBInstance.create(place.file)
    instance.closeSync()
    for (const line of ['status', 'runs', 'metric timeToFill']) {
      const { code, err } = await place.command(line)
      expect([code, err]).toEqual([
        1,
        `muster: nothing was synced into this file yet (${place.file}): run muster sync first\n`,
      ])
    }
    rmSync(place.file)
  })
})

describe('after a sync', () => {
  beforeAll(async () => {
    const before = place.sandbox.requests.length
    expect(await place.command('sync --quiet')).toMatchObject({ code: 0, err: '' })
    spent = place.sandbox.requests.length - before
  })

  test('it cost what was planned', () => {
    const { low, high } = planned.totals.requests
    expect(spent).toBeGreaterThanOrEqual(low)
    expect(spent).toBeLessThanOrEqual(high)
  })

  test('status shows the proof of every resource', async () => {
    const { resources, summary, isPublished, budget, incomplete } = await json('status')
    expect(incomplete).toEqual([])
    expect([isPublished, summary]).toEqual([
      false,
      expect.stringMatching(/^13 of 13 resources proved complete/),
    ])
    const total = place.sandbox.world.all('timesheets').length
    expect(named(resources, 'timesheets')).toMatchObject({
      state: 'done',
      rows: total,
      proof: { accepted: 1, scanning: 0, refused: 0, distinctIds: total, expectedIds: total, attempts: 1 },
      quarantined: 0,
      access: 'readable',
    })
    expect(budget).toMatchObject({ perMinute: 100_000, perDay: 50_000, remainingToday: expect.any(Number) })
    for (const { proof } of resources) expect(proof.distinctIds).toBeGreaterThanOrEqual(proof.expectedIds)
  })

  test('status prints one sentence first, and each window when asked', async () => {
    const { out } = await place.command('status --windows')
    expect(out).toMatch(/^13 of 13 resources proved complete.*; last sync 2 minutes ago\n/)
    expect(out).toMatch(/^timesheets +done /m)
    expect(out).toMatch(/^invoices +backfill +accepted +\d+ +\d+ /m)
    expect(out).toMatch(
      /^budget: 100,000 requests a minute, 50,000 a day; [\d,]+ were left when the last run began, /m,
    )
  })

  test('runs lists runs, and shows what one did', async () => {
    const [run, ...others] = await json('runs --limit 1')
    expect([run.command, run.state, others]).toEqual(['sync', 'done', []])
    const { resources } = await json(`runs ${run.run_id}`)
    expect(resources).toHaveLength(catalogue.length)
    expect((await place.command(`runs ${run.run_id.slice(0, 18)}`)).out).toMatch(/^\S+: sync, done\nbegan /)
    expect(await place.command('runs nothing')).toMatchObject({
      code: 2,
      err: 'muster: no run, or more than one, begins with nothing: muster runs lists them\n',
    })
  })

  test('plan counts on changes only, and --offline spends nothing', async () => {
    const before = place.sandbox.requests.length
    const plan = await json('plan --offline timesheets')
    expect(place.sandbox.requests.length).toBe(before)
    expect(plan.resources).toMatchObject([{ resource: 'timesheets', strategy: 'what changed', low: 1 }])
    expect(plan.totals).toMatchObject({ minutes: { low: 1 }, days: { low: 1 } })
    expect((await json('plan --offline trades assignments')).resources).toMatchObject([
      { resource: 'trades', strategy: 'by id', low: 0 },
      { resource: 'assignments', strategy: 'by id', low: 0 },
    ])
    const asked = await json('plan')
    expect([asked.spent, place.sandbox.requests.length - before]).toEqual([1, 1])
  })

  test('plan --from --to asks how many records were created then', async () => {
    const { out } = await place.command('plan --from 2026-09-01 --to 2026-09-30 timesheets')
    expect(out).toMatch(/^timesheets +created days +\d+ +1–3 /m)
    expect(out).toMatch(/^backfill: 1–3 requests, 1 min of sending$/m)
    expect((await place.command('plan backfill')).err).toBe(
      'muster: a backfill needs --from and --to: give both as YYYY-MM-DD\n',
    )
  })

  test('the published copy answers too; what it does not hold is unknown', async () => {
    const { rename } = await import('node:fs/promises')
    await place.command('publish')
    await rename(place.file, `${place.file}.away`)
    const { out, err } = await place.command('status')
    expect(err).toContain('reading the published copy')
    expect(out).toMatch(/^timesheets +unknown .* unknown +0$/m)
    expect((await place.command('runs')).out).toMatch(/publish +done/)
    await rename(`${place.file}.away`, place.file)
  })
})

describe('doctor', () => {
  test('an agency key: what it may not read is listed with the reason, and not asked for', async () => {
    const agency = await openPlace({ kind: 'agency' })
    const { code, out } = await agency.command('doctor --json')
    const { findings, requests } = JSON.parse(out)
    const warned = findings.filter((one: { state: string }) => one.state === 'warn')
    expect([code, requests]).toEqual([0, agency.sandbox.requests.length])
    expect(warned.map((one: { check: string }) => one.check)).toContain('read projects')
    expect(new Set(warned.map((one: { found: string }) => one.found))).toEqual(
      new Set(['agency keys cannot read it', 'write:workers, write:invoices']),
    )
  })

  test.each([
    ['a refused key', { MUSTER_API_KEY: 'sandbox-wrong-key' }, 'the service refuses the API key'],
    ['no key', { MUSTER_API_KEY: '' }, 'apiKey is missing'],
    ['an address without TLS', { MUSTER_BASE_URL: 'http://api.example.com/v1' }, 'https'],
  ])('%s is exit code 78', async (_, env, words) => {
    const { code, out } = await place.command('doctor', env)
    expect([code, out]).toEqual([78, expect.stringContaining(words)])
    expect(out).toMatch(/^fail /m)
  })

  test('a warehouse that another process holds is for later', async () => {
    const cwd = temporaryFolder()
    const holder = await holdFile(join(cwd, 'held.duckdb'))
    const env = { MUSTER_WAREHOUSE: `duckdb:${join(cwd, 'held.duckdb')}` }
    const { code, out } = await place.command('doctor --json', env)
    expect([code, out]).toEqual([75, expect.stringContaining(`process ${holder}`)])
  })

  test('a key that can write, or soon ends, and scopes that are missing are warnings', async () => {
    const keys = [
      {
        key: 'sandbox-company-key',
        kind: 'company' as const,
        scopes: ['read:invoices', 'write:workers'],
        expiresAt: '2026-11-05T00:00:00.000Z',
        ipAllowlist: ['127.0.0.1'],
      },
    ]
    const clock = { now: () => Date.parse('2026-11-02T00:00:00Z'), sleep: async () => undefined }
    const { code, out } = await (await openPlace({ keys, clock })).command('doctor')
    expect(code).toBe(0)
    // By the clock of the service, which is 2.5 hours behind.
    expect(out).toMatch(/^warn +expiry .*in 3 days$/m)
    expect(out).toMatch(/^expiry: ask for a new key now$/m)
    expect(out).toMatch(/^read companies, read projects, .*: a sync skips it/m)
    expect(out).toMatch(/^warn +scopes +write:workers$/m)
    expect(out).toMatch(/^warn +read users +the key may not read this/m)
    expect(out).toContain('the key works from 1 address or range')
  })
})
