/** A reserve of the disk stays free: a command that would write into it does not begin, and says so in one line. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openLanding } from '../../src/landing/landing.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

let place: Place

/** More than any disk has. */
const all = { MUSTER_RESERVE_MEGABYTES: '1000000000' }

beforeAll(async () => {
  place = await openPlace()
  expect((await place.command('sync sites --quiet')).code).toBe(0)
  writeFileSync(join(place.cwd, 'ids.csv'), 'requisitions,6876eb804c751398b104f886\n')
})

test.each([
  'sync',
  'sweep --counts',
  'backfill timesheets --from 2026-10-01 --to 2026-10-02',
  'build',
  'replay',
  'publish',
  'export --parquet out',
  'serve --port 0',
  'forget worker w1 --yes',
  'discover ids.csv',
  'crosscheck',
  'docs --out out',
  'copy --from duckdb:w.duckdb --to duckdb:out',
])('muster %s does not begin', async line => {
  const before = statSync(place.file)
  const requests = place.sandbox.requests.length
  const { code, out, err } = await place.command(line, { ...all, MUSTER_WEBHOOK_SECRET: 'secret' })
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(
    /^muster: the disk is almost full: [\d,]+ MB are free, and 1,000,000,\d{3} MB must stay free \(.+\): free some space [^\n]*reserveMegabytes[^\n]*\n$/,
  )
  expect([statSync(place.file).mtimeMs, place.sandbox.requests.length]).toEqual([before.mtimeMs, requests])
  expect(existsSync(join(place.cwd, 'out'))).toBe(false)
})

test('a DAG leaves it to its tasks: one that makes room still runs', async () => {
  mkdirSync(join(place.cwd, 'dags'))
  const dag =
    "name: two\ndescription: Two.\nschedule: '0 2 * * *'\ntasks: { tidy: { run: retention }, sync: { run: sync, needs: [tidy] } }\n"
  writeFileSync(join(place.cwd, 'dags/two.yaml'), dag)
  const { code, out, err } = await place.command('dag run two --json', all)
  expect([code, err]).toEqual([1, expect.stringContaining('the disk is almost full')])
  expect(JSON.parse(out).tasks).toMatchObject([
    { task: 'tidy', state: 'done' },
    { task: 'sync', state: 'failed' },
  ])
})

test('what only reads, or makes room, works all the same', async () => {
  for (const line of ['status', 'runs', 'retention'])
    expect(await place.command(line, all)).toMatchObject({ code: 0 })
  const { code, out } = await place.command('doctor', all)
  expect(code).toBe(1)
  expect(out).toMatch(/fail +disk +[\d,]+ MB free, less than reserveMegabytes/)
})

test('no page is landed into the reserve', async () => {
  const landing = openLanding(temporaryFolder(), { reserve: 2 ** 60 })
  await landing.begin('scan', { resource: 'sites', scope: {} })
  const arrived = {
    sequence: 1,
    page: 1,
    fetchedAt: '2026-11-02T02:30:00.000Z',
    runId: 'run',
    bytes: Buffer.from('{}'),
  }
  await expect(landing.land('scan', arrived)).rejects.toMatchObject({ exitCode: 1 })
  expect(await landing.pages('scan')).toEqual([])
})
