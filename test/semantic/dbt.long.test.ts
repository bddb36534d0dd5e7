/** dbt reads the bundle, its tests pass on the marts of both engines, and its models and exposures are whole. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import type { Place } from '../../src/semantic/bundle.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { dbtBundle } from '../../src/semantic/dbt.ts'
import { metricflowBundle } from '../../src/semantic/metricflow.ts'
import { buildAll } from '../marts/build-all.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { placeOfFile, placeOfServer } from './places.ts'
import { pythonTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const folder = mkdtempSync(join(tmpdir(), 'muster-dbt-'))
const places: Place[] = []
let env: Record<string, string> = {}
let dbt = ''

beforeAll(async () => {
  dbt = join(await pythonTool('dbt', ['dbt-core==1.10.*', 'dbt-duckdb==1.9.*', 'dbt-postgres==1.9.*']), 'dbt')
  const file = await filled.duckdb()
  await buildAll(file.engine)
  // dbt opens the file itself.
  await file.close()
  const server = await filled.postgres()
  await buildAll(server.engine)
  const place = placeOfServer(server)
  env = {
    MUSTER_BI_USER: place.user,
    MUSTER_BI_PASSWORD: place.password,
    DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
  }
  places.push(placeOfFile(file), place)
}, 1_800_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const call = (cwd: string, ...args: string[]) =>
  run(
    dbt,
    [
      ...args,
      '--profiles-dir',
      '.',
      '--no-use-colors',
      '--warn-error-options',
      '{"error": ["Deprecations"]}',
    ],
    { cwd, env },
  )

test.each([0, 1])('the sources parse, are described, and pass their tests (%i)', async index => {
  const place = places[index] as Place
  const cwd = join(folder, `sources-${place.kind}`)
  writeFiles(cwd, dbtBundle({ entities, place, version: '0' }))
  const tested = await call(cwd, 'test')
  expect([place.kind, tested.code, tested.output.slice(-1500)]).toEqual([
    place.kind,
    0,
    expect.stringMatching(/PASS=\d{3} WARN=0 ERROR=0/),
  ])
  const manifest = JSON.parse(readFileSync(join(cwd, 'target/manifest.json'), 'utf8'))
  expect(Object.keys(manifest.sources)).toHaveLength(entities.length)
  expect(Object.keys(manifest.exposures)).toHaveLength(entities.filter(({ kind }) => kind === 'fact').length)
  for (const source of Object.values(manifest.sources) as { description: string; columns: object }[]) {
    expect(source.description).not.toBe('')
    for (const column of Object.values(source.columns) as { description: string }[])
      expect(column.description).not.toBe('')
  }
  const fresh = await call(cwd, 'source', 'freshness')
  // The rows of this warehouse were made at a time that is set: whether that is long ago, dbt tells by itself.
  expect(fresh.output).toMatch(/\d+ of \d+ (PASS|WARN|ERROR STALE|ERROR) /)
  expect(fresh.output).not.toMatch(/Runtime Error|Database Error/)
})

test.each([0, 1])('the semantic models are valid, and the models above them run (%i)', async index => {
  const place = places[index] as Place
  const cwd = join(folder, `metrics-${place.kind}`)
  writeFiles(cwd, metricflowBundle({ entities, place, version: '0' }))
  const ran = await call(cwd, 'run')
  expect([place.kind, ran.code, ran.output.slice(-1500)]).toEqual([
    place.kind,
    0,
    expect.stringMatching(/PASS=\d+ WARN=0 ERROR=0/),
  ])
  const manifest = JSON.parse(readFileSync(join(cwd, 'target/semantic_manifest.json'), 'utf8'))
  const metrics = manifest.metrics.map(({ name }: { name: string }) => name)
  expect(metrics).toEqual(expect.arrayContaining(['labour_spend_weekly_net_hours', 'headcount_weekly_fte']))
})

test('a doubled key and a reference to nobody fail the tests of dbt', async () => {
  const place = places[1] as Place
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: place.uri.replace('+psycopg2', ''),
  })
  await client.connect()
  await client.query("update mart.labour_spend_weekly set agency_id = 'nobody' where agency_id <> '-1'")
  await client.end()
  const cwd = join(folder, `sources-${place.kind}`)
  const tested = await call(cwd, 'test', '--select', 'source:muster.labour_spend_weekly')
  expect(tested.code).toBe(1)
  expect(tested.output).toMatch(/relationships_muster_labour_spend_weekly_agency_id/)
})
