/** Superset imports the bundle by the documented commands, twice, and its charts show what muster sql shows; on both engines. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import type { WarehousePlace } from '../../src/semantic/bundle.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { type Chart, chartSql, chartsOf, groupsOf } from '../../src/semantic/charts.ts'
import type { Entity } from '../../src/semantic/entity.ts'
import { supersetBundle } from '../../src/semantic/superset.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'
import { type BiLogin, biLogin } from './bi-login.ts'
import { placeOfFile } from './places.ts'
import { pythonTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const charts = chartsOf(entities)
const folder = mkdtempSync(join(tmpdir(), 'muster-superset-'))
const rowsOf = fileURLToPath(new URL('superset_rows.py', import.meta.url))
let programs = ''
let login: BiLogin

beforeAll(async () => {
  programs = await pythonTool('superset', [
    'apache-superset==6.1.0',
    'flask-caching==2.3.1',
    'psycopg2-binary',
    'rich',
    'duckdb-engine',
    'cachetools',
  ])
  await makeEmpty(join(folder, 'empty'))
}, 3_000_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await login?.remove()
})

/** Answers of the marts, by the title of the chart, as muster sql asks for them. */
async function answersOf({ engine }: Warehouse): Promise<Map<string, object[]>> {
  const answers = new Map<string, object[]>()
  for (const chart of charts) answers.set(chart.title, await engine.rows(chartSql(chart, 'mart')))
  return answers
}

interface Told {
  readonly charts: Readonly<Record<string, { rows: Record<string, unknown>[] | null; error: string | null }>>
  readonly dashboards: Readonly<Record<string, number>>
  readonly datasets: Readonly<
    Record<string, { description: string | null; metrics: string[]; columns: number }>
  >
  readonly uri: string
}

const configFile = 'superset_config.py'

/** A folder in which the programs find their settings and their database. */
function supersetIn(cwd: string) {
  const env = { SUPERSET_CONFIG_PATH: join(cwd, configFile), FLASK_APP: 'superset' }
  writeFileSync(
    env.SUPERSET_CONFIG_PATH,
    `SECRET_KEY = 'for this test alone, which keeps nothing'
SQLALCHEMY_DATABASE_URI = 'sqlite:///${cwd}/superset.db'
simple = {'CACHE_TYPE': 'NullCache'}
CACHE_CONFIG = DATA_CACHE_CONFIG = simple
FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = {'CACHE_TYPE': 'SimpleCache'}
`,
  )
  return {
    env,
    async superset(line: string): Promise<void> {
      const { code, output } = await run(join(programs, 'superset'), line.split(' '), { cwd, env })
      if (code !== 0) throw new Error(`superset ${line}: ${output.slice(-3000)}`)
    },
  }
}

/** Empty, with a user admin: made once, as that takes a minute. */
async function makeEmpty(cwd: string): Promise<void> {
  mkdirSync(cwd)
  const { superset } = supersetIn(cwd)
  await superset('db upgrade')
  const admin = '--username admin --firstname a --lastname b --email a@example.com --password admin'
  await superset(`fab create-admin ${admin}`)
  await superset('init')
}

function openSuperset(name: string) {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  copyFileSync(join(folder, 'empty/superset.db'), join(cwd, 'superset.db'))
  const { env, superset } = supersetIn(cwd)
  return {
    async load(place: WarehousePlace, some: readonly Entity[]) {
      writeFiles(join(cwd, 'bi/superset'), supersetBundle({ entities: some, place, version: '0' }))
      await superset('import-datasources -p bi/superset/muster-datasets.zip -u admin')
      await superset('import-dashboards -p bi/superset/muster-superset.zip -u admin')
    },
    async tell(...args: string[]): Promise<Told> {
      const { output } = await run(join(programs, 'python'), [rowsOf, ...args], { cwd, env })
      const line = output.split('\n').find(one => one.startsWith('TOLD '))
      if (line === undefined) throw new Error(output.slice(-3000))
      return JSON.parse(line.slice('TOLD '.length)) as Told
    },
  }
}

/** Numbers to nine digits, dates as days: JSON of Python has milliseconds where PostgreSQL has a day. */
function cell(value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
  const text = String(value)
  if (/^\d{13}(\.0)?$/.test(text)) return new Date(Number(text)).toISOString().slice(0, 10)
  return Number.isFinite(Number(text)) && text !== ''
    ? Number(Number(text).toPrecision(9))
    : text.slice(0, 10)
}

/** Superset shows metrics under their titles. */
const lines = (rows: readonly object[], names: readonly string[]): string[] =>
  rows.map(row => JSON.stringify(names.map(name => cell((row as Record<string, unknown>)[name])))).sort()

/** Hours since a reading grow between two questions. */
const compared = (chart: Chart, shownAs: 'name' | 'title'): string[] => [
  ...groupsOf(chart),
  ...chart.metrics.filter(({ name }) => name !== 'hours_since_read').map(metric => metric[shownAs]),
]

function expectSame(told: Told, ours: ReadonlyMap<string, object[]>): void {
  expect(told.dashboards).toEqual({ Workforce: charts.length })
  for (const chart of charts) {
    const { rows, error } = told.charts[chart.title] ?? { rows: null, error: 'it is not there' }
    expect([chart.title, error]).toEqual([chart.title, null])
    const wanted = ours.get(chart.title) ?? []
    expect([chart.title, lines(rows ?? [], compared(chart, 'title'))]).toEqual([
      chart.title,
      lines(wanted, compared(chart, 'name')),
    ])
    expect(wanted.length).toBeGreaterThan(0)
  }
}

function expectDatasets(told: Told, some: readonly Entity[]): void {
  const wanted = some.map(({ name, description, question, metrics, dimensions }) => [
    name,
    {
      description: `${description} ${question}`,
      metrics: metrics.map(metric => metric.name).sort(),
      columns: dimensions.length,
    },
  ])
  expect(told.datasets).toEqual(Object.fromEntries(wanted))
}

/** The catalogue as a later version may have it: other words, a metric less. */
const laterEntities = entities.map(entity => ({
  ...entity,
  question: `${entity.question} Say it.`,
  metrics: entity.metrics.filter(({ name }) => name !== 'pay_value'),
}))

test('on PostgreSQL, read by the BI login: a later import replaces the earlier one and keeps the password', async () => {
  const server = await filled.postgres()
  await buildAll(server.engine)
  const ours = await answersOf(server)
  login = await biLogin(server)
  const superset = openSuperset('server')
  const place = { ...login.place, uri: login.place.uri.replace(/:[^:@]*@/, '@') }
  await superset.load(place, laterEntities)
  expectDatasets(await superset.tell(login.place.password), laterEntities)
  await superset.load(place, entities)
  const told = await superset.tell()
  expect(told.uri).not.toContain(login.place.password)
  expectDatasets(told, entities)
  expectSame(told, ours)
})

test('on DuckDB, read as a file', async () => {
  const file = await filled.duckdb()
  await buildAll(file.engine)
  const ours = await answersOf(file)
  await file.close()
  const superset = openSuperset('file')
  const place = placeOfFile(file)
  await superset.load({ ...place, uri: `${place.uri}?access_mode=READ_ONLY` }, entities)
  const told = await superset.tell()
  expectDatasets(told, entities)
  expectSame(told, ours)
})
